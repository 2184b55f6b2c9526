import type { TestConnectionAnswer } from '../../../api/connections.ts'
import { statusWords } from '../../status-words.ts'

type Problem = NonNullable<TestConnectionAnswer['problem']>

const ofStatus: Partial<Record<number, (who: string) => Problem>> = {
  401: (who) => ({ code: 'unauthorized', message: `${who} does not accept these credentials. Check Authentication.` }),
  403: (who) => ({ code: 'forbidden', message: `${who} knows these credentials, but they may not read this.` }),
  404: (who) => ({ code: 'not_found', message: `${who} has nothing at this address.` }),
  429: (who) => ({ code: 'rate_limited', message: `${who} asks for fewer calls. Wait, then test again.` }),
}

type Answer = { url: string; status: number; contentType: string; head: string; errors: string | null }

/** Why an answer is no data, in one sentence; undefined where it may be. */
export function problemOf({ url, status, contentType, head, errors }: Answer): Problem | undefined {
  const { host } = new URL(url)
  if (status >= 500) {
    const message = `${host} failed with ${status} ${statusWords(status)}. Test again later.`
    return { code: 'server_error', message }
  }
  const known = ofStatus[status]?.(host)
  if (known !== undefined) return known
  if (status < 200 || status > 299) return undefined
  if (errors !== null) return { code: 'upstream_errors', message: `${host} answered with an error: ${errors}` }
  const isHtml =
    /^(text\/html|application\/xhtml\+xml)\b/i.test(contentType) || /^\s*<(!doctype\s+html|html)\b/i.test(head)
  if (!isHtml) return undefined
  return { code: 'not_data', message: `${host} answered with a web page, not with data. Check the address.` }
}
