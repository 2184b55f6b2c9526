/** Calls one URL over many connections for a while and prints answers a second, and how long they took. A process of its own: `bench/serve.ts` starts it. */
import { connect } from 'node:net'

const [port = '', path = '', secret = '', connections = '32', forMs = '2000', most = '0'] = process.argv.slice(2)

/** Requests are made beforehand: what is measured is the server, not this client. */
const requests = Array.from({ length: 2_000 }, () => {
  const body = Number(most) > 0 ? JSON.stringify({ id: Math.floor(Math.random() * Number(most)) }) : '{}'
  return Buffer.from(
    `POST ${path} HTTP/1.1\r\nhost: bench\r\nauthorization: Bearer ${secret}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
  )
})

const tookMs: number[] = []
let measuring = false
let refused = ''

function open(seed: number): void {
  const socket = connect({ port: Number(port), host: '127.0.0.1', noDelay: true })
  let next = seed
  let left = 0
  let sentMs = 0
  const send = (): void => {
    next = (next + 1) % requests.length
    sentMs = performance.now()
    socket.write(requests[next] ?? '')
  }
  socket.on('connect', send)
  socket.on('data', (data) => {
    if (left > 0) left -= data.length
    else {
      const end = data.indexOf('\r\n\r\n')
      const head = data.toString('latin1', 0, end)
      if (!head.startsWith('HTTP/1.1 200')) refused ||= data.toString()
      const length = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0)
      left = length - (data.length - end - 4)
    }
    if (left > 0) return
    if (measuring) tookMs.push(performance.now() - sentMs)
    send()
  })
}

for (let index = 0; index < Number(connections); index += 1) open(index * 61)
// The first calls open connections and compile; they are not counted.
setTimeout(() => {
  measuring = true
  const startedMs = performance.now()
  const startedCpu = process.cpuUsage()
  setTimeout(() => {
    if (refused !== '') console.error(refused)
    const { user, system } = process.cpuUsage(startedCpu)
    const rate = Math.round((tookMs.length * 1_000) / (performance.now() - startedMs))
    const sorted = tookMs.toSorted((left, right) => left - right)
    const at = (share: number): number => sorted[Math.floor(sorted.length * share)] ?? 0
    console.log(
      JSON.stringify({ rate, p50Ms: at(0.5), p99Ms: at(0.99), clientMicros: (user + system) / tookMs.length }),
    )
    process.exit(refused === '' ? 0 : 1)
  }, Number(forMs))
}, 500)
