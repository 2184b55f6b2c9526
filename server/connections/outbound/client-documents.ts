import { LRUCache } from 'lru-cache'
import type { Clock } from '../../clock.ts'
import type { Config } from '../../config.ts'
import { type Failure, invalidField } from '../../failure.ts'
import { memorySink } from './receive.ts'
import type { Outbound } from './send.ts'

type Options = { outbound: Outbound; config: Pick<Config, 'limits'>; now: Clock }

/** The page that asks who a client is and the answer that lets it in come within this; later it may have changed. */
const keptMs = 300_000
const maxKept = 500

/**
 * Metadata that clients publish at an address, which is their name here. Somebody else chose the address: it
 * is read through the guard, without redirects, retries or credentials, and only so much of it for so long.
 */
export function createClientDocuments({ outbound, config, now }: Options) {
  const { clientDocumentBytes: maxBytes, clientDocumentTimeoutMs: timeoutMs } = config.limits
  const kept = new LRUCache<string, { document: unknown; readAtMs: number }>({ max: maxKept })

  const fetchDocument = async (url: string): Promise<unknown> => {
    const sink = memorySink()
    const headers = { accept: 'application/json', 'user-agent': 'Sluice' }
    const sent = await outbound.send(
      { url, method: 'GET', headers, secretHeaders: [], secretQuery: [] },
      { maxWireBytes: maxBytes, maxDecodedBytes: maxBytes, beyond: 'fail', timeoutMs, redirects: 0, retries: 0, sink },
    )
    if (!sent.ok) throw unreadable(url, sent.error.message)
    if (sent.status !== 200) throw unreadable(url, `it answers with the status ${sent.status}`)
    try {
      return JSON.parse(sink.bytes().toString('utf8'))
    } catch {
      throw unreadable(url, 'it is no JSON')
    }
  }

  return {
    async read(url: string): Promise<unknown> {
      const known = kept.get(url)
      if (known !== undefined && now() - known.readAtMs < keptMs) return known.document
      const document = await fetchDocument(url)
      kept.set(url, { document, readAtMs: now() })
      return document
    },
  }
}

function unreadable(url: string, why: string): Failure {
  const message = `The client is known by ${url}, and what it says of itself cannot be read there: ${why}`
  return invalidField('client_id', 'leads to no client metadata document', { message: message.replace(/\.?$/, '.') })
}
