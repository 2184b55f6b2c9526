import { maxRedirects } from '../outbound/redirect.ts'
import type { Caller } from '../../access/index.ts'
import type { Config } from '../../config.ts'
import { Failure } from '../../failure.ts'
import { buildRequest } from '../request/build-request.ts'
import { toFailure } from '../outbound/error.ts'
import { memorySink } from '../outbound/receive.ts'
import type { Outbound } from '../outbound/send.ts'
import { refusal } from './imported.ts'
import { importApart } from './read-apart.ts'
import type { DocumentImport, DocumentSource } from './read-import.ts'

type Parts = { outbound: Outbound; config: Pick<Config, 'limits'> }

/** Operations that an API's own document offers, and one of them as a connection. */
export async function importDocument(
  app: Parts,
  _caller: Caller,
  input: { text?: string | undefined; url?: string | undefined; operation?: string | undefined; signal?: AbortSignal },
): Promise<DocumentImport> {
  if ((input.text === undefined) === (input.url === undefined)) throw refusal('Give the text of a document, or its url')
  const source = input.url === undefined ? { text: input.text ?? '' } : await download(app, input.url, input.signal)
  const asked = { source, address: input.url ?? null, operation: input.operation ?? null }
  return importApart(asked, app.config.limits.testTimeoutMs)
}

async function download(
  { outbound, config: { limits } }: Parts,
  url: string,
  signal: AbortSignal | undefined,
): Promise<DocumentSource> {
  const headers = { accept: 'application/json, application/yaml;q=0.9, text/yaml;q=0.9, */*;q=0.5' }
  const sink = memorySink()
  const sent = await outbound.send(buildRequest({ url, method: 'GET', headers }), {
    timeoutMs: limits.testTimeoutMs,
    maxWireBytes: limits.testPreviewBytes,
    maxDecodedBytes: limits.testPreviewBytes,
    beyond: 'fail',
    redirects: maxRedirects,
    retries: limits.outboundTries - 1,
    sink,
    signal,
  })
  if (!sent.ok) throw toFailure(sent.error)
  if (sent.status < 200 || sent.status > 299) {
    const message = `${new URL(sent.url).host} answered with status ${sent.status} where the document should be.`
    throw new Failure('upstream_error', { reason: 'status', message, fields: { upstream_status: sent.status } })
  }
  return { bytes: sink.bytes(), contentType: sent.headers['content-type'] }
}
