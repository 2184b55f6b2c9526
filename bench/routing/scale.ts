import { buildIndex, route, type Encoder, type RoutableProject } from '../../server/router/index.ts'
import { hostileQuestions, unanswerable } from '../../test/harness/hostile-questions.ts'
import { benchClock } from './collect.ts'
import { toProject, type BenchSet } from './format.ts'

const queriesWanted = 1_000
const questionsAsked = 1_000
const goals = { p50Ms: 3, p95Ms: 8, rebuildMs: 5_000, memoryMb: 150, pauseMs: 50 }

/** Merges projects, repeated under other names where there are too few, into one of 1,000 queries and times it. */
export async function measureScale(encoder: Encoder, sets: BenchSet[]): Promise<void> {
  const project = merge(sets)
  const questions = sets.flatMap(({ projects }) => projects.flatMap((each) => each.questions.map(({ text }) => text)))
  const before = memoryMb()
  const firstMs = await timed(() => buildIndex(encoder, project))
  const index = firstMs.value
  const heldMb = memoryMb() - before
  const pause = watchPauses()
  const again = await timed(() => buildIndex(encoder, project, index.vectors))
  const pauseMs = pause()
  const times: number[] = []
  const cpu: number[] = []
  const bare: number[] = []
  const step = Math.max(1, Math.floor(questions.length / questionsAsked))
  for (let next = 0; next < questions.length; next += step) {
    const text = questions[next] ?? ''
    bare.push((await timed(() => encoder.encode([text]))).elapsedMs)
    const asked = await timed(() => route(index, text, benchClock))
    times.push(asked.elapsedMs)
    cpu.push(asked.cpuMs)
  }
  const hostile: number[] = []
  for (const text of [...hostileQuestions, ...unanswerable.map(([, question]) => question)]) {
    hostile.push((await timed(() => route(index, text, benchClock))).elapsedMs)
  }
  hostile.sort((a, b) => a - b)
  times.sort((a, b) => a - b)
  cpu.sort((a, b) => a - b)
  bare.sort((a, b) => a - b)
  console.log(
    `scale: CPU per question p50 ${at(cpu, 0.5).toFixed(2)} ms, p95 ${at(cpu, 0.95).toFixed(2)} ms, without the encoder’s processes`,
  )
  const p50Ms = at(times, 0.5)
  const p95Ms = at(times, 0.95)
  // The machine is seldom idle: how many calls of the bare encoder a question costs says more than milliseconds do.
  console.log(
    `scale: one text through the bare encoder p50 ${at(bare, 0.5).toFixed(2)} ms, p95 ${at(bare, 0.95).toFixed(2)} ms; a question is ${(p50Ms / at(bare, 0.5)).toFixed(2)} and ${(p95Ms / at(bare, 0.95)).toFixed(2)} times that`,
  )
  console.log(
    `scale: ${hostile.length} hostile questions p50 ${at(hostile, 0.5).toFixed(2)} ms, slowest ${at(hostile.slice(-1), 0).toFixed(2)} ms`,
  )
  const report = { p50Ms, p95Ms, rebuildMs: again.elapsedMs, memoryMb: heldMb, pauseMs }
  console.log(
    `scale: ${index.queries.length} queries, ${index.texts.length} texts, first build ${firstMs.elapsedMs.toFixed(0)} ms (${firstMs.cpuMs.toFixed(0)} CPU), again ${again.cpuMs.toFixed(0)} CPU`,
  )
  for (const [name, most] of Object.entries(goals)) {
    const value = report[name as keyof typeof report]
    console.log(`goal scale ${name} < ${most}: ${value.toFixed(1)} ${value < most ? 'met' : 'NOT met'}`)
  }
}

export function merge(sets: BenchSet[]): RoutableProject {
  const merged: RoutableProject = { queries: [], values: {} }
  for (let round = 0; merged.queries.length < queriesWanted && round < 100; round += 1) {
    for (const { projects } of sets) {
      for (const each of projects) {
        const { queries, values } = toProject(each, 5)
        for (const query of queries) {
          if (merged.queries.length >= queriesWanted) break
          const name = `${query.name}_${merged.queries.length}`
          // A copy must not be the same text: ties would hide how the ranker works.
          const description = round === 0 ? query.description : `${query.description} (edition ${round})`
          merged.queries.push({ ...query, name, description })
        }
        Object.assign(merged.values, values)
      }
    }
  }
  return merged
}

function memoryMb(): number {
  globalThis.gc?.()
  const { heapUsed, external } = process.memoryUsage()
  return (heapUsed + external) / 1_048_576
}

function at(sorted: number[], share: number): number {
  return sorted[Math.floor(sorted.length * share)] ?? NaN
}

/** Wall time and, because a busy machine stretches it, processor time of all threads. */
async function timed<Value>(work: () => Promise<Value>): Promise<{ value: Value; elapsedMs: number; cpuMs: number }> {
  const begun = performance.now()
  const used = process.cpuUsage()
  const value = await work()
  const { user, system } = process.cpuUsage(used)
  return { value, elapsedMs: performance.now() - begun, cpuMs: (user + system) / 1000 }
}

/** The longest time the event loop was held while something else ran. */
function watchPauses(): () => number {
  let longest = 0
  let last = performance.now()
  const timer = setInterval(() => {
    longest = Math.max(longest, performance.now() - last - 5)
    last = performance.now()
  }, 5)
  return () => {
    clearInterval(timer)
    return longest
  }
}
