/**
 * Calls servers over many connections, in short turns, and prints what each turn gave. A shared machine changes its speed
 * from second to second: two turns next to each other had the same. A process of its own: `bench/load.ts` starts it.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { openAnswerReader } from './answer-reader.ts'
import type { Order, Target, Taken, Turn } from './load.ts'
import { undisturbed } from './others.ts'

const { targets, turns, turnMs, warmMs, connections } = JSON.parse(process.argv[2] ?? '') as Order
const opened = targets.map(openTarget)
// Connections open and code is compiled; neither is counted.
for (const target of opened) await target.turn(warmMs)
const taken: Taken[] = opened.map(() => ({ turns: [] }))
for (let at = 0; at < turns; at += 1) {
  // By turns each comes first: the second of two finds what the first has left in the caches.
  const order = at % 2 === 0 ? opened : opened.toReversed()
  const round = await undisturbed(async () => {
    const each: Turn[] = []
    for (const target of order) each.push(await target.turn(turnMs))
    return at % 2 === 0 ? each : each.toReversed()
  })
  for (const [index, turn] of round.entries()) taken[index]?.turns.push(turn)
}
console.log(JSON.stringify(taken))
process.exit(0)

/** Requests are made beforehand: what is measured is the server, not this client. */
function requestsOf({ method = 'POST', path, headers = {}, body, most = 1 }: Target): Buffer[] {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  return Array.from({ length: most > 1 ? 2_000 : 1 }, () => {
    const id = String(Math.floor(Math.random() * most))
    const given = body?.replaceAll('{id}', id)
    const length = given === undefined ? '' : `content-length: ${Buffer.byteLength(given)}\r\n`
    const head = `${method} ${path.replaceAll('{id}', id)} HTTP/1.1\r\nhost: 127.0.0.1\r\n${lines.join('')}${length}\r\n`
    return Buffer.from(`${head}${given ?? ''}`)
  })
}

function openTarget(target: Target) {
  const { port, pid } = target
  const requests = requestsOf(target)
  let isOn = false
  let answers = 0
  let tookMs: number[] = []
  const resting: Array<() => void> = []
  const open = (seed: number): void => {
    const socket: Socket = connect({ port, host: '127.0.0.1', noDelay: true })
    let next = seed
    let sentMs = 0
    const send = (): void => {
      next = (next + 1) % requests.length
      sentMs = performance.now()
      socket.write(requests[next] ?? '')
    }
    const whole = (): void => {
      answers += 1
      tookMs.push(performance.now() - sentMs)
      if (isOn) send()
      else resting.push(send)
    }
    socket.on('data', openAnswerReader(whole, giveUp))
    socket.on('error', (error) => giveUp(error.message))
    socket.on('close', () => {
      // A server may end a connection that rests for seconds while the other has its turn.
      const place = resting.indexOf(send)
      if (place === -1) giveUp('The server closed a connection.')
      resting.splice(place, 1)
      open(next)
    })
    resting.push(send)
  }
  for (let index = 0; index < connections; index += 1) open((index * 61) % requests.length)

  return {
    async turn(forMs: number): Promise<Turn> {
      tookMs = []
      const [busy, own, count, startedMs] = [processorMicros(pid), process.cpuUsage(), answers, performance.now()]
      isOn = true
      for (const send of resting.splice(0)) send()
      await wait(forMs)
      isOn = false
      while (resting.length < connections) await wait(1)
      const elapsedMs = performance.now() - startedMs
      const answered = answers - count
      const { user, system } = process.cpuUsage(own)
      const sorted = tookMs.toSorted((left, right) => left - right)
      const at = (share: number): number => sorted[Math.floor(sorted.length * share)] ?? 0
      return {
        rate: (answered * 1_000) / elapsedMs,
        micros: (processorMicros(pid) - busy) / answered,
        clientMicros: (user + system) / answered,
        p50Ms: at(0.5),
        p99Ms: at(0.99),
      }
    },
  }
}

function giveUp(why: string): never {
  console.error(why.slice(0, 1_000))
  process.exit(1)
}

/** Of all threads of a process so far. */
function processorMicros(pid: number | undefined): number {
  if (pid === undefined) return 0
  const threads = readdirSync(`/proc/${pid}/task`)
  return threads.reduce((sum, thread) => sum + threadMicros(`/proc/${pid}/task/${thread}/schedstat`), 0)
}

function threadMicros(path: string): number {
  try {
    return Number(readFileSync(path, 'utf8').split(' ')[0]) / 1_000
  } catch {
    // The thread has ended meanwhile.
    return 0
  }
}
