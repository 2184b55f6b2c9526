import { expect, test } from 'vitest'
import type { Failure } from '../../../server/failure.ts'
import type { Holder } from '../../../server/flow/index.ts'
import { openAdmission, type QuestionAdmission } from '../../../server/questions/indexes/admission.ts'

const one: Holder = ['one', 'a']

/** How many of so many that arrive at once are let in; they stay. */
function letIn(admission: QuestionAdmission, count: number, by: Holder): number {
  return Array.from({ length: count }, () => {
    try {
      return admission.enter(by)
    } catch {
      return null
    }
  }).filter((leave) => leave !== null).length
}

/** Work that ends when told to, each after the given time on a clock of its own. */
function workshop(waitMs: number, readers = 1) {
  let nowMs = 0
  const admission = openAdmission({ waitMs, readers, clockMs: () => nowMs })
  const waiting: Array<() => void> = []
  return {
    admission,
    enter: async (by: Holder = one): Promise<string> => {
      try {
        const leave = admission.enter(by)
        await admission.timed(by, () => new Promise<void>((resolve) => waiting.push(resolve))).finally(leave)
        return 'done'
      } catch (error) {
        return (error as Failure).code
      }
    },
    finish: async (afterMs: number): Promise<void> => {
      await new Promise((resolve) => setImmediate(resolve))
      nowMs += afterMs
      waiting.shift()?.()
      await new Promise((resolve) => setImmediate(resolve))
    },
    inside: () => waiting.length,
  }
}

test('as many are let in as are done within the wait, the rest is refused at once', async () => {
  const { enter, finish, inside } = workshop(200)
  const first = Array.from({ length: 60 }, () => enter())
  expect((await Promise.all(first.slice(-10))).every((outcome) => outcome === 'overloaded')).toBe(true)
  await finish(5)
  while (inside() > 0) await finish(5)
  const done = (await Promise.all(first)).filter((outcome) => outcome === 'done').length
  expect(done).toBeGreaterThan(8)
  expect(done).toBeLessThan(30)
})

test('slow work lets fewer in, quick work more, and a rest is forgotten', async () => {
  const { enter, finish, inside } = workshop(100)
  const passed = async (eachMs: number): Promise<number> => {
    for (let round = 0; round < 50; round += 1) {
      void enter()
      await finish(eachMs)
    }
    await finish(60_000)
    const all = Array.from({ length: 200 }, () => enter())
    await finish(eachMs)
    while (inside() > 0) await finish(eachMs)
    return (await Promise.all(all)).filter((outcome) => outcome === 'done').length
  }
  const slow = await passed(50)
  const quick = await passed(1)
  expect(slow).toBeGreaterThan(2)
  expect(slow).toBeLessThanOrEqual(8)
  expect(quick).toBeGreaterThan(40)
})

test('a failure inside is passed on and gives the place back, once', async () => {
  const admission = openAdmission({ waitMs: 1, readers: 1 })
  for (let round = 0; round < 20; round += 1) {
    const leave = admission.enter(one)
    await expect(admission.timed(one, () => Promise.reject(new Error('no'))).finally(leave)).rejects.toThrow('no')
    leave()
  }
  expect(letIn(admission, 20, one)).toBeGreaterThan(2)
  expect(() => admission.enter(one)).toThrow(expect.objectContaining({ code: 'overloaded' }))
  expect(await admission.timed(one, () => Promise.resolve('in'))).toBe('in')
})

test('questions that came one by one say how long one takes, not how many are read in time: a crowd is let in', async () => {
  const { admission, enter, finish, inside } = workshop(1_000, 2)
  for (let round = 0; round < 50; round += 1) {
    void enter()
    await finish(28)
  }
  const crowd = Array.from({ length: 40 }, () => enter())
  // Two side by side are done in the time of one.
  for (let left = 0; left < 40; left += 1) await finish(14)
  expect(await Promise.all(crowd)).toEqual(crowd.map(() => 'done'))
  expect(inside()).toBe(0)
  // What a crowd has told stands: half as fast, half as many are let in.
  const slower = Array.from({ length: 40 }, () => enter())
  for (let left = 0; left < 40; left += 1) await finish(40)
  await Promise.all(slower)
  expect(letIn(admission, 40, one)).toBeLessThan(20)
})

test('those who have arrived and are not read yet count too', () => {
  expect(letIn(openAdmission({ waitMs: 100, readers: 1 }), 500, one)).toBeLessThan(30)
})

test('a flood of one project, of many of its keys and of several projects leaves room for who comes next', () => {
  const ofOne = openAdmission({ waitMs: 1_000, readers: 1 })
  expect(letIn(ofOne, 1_000, one)).toBeGreaterThan(60)
  expect(letIn(ofOne, 10, ['one', 'b'])).toBe(10)
  expect(letIn(ofOne, 10, ['two', 'c'])).toBe(10)

  const ofKeys = openAdmission({ waitMs: 1_000, readers: 1 })
  for (let key = 0; key < 50; key += 1) letIn(ofKeys, 100, ['one', `key ${key}`])
  expect(letIn(ofKeys, 10, ['two', 'c'])).toBe(10)

  const ofProjects = openAdmission({ waitMs: 1_000, readers: 1 })
  for (let project = 0; project < 8; project += 1) {
    letIn(ofProjects, 1_000, [`project ${project}`, 'a'])
  }
  expect(letIn(ofProjects, 1, ['new', 'c'])).toBe(1)
})

test('those inside are read in turns: a neighbour waits for one of a flood, not for all of it', async () => {
  const { enter, finish } = workshop(1_000)
  const flood = Array.from({ length: 50 }, () => enter())
  const read = new AbortController()
  const neighbour = enter(['two', 'b']).finally(() => read.abort())
  let rounds = 0
  while (!read.signal.aborted) {
    await finish(1)
    rounds += 1
  }
  expect(await neighbour).toBe('done')
  // Those who are being read at the time, and one of the flood's turns.
  expect(rounds).toBeLessThanOrEqual(18)
  for (let left = 0; left < 60; left += 1) await finish(1)
  await Promise.all(flood)
})
