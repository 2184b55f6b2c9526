/**
 * Calls that pass through processes on machines, as discrete events. A piece of work takes a thread of its process, then a
 * core of the machine, for as long as it was measured to take; whoever finds none waits in turn.
 */

export type Machine = { cores: number; busy: number; waiting: Line }
export type Process = { name: string; machine: Machine; threads: number; busy: number; waiting: Line; worked: number }
type Task = { process: Process; micros: number; done: () => void }
type Line = ReturnType<typeof createLine>

/** One piece of work of a call. `smoothness`: 1 varies like an exponential, more varies less. */
export type Step = { process: Process; micros: number; smoothness?: number }

export type Simulated = {
  /** Finished calls a second. */
  rate: number
  p50Ms: number
  p99Ms: number
  /** Of each name the share of the time in which its threads, or else its machines' cores, worked. */
  used: Map<string, number>
}

type Run = {
  /** So many callers that each wait for an answer before the next call, or calls a second that come by chance. */
  callers: { connections: number } | { perSecond: number }
  /** What a call goes through, one after the other, made anew for each. */
  stepsOf: (random: () => number) => Step[]
  /** What no processor works on: wires, wake-ups. */
  pauseMicros: number
  /** Work that a call leaves behind and nobody waits for. */
  after?: () => Step[]
  processes: Process[]
  seconds: number
  seed?: number
}

export const machineOf = (cores: number): Machine => ({ cores, busy: 0, waiting: createLine() })
export const processOn = (machine: Machine, name: string, threads = 1): Process => {
  return { name, machine, threads, busy: 0, waiting: createLine(), worked: 0 }
}

const warmShare = 0.2

export function simulate({ callers, stepsOf, pauseMicros, after, processes, seconds, seed = 1 }: Run): Simulated {
  const random = randomFrom(seed)
  const events = createEvents()
  const untilMicros = seconds * 1e6
  const warmMicros = untilMicros * warmShare
  const tookMicros: number[] = []
  for (const each of processes) Object.assign(each, { busy: 0, waiting: createLine(), worked: 0 })
  for (const machine of new Set(processes.map((each) => each.machine)))
    Object.assign(machine, { busy: 0, waiting: createLine() })

  const work = (steps: Step[], end: () => void): void => {
    const [step, ...rest] = steps
    if (step === undefined) return end()
    const micros = step.micros * erlang(random, step.smoothness ?? 1)
    offer({ process: step.process, micros, done: () => work(rest, end) })
  }
  const offer = (task: Task): void => {
    const { process } = task
    if (process.busy >= process.threads) return process.waiting.push(task)
    process.busy += 1
    onCore(task)
  }
  const onCore = (task: Task): void => {
    const { machine } = task.process
    if (machine.busy >= machine.cores) return machine.waiting.push(task)
    machine.busy += 1
    events.after(task.micros, () => finish(task))
  }
  const finish = ({ process, micros, done }: Task): void => {
    if (events.now() > warmMicros) process.worked += micros
    const { machine } = process
    machine.busy -= 1
    const forCore = machine.waiting.shift()
    if (forCore !== undefined) onCore(forCore)
    process.busy -= 1
    const forThread = process.waiting.shift()
    if (forThread !== undefined) offer(forThread)
    done()
  }
  const call = (then: () => void): void => {
    const beganMicros = events.now()
    work(stepsOf(random), () => {
      events.after(pauseMicros, () => {
        if (events.now() > warmMicros) tookMicros.push(events.now() - beganMicros)
        work(after?.() ?? [], () => undefined)
        then()
      })
    })
  }
  if ('connections' in callers) {
    const again = (): void => call(again)
    for (let index = 0; index < callers.connections; index += 1) events.after(random() * 1_000, again)
  } else {
    const arrive = (): void => {
      call(() => undefined)
      events.after((1e6 / callers.perSecond) * erlang(random, 1), arrive)
    }
    arrive()
  }
  events.runUntil(untilMicros)
  const measured = untilMicros - warmMicros
  return { rate: (tookMicros.length / measured) * 1e6, ...percentiles(tookMicros), used: usedOf(processes, measured) }
}

function usedOf(processes: Process[], micros: number): Map<string, number> {
  const used = new Map<string, number>()
  for (const [name, alike] of Map.groupBy(processes, (each) => each.name)) {
    const threads = alike.reduce((sum, each) => sum + Math.min(each.threads, each.machine.cores), 0)
    used.set(name, alike.reduce((sum, { worked }) => sum + worked, 0) / (threads * micros))
  }
  for (const [machine, on] of Map.groupBy(processes, (each) => each.machine)) {
    const share = on.reduce((sum, { worked }) => sum + worked, 0) / (machine.cores * micros)
    const name = `cores of ${[...new Set(on.map((each) => each.name))].join(', ')}`
    used.set(name, Math.max(used.get(name) ?? 0, share))
  }
  return used
}

function percentiles(values: number[]): { p50Ms: number; p99Ms: number } {
  const sorted = values.toSorted((left, right) => left - right)
  const at = (share: number): number => (sorted[Math.floor(sorted.length * share)] ?? 0) / 1_000
  return { p50Ms: at(0.5), p99Ms: at(0.99) }
}

/** A sum of `smoothness` exponentials with a mean of one. */
function erlang(random: () => number, smoothness: number): number {
  let sum = 0
  for (let index = 0; index < smoothness; index += 1) sum -= Math.log(1 - random())
  return sum / smoothness
}

/** The same numbers for the same seed (Mulberry32). */
function randomFrom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d_2b_79_f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** First come, first served. An array that is shifted copies all the others, and lines grow long where too many come. */
function createLine() {
  let tasks: Task[] = []
  let next = 0
  return {
    push(task: Task): void {
      tasks.push(task)
    },
    shift(): Task | undefined {
      const task = tasks[next]
      if (task === undefined) return undefined
      next += 1
      if (next > 1_000 && next * 2 > tasks.length) {
        tasks = tasks.slice(next)
        next = 0
      }
      return task
    },
  }
}

type Event = { atMicros: number; act: () => void }

/** What is to happen, soonest first: a heap. */
function createEvents() {
  const heap: Event[] = []
  let nowMicros = 0
  const swap = (left: number, right: number): void => {
    const [one, other] = [heap[left], heap[right]]
    if (one === undefined || other === undefined) return
    heap[left] = other
    heap[right] = one
  }
  const at = (index: number): number => heap[index]?.atMicros ?? Infinity
  const push = (event: Event): void => {
    heap.push(event)
    for (let index = heap.length - 1; index > 0;) {
      const parent = (index - 1) >> 1
      if (at(parent) <= at(index)) break
      swap(index, parent)
      index = parent
    }
  }
  const pop = (): Event | undefined => {
    swap(0, heap.length - 1)
    const soonest = heap.pop()
    for (let index = 0; ;) {
      const child = at(2 * index + 1) <= at(2 * index + 2) ? 2 * index + 1 : 2 * index + 2
      if (at(index) <= at(child)) break
      swap(index, child)
      index = child
    }
    return soonest
  }
  return {
    now: () => nowMicros,
    after: (micros: number, act: () => void) => push({ atMicros: nowMicros + micros, act }),
    runUntil(untilMicros: number): void {
      while (at(0) <= untilMicros) {
        const event = pop()
        if (event === undefined) return
        nowMicros = event.atMicros
        event.act()
      }
    },
  }
}
