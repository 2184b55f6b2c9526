import { Agent, request } from 'node:http'
import { createInterface } from 'node:readline'

/**
 * Makes calls over and over, so many at once. A process of its own: what its callers do takes none of the time of who
 * measures. The first line of its standard input says what is called; it ends with that input.
 */
export type Calls = {
  size: number
  /** Each caller makes one of them again and again. `{n}` in a body is another number each time. */
  calls: Array<{ url: string; method: string; headers: Record<string, string>; body: string }>
}

const agent = new Agent({ keepAlive: true })
let made = 0

function call({ url, method, headers, body }: Calls['calls'][number]): Promise<void> {
  made += 1
  const sent = body.replaceAll('{n}', String(made))
  return new Promise((resolve) => {
    const options = { method, headers: { ...headers, 'content-length': Buffer.byteLength(sent) }, agent }
    request(url, options, (answer) => answer.resume().on('close', resolve))
      .on('error', () => resolve())
      .end(sent)
  })
}

async function callAgain(each: Calls['calls'][number]): Promise<never> {
  for (;;) await call(each)
}

const lines = createInterface({ input: process.stdin })
lines.once('line', (line) => {
  const { size, calls } = JSON.parse(line) as Calls
  for (let at = 0; at < size; at += 1) {
    const each = calls[at % calls.length]
    if (each !== undefined) void callAgain(each)
  }
})
lines.once('close', () => process.exit(0))
