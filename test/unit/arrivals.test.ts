import { createServer } from 'node:http'
import { connect, type AddressInfo, type Socket } from 'node:net'
import { expect, test } from 'vitest'
import { watchArrivals } from '../../server/http/arrivals.ts'

test('who waits for the others has everybody in who was at the door', async () => {
  const server = createServer()
  const othersIn = watchArrivals(server)
  let connections = 0
  server.on('connection', () => (connections += 1))
  await new Promise<void>((resolve) => server.listen({ host: '127.0.0.1', port: 0, backlog: 512 }, resolve))
  const { port } = server.address() as AddressInfo
  const callers: Socket[] = []
  try {
    // The kernel finishes all these handshakes by itself; the event loop takes them in one by one.
    await new Promise<void>((resolve) => {
      let connected = 0
      for (let at = 0; at < 100; at += 1) {
        const caller = connect(port, '127.0.0.1', () => (connected += 1) === 100 && resolve())
        callers.push(caller)
      }
    })
    expect(connections).toBeLessThan(100)
    await othersIn()
    expect(connections).toBe(100)
  } finally {
    for (const caller of callers) caller.destroy()
    server.close()
  }
})

test('where nobody comes it waits a moment and no longer', async () => {
  const othersIn = watchArrivals(createServer())
  let turns = 0
  const count = (): void => {
    turns += 1
    if (turns < 100) setImmediate(count)
  }
  setImmediate(count)
  await othersIn()
  expect(turns).toBeLessThan(5)
})
