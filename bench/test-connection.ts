import { createServer } from 'node:http'
import { type AddressInfo } from 'node:net'
import { request } from 'undici'
import { createTokenSource, openOutbound } from '../server/connections/index.ts'
import { probe } from '../server/connections/probe.ts'

/** What a test of a connection adds to the external API's own time, beside a bare client. Usage: node bench/test-connection.ts */
const body = JSON.stringify(Array.from({ length: 200 }, (_, id) => ({ id, name: `Customer ${id}` })))
const server = createServer((_request, response) => {
  response.writeHead(200, { 'content-type': 'application/json' }).end(body)
})
await new Promise<void>((resolve) => {
  server.listen(0, '127.0.0.1', resolve)
})
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
const outbound = openOutbound({
  allow: ['127.0.0.1'],
  connectTimeoutMs: 5000,
  connectionsPerOrigin: 4,
  backoffBaseMs: 100,
  backoffMaxMs: 1000,
})
const limits = { timeoutMs: 5000, previewBytes: 10_485_760, redirects: 5, retries: 0, maxDepth: 64 }
const peek = () => Promise.reject(new Error('The answer is small.'))
const options = { outbound, tokens: createTokenSource(outbound), limits, peek }

async function median(run: () => Promise<unknown>): Promise<number> {
  const times: number[] = []
  for (let round = 0; round < 300; round += 1) {
    const before = performance.now()
    await run()
    times.push(performance.now() - before)
  }
  return times.toSorted((a, b) => a - b)[150] ?? 0
}

const bare = () => request(url).then(({ body }) => body.json())
const tested = () => probe({ url, method: 'GET' }, options)
await Promise.all([median(bare), median(tested)])
const [bareMs, testedMs] = [await median(bare), await median(tested)]
console.log(
  `bare client ${bareMs.toFixed(2)} ms, test of a connection ${testedMs.toFixed(2)} ms: adds ${(testedMs - bareMs).toFixed(2)} ms`,
)
await outbound.close()
server.close()
server.closeAllConnections()
