import { parseArgs } from 'node:util'
import { buildIndex, openEncoder, route, type Encoder } from '../../server/router/index.ts'
import { mergeWorlds, questionsOf, readAllWorlds } from './merged.ts'
import { childrenOf, cpuMsOf } from './processes.ts'

/**
 * `npm run bench -- latency [--questions 1500]` (Linux)
 * Asks questions of the benchmark's worlds in one project of 1,000 queries, made of all worlds there are, with one
 * process that reads: on one core nothing runs side by side. Those that the reader has looked at and those that needed
 * no second look are timed apart. Other work on the machine stretches the time on the clock; the processor time of the
 * server and of the encoder together is what an idle core would need.
 */
const { values } = parseArgs({ options: { questions: { type: 'string', default: '1500' } } })
const queriesWanted = 1_000
const warmUps = 200
const now = new Date('2026-11-16T12:00:00Z')
const clock = { now, timeZone: 'UTC' }
const goals = { unread: { p50: 3, p95: 10 }, read: { p50: Infinity, p95: 40 } }

type Timed = { looks: number; wallMs: number; cpuMs: number }

const { asked, others } = await readAllWorlds(now)
const encoder = await openEncoder({
  modelDir: 'models/question-encoder',
  readerDir: 'models/question-reader',
  threads: 1,
})
const { counting, looks } = countLooks(encoder)
const index = await buildIndex(counting, mergeWorlds([...asked, ...others], queriesWanted))
const pids = await childrenOf()
const times: Timed[] = []
const bare: number[] = []
// A service that has answered before: its code is compiled, and what building the index left behind is gone.
for (const question of questionsOf(asked, warmUps)) await route(index, question, clock)
globalThis.gc?.()
for (const question of questionsOf(asked, Number(values.questions))) {
  const before = encoderMs()
  await encoder.encode([question])
  bare.push(encoderMs() - before)
  times.push(await ask(question))
}
await encoder.close()
bare.sort((a, b) => a - b)
// On an idle core it is 1.8 ms: what a busy machine adds to it, it adds to the rest.
const bareMs = (bare[Math.floor(bare.length / 2)] ?? NaN).toFixed(1)
console.log(
  `${index.queries.length} queries, ${times.length} questions, one process that reads; one text through the bare encoder ${bareMs} ms of the processor`,
)
print(
  'no second look',
  times.filter((each) => each.looks === 0),
  goals.unread,
)
for (const count of [1, 2, 3])
  print(
    `  read beside ${count}`,
    times.filter((each) => each.looks === count),
  )
print(
  'second look',
  times.filter((each) => each.looks > 0),
  goals.read,
)

async function ask(question: string): Promise<Timed> {
  const [before, encoderBefore] = [looks(), encoderMs()]
  const [begun, used] = [performance.now(), process.cpuUsage()]
  await route(index, question, clock)
  const [wallMs, { user, system }] = [performance.now() - begun, process.cpuUsage(used)]
  const cpuMs = (user + system) / 1_000 + encoderMs() - encoderBefore
  return { looks: looks() - before, wallMs, cpuMs }
}

function encoderMs(): number {
  return pids.reduce((sum, pid) => sum + cpuMsOf(pid), 0)
}

function countLooks(open: Encoder): { counting: Encoder; looks: () => number } {
  const { reader } = open
  if (reader === null) throw new TypeError('The reader could not be opened.')
  let count = 0
  const score: typeof reader.score = (input) => {
    count += 1
    return reader.score(input)
  }
  return { counting: { ...open, reader: { ...reader, score } }, looks: () => count }
}

function print(title: string, group: Timed[], goal?: { p50: number; p95: number }): void {
  if (group.length === 0) return
  const at = (of: 'wallMs' | 'cpuMs', share: number): number => {
    const sorted = group.map((each) => each[of]).sort((a, b) => a - b)
    return sorted[Math.floor(sorted.length * share)] ?? NaN
  }
  const said = (of: 'wallMs' | 'cpuMs'): string => `p50 ${at(of, 0.5).toFixed(1)} ms, p95 ${at(of, 0.95).toFixed(1)} ms`
  const isMet = goal === undefined || (at('cpuMs', 0.5) < goal.p50 && at('cpuMs', 0.95) < goal.p95)
  const verdict = goal === undefined ? '' : ` (goal p50 < ${goal.p50}, p95 < ${goal.p95}: ${isMet ? 'met' : 'NOT met'})`
  console.log(
    `${title.padEnd(16)} ${String(group.length).padStart(5)}  on the clock ${said('wallMs')}; of the processor ${said('cpuMs')}${verdict}`,
  )
}
