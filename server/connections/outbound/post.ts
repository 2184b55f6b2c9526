import type { Outbound } from './send.ts'

type Message = { headers: Record<string, string>; body: string; timeoutMs: number; signal: AbortSignal }

type Posted = { ok: true; status: number } | { ok: false; code: string; message: string }

const maxAnswerBytes = 65_536
const nowhere = { open: async () => ({ write: async () => {}, close: async () => {} }) }

/** Messages to addresses that members named: no redirects, no retries, and of the answer only its status. */
export function createPost(outbound: Outbound) {
  return {
    async send(url: string, { headers, body, timeoutMs, signal }: Message): Promise<Posted> {
      const request = {
        url,
        method: 'POST',
        headers: { 'content-type': 'application/json', 'user-agent': 'Sluice', ...headers },
        body: Buffer.from(body),
        secretHeaders: [],
        secretQuery: [],
      }
      const limits = { maxWireBytes: maxAnswerBytes, maxDecodedBytes: maxAnswerBytes, beyond: 'cut' as const }
      const sent = await outbound.send(request, {
        ...limits,
        timeoutMs,
        redirects: 0,
        retries: 0,
        sink: nowhere,
        signal,
      })
      if (sent.ok) return { ok: true, status: sent.status }
      const { code, message } = sent.error
      return { ok: false, code, message }
    },
    check: outbound.check,
  }
}
