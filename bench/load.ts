/** Calls one URL over many connections for a while and prints answers a second. A process of its own: `bench/queries.ts` starts it. */
import { connect } from 'node:net'

const [port = '', path = '', secret = '', connections = '32', forMs = '2000', most = '0'] = process.argv.slice(2)

/** Requests are made beforehand: what is measured is the server, not this client. */
const requests = Array.from({ length: 2_000 }, () => {
  const body = Number(most) > 0 ? JSON.stringify({ id: Math.floor(Math.random() * Number(most)) }) : '{}'
  return Buffer.from(
    `POST ${path} HTTP/1.1\r\nhost: bench\r\nauthorization: Bearer ${secret}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
  )
})

let answers = 0
let measuring = false
let refused = ''

function open(seed: number): void {
  const socket = connect({ port: Number(port), host: '127.0.0.1', noDelay: true })
  let next = seed
  let left = 0
  const send = (): void => {
    next = (next + 1) % requests.length
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
    if (measuring) answers += 1
    send()
  })
}

for (let index = 0; index < Number(connections); index += 1) open(index * 61)
// The first calls open connections and compile; they are not counted.
setTimeout(() => {
  measuring = true
  const startedMs = performance.now()
  setTimeout(() => {
    if (refused !== '') console.error(refused)
    console.log(((answers * 1_000) / (performance.now() - startedMs)).toFixed(0))
    process.exit(refused === '' ? 0 : 1)
  }, Number(forMs))
}, 500)
