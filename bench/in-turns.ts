/**
 * Calls two URLs in short turns and prints, for each turn, answers a second and processor time of an answer. A shared
 * machine changes its speed from second to second: two turns next to each other had the same. A process of its own:
 * `bench/queries.ts` starts it.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'

type Turn = { rate: number; micros: number }
type Target = { port: number; path: string; pid: number }

const connections = 32
const turnMs = 120
const [secret = '', turns = '100', ...given] = process.argv.slice(2)
const targets = given.map((text) => openTarget(JSON.parse(text) as Target))
// Connections open and code is compiled; neither is counted.
for (const target of targets) await target.turn(3_000)
const results: Turn[][] = targets.map(() => [])
for (let at = 0; at < Number(turns); at += 1) {
  for (const [index, target] of targets.entries()) results[index]?.push(await target.turn(turnMs))
}
console.log(JSON.stringify(results))
process.exit(0)

function openTarget({ port, path, pid }: Target) {
  const request = Buffer.from(
    `POST ${path} HTTP/1.1\r\nhost: bench\r\nauthorization: Bearer ${secret}\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}`,
  )
  let isOn = false
  let answers = 0
  const resting: Socket[] = []
  const sockets = Array.from({ length: connections }, () => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true })
    socket.on('data', answerReader(next))
    return socket
    function next(): void {
      answers += 1
      if (isOn) socket.write(request)
      else resting.push(socket)
    }
  })
  resting.push(...sockets)

  return {
    async turn(forMs: number): Promise<Turn> {
      const [micros, count, startedMs] = [processorMicros(pid), answers, performance.now()]
      isOn = true
      for (const socket of resting.splice(0)) socket.write(request)
      await wait(forMs)
      isOn = false
      while (resting.length < connections) await wait(1)
      const answered = answers - count
      return {
        rate: (answered * 1_000) / (performance.now() - startedMs),
        micros: (processorMicros(pid) - micros) / answered,
      }
    },
  }
}

/** Says when an answer is whole; ends the process at one that is no answer. */
function answerReader(whole: () => void): (data: Buffer) => void {
  let left = 0
  return (data) => {
    if (left > 0) left -= data.length
    else {
      const end = data.indexOf('\r\n\r\n')
      const head = data.toString('latin1', 0, end)
      if (!head.startsWith('HTTP/1.1 200')) {
        console.error(data.toString())
        process.exit(1)
      }
      left = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0) - (data.length - end - 4)
    }
    if (left === 0) whole()
  }
}

/** Of all threads of a process so far. */
function processorMicros(pid: number): number {
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
