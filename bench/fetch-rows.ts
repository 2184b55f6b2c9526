import { fork } from 'node:child_process'
import { once } from 'node:events'
import { createReadStream } from 'node:fs'
import { mkdtemp, open, rm, stat } from 'node:fs/promises'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { fetchRows } from '../server/connections/fetch/fetch-rows.ts'
import { createTokenSource, openOutbound } from '../server/connections/index.ts'

/**
 * What a large answer costs the process that fetches it: growth of memory, delay of its event loop, and time beside the
 * bare download. The API runs in a process of its own. Usage: node bench/fetch-rows.ts [megabytes]
 */
const megabytes = Number(process.argv[2] ?? 100)

if (process.send !== undefined) serve(process.argv[3] ?? '')
else await measure()

function serve(path: string): void {
  const server = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' })
    createReadStream(path, { highWaterMark: 262_144 }).pipe(response)
  })
  server.listen(0, '127.0.0.1', () => process.send?.(server.address()))
}

async function writeBody(path: string): Promise<void> {
  const file = await open(path, 'w')
  await file.write('[')
  const row = (id: number) =>
    JSON.stringify({
      id,
      name: `Customer ${id % 977}`,
      email: `p${id}@example.org`,
      amount: id / 8,
      tags: ['a', 'b'],
      note: 'Text as people write it.',
    })
  for (let written = 0, id = 0; written < megabytes * 1_000_000;) {
    const rows = Array.from({ length: 5000 }, () => row((id += 1))).join(',')
    written += (await file.write(id > 5000 ? `,${rows}` : rows)).bytesWritten
  }
  await file.write(']')
  await file.close()
}

async function measure(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-bench-'))
  const bodyPath = join(folder, 'body.json')
  await writeBody(bodyPath)
  const api = fork(import.meta.filename, [String(megabytes), bodyPath])
  const [{ port }] = (await once(api, 'message')) as [{ port: number }]
  const outbound = openOutbound({
    allow: ['127.0.0.1'],
    connectTimeoutMs: 5000,
    connectionsPerOrigin: 4,
    backoffBaseMs: 100,
    backoffMaxMs: 1000,
  })
  const limits = {
    tryTimeoutMs: 60_000,
    timeoutMs: 180_000,
    responseBytes: 268_435_456,
    redirects: 5,
    retries: 0,
    maxDepth: 64,
  }
  globalThis.gc?.()
  const before = process.memoryUsage.rss()
  let most = before
  const watch = setInterval(() => (most = Math.max(most, process.memoryUsage.rss())), 10)
  const delay = monitorEventLoopDelay({ resolution: 1 })
  delay.enable()
  const options = {
    outbound,
    tokens: createTokenSource(outbound),
    limits,
    bodyPath: join(folder, 'body'),
    rowsPath: join(folder, 'rows'),
    appendPage: () => Promise.reject(new Error('There is one page.')),
    pageValues: () => Promise.reject(new Error('There is one page.')),
  }
  const found = await fetchRows({ url: `http://127.0.0.1:${port}/`, method: 'GET' }, options)
  delay.disable()
  if (found === null) throw new Error('nothing has changed')
  clearInterval(watch)
  const size = (await stat(bodyPath)).size / 1e6
  console.log(`${size.toFixed(0)} MB in ${found.elapsedMs} ms (${(size / (found.elapsedMs / 1e3)).toFixed(0)} MB/s)`)
  console.log(`memory grew by ${((most - before) / 1_048_576).toFixed(0)} MB at most`)
  console.log(
    `event loop delay: mean ${(delay.mean / 1e6).toFixed(1)} ms, p99 ${(delay.percentile(99) / 1e6).toFixed(1)} ms, most ${(delay.max / 1e6).toFixed(1)} ms`,
  )
  await outbound.close()
  api.kill()
  await rm(folder, { recursive: true })
}
