import { expect, test } from 'vitest'
import { machineOf, processOn, simulate } from '../../../bench/simulation.ts'

test('one server with chance arrivals waits as theory says', () => {
  const server = processOn(machineOf(1), 'server')
  const stepsOf = () => [{ process: server, micros: 1_000 }]
  const simulated = simulate({
    callers: { perSecond: 500 },
    stepsOf,
    pauseMicros: 0,
    processes: [server],
    seconds: 400,
  })
  // Half of the time busy: the mean stay is twice the work, and stays are exponential.
  expect(simulated.used.get('server')).toBeCloseTo(0.5, 1)
  expect(simulated.p50Ms / (2 * Math.log(2))).toBeCloseTo(1, 1)
  expect(simulated.p99Ms / (2 * Math.log(100))).toBeCloseTo(1, 1)
})

test('callers that wait are as fast as the slowest part, however many they are', () => {
  const machine = machineOf(8)
  const [front, back] = [processOn(machine, 'front'), processOn(machine, 'back', 2)]
  const stepsOf = () => [
    { process: front, micros: 100, smoothness: 8 },
    { process: back, micros: 600, smoothness: 8 },
  ]
  const rateOf = (connections: number): number =>
    simulate({ callers: { connections }, stepsOf, pauseMicros: 0, processes: [front, back], seconds: 20 }).rate
  expect(rateOf(1)).toBeCloseTo(1e6 / 700, -2)
  // Two threads of 600 µs each.
  expect(Math.abs(rateOf(64) / (2e6 / 600) - 1)).toBeLessThan(0.03)
})

test('processes on one machine share its cores', () => {
  const machine = machineOf(2)
  const processes = [1, 2, 3, 4].map((number) => processOn(machine, `server ${number}`))
  const stepsOf = (random: () => number) => {
    const process = processes[Math.floor(random() * processes.length)] ?? processOn(machine, 'none')
    return [{ process, micros: 500, smoothness: 4 }]
  }
  const { rate, used } = simulate({
    callers: { connections: 64 },
    stepsOf,
    pauseMicros: 0,
    processes,
    seconds: 20,
  })
  expect(Math.abs(rate / 4_000 - 1)).toBeLessThan(0.05)
  expect(used.get('cores of server 1, server 2, server 3, server 4')).toBeGreaterThan(0.95)
})

test('what a call leaves behind is worked on, and nobody waits for it', () => {
  const [api, database] = [processOn(machineOf(1), 'api'), processOn(machineOf(1), 'database')]
  const simulated = simulate({
    callers: { perSecond: 1_000 },
    stepsOf: () => [{ process: api, micros: 100, smoothness: 8 }],
    pauseMicros: 50,
    after: () => [{ process: database, micros: 300 }],
    processes: [api, database],
    seconds: 20,
  })
  expect(simulated.used.get('database')).toBeCloseTo(0.3, 1)
  expect(simulated.p50Ms).toBeLessThan(0.25)
})
