import { request } from 'node:http'

export type Downloaded = { firstMs: number; totalMs: number; sizeBytes: number; lines: number }
type Call = { port: number; secret: string; path: string; accept: string; body?: string; countsLines?: boolean }

/** Calls a query and reads the answer to its end, keeping nothing of it. */
export function download({ port, secret, path, accept, body = '{}', countsLines = false }: Call): Promise<Downloaded> {
  const headers = { authorization: `Bearer ${secret}`, accept, 'content-type': 'application/json' }
  return new Promise((resolve, reject) => {
    const startedMs = performance.now()
    const sent = request({ host: '127.0.0.1', port, path, method: 'POST', headers }, (answer) => {
      let firstMs = 0
      let sizeBytes = 0
      let lines = 0
      answer.on('data', (part: Buffer) => {
        if (sizeBytes === 0) firstMs = performance.now() - startedMs
        sizeBytes += part.length
        if (countsLines) lines += linesIn(part)
      })
      answer.on('error', reject)
      answer.on('end', () => {
        if (answer.statusCode === 200) resolve({ firstMs, totalMs: performance.now() - startedMs, sizeBytes, lines })
        else reject(new Error(`${path}: ${answer.statusCode}`))
      })
    })
    sent.on('error', reject)
    sent.end(body)
  })
}

function linesIn(part: Buffer): number {
  let lines = 0
  for (let at = part.indexOf(10); at !== -1; at = part.indexOf(10, at + 1)) lines += 1
  return lines
}
