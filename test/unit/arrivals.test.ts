import { createServer } from 'node:http'
import { connect, Socket, type AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
import { watchArrivals } from '../../server/http/request/arrivals.ts'

test('who waits for the others has everybody in who was at the door', async () => {
  const server = createServer()
  // On a clock that stands: a machine that is busy may take longer than anybody waits.
  const othersIn = watchArrivals(server, () => 0)
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

test('where somebody comes in every turn, and turns are long, it waits no longer than its limit', async () => {
  const server = createServer()
  let nowMs = 0
  const othersIn = watchArrivals(server, () => nowMs)
  let turns = 0
  const arrive = (): void => {
    turns += 1
    nowMs += 30
    server.emit('connection', new Socket())
    if (turns < 300) setImmediate(arrive)
  }
  setImmediate(arrive)
  await othersIn()
  expect(nowMs).toBeGreaterThanOrEqual(90)
  expect(nowMs).toBeLessThanOrEqual(180)
  turns = 300
})
