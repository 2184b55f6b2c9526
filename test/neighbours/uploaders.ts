import { request } from 'node:http'

/**
 * Sends large files over and over, so many at once. A process of its own: what its callers do takes none of the time of
 * who measures. Ends with its standard input.
 */
const [, , url = '', authorization = '', size = '1', ...sources] = process.argv

const lines = Array.from({ length: 20_000 }, (_, id) => `${id},${'x'.repeat(40)}`).join('\n')
const piece = Buffer.from(`${lines}\n`)
const pieces = 50

function send(path: string): Promise<void> {
  return new Promise((resolve) => {
    const headers = { authorization, 'content-type': 'text/csv' }
    const sent = request(url + path, { method: 'POST', headers }, (answer) => answer.resume().on('close', resolve))
    sent.on('error', () => resolve())
    let left = pieces
    const write = (): void => {
      while (left > 0) {
        left -= 1
        if (!sent.write(piece)) return void sent.once('drain', write)
      }
      sent.end()
    }
    sent.write('id,text\n')
    write()
  })
}

async function sendAgain(path: string): Promise<never> {
  for (;;) await send(path)
}

process.stdin.resume().on('end', () => process.exit(0))
for (let at = 0; at < Number(size); at += 1) void sendAgain(sources[at % sources.length] ?? '')
