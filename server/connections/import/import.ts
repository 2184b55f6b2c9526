import { maxRedirects } from '../outbound/redirect.ts'
import { Worker } from 'node:worker_threads'
import type { Caller } from '../../access/index.ts'
import type { Config } from '../../config.ts'
import { programBeside } from '../../process/index.ts'
import { Failure } from '../../failure.ts'
import { buildRequest } from '../request/build-request.ts'
import { toFailure } from '../outbound/error.ts'
import { memorySink } from '../outbound/receive.ts'
import type { Outbound } from '../outbound/send.ts'
import { refusal } from './imported.ts'
import type { DocumentImport, DocumentSource, ImportAsked } from './read-import.ts'
import type { Read } from './worker.ts'

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
  return readApart(asked, app.config.limits.testTimeoutMs)
}

const readersAtOnce = 2
const readerMegabytes = 512
let reading = 0

/** In a thread of its own: a document of megabytes, or one made to take long, must not hold up other callers. */
async function readApart(asked: ImportAsked, timeoutMs: number): Promise<DocumentImport> {
  if (reading >= readersAtOnce) {
    throw new Failure('overloaded', {
      message: 'Other documents are being read. Try again in a moment.',
      retryAfterSeconds: 2,
    })
  }
  reading += 1
  const worker = new Worker(programBeside(import.meta.url, 'worker'), {
    workerData: asked,
    resourceLimits: { maxOldGenerationSizeMb: readerMegabytes },
  })
  try {
    const read = await new Promise<Read>((resolve, reject) => {
      const late = setTimeout(
        () => resolve({ refused: 'The document takes too long to read', field: 'text' }),
        timeoutMs,
      )
      worker.once('message', resolve)
      worker.once('error', () => resolve({ refused: 'The document is too large, or cannot be read', field: 'text' }))
      worker.once('exit', (code) => reject(new Error(`The reader of documents ended with ${code} and no answer`)))
      worker.once('exit', () => clearTimeout(late))
    })
    if ('refused' in read) throw refusal(read.refused, read.field)
    return read.found
  } finally {
    reading -= 1
    await worker.terminate()
  }
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
