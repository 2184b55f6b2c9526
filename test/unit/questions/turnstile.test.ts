import { expect, test } from 'vitest'
import type { Failure } from '../../../server/failure.ts'
import { openTurnstile } from '../../../server/questions/router/turnstile.ts'

/** Work that ends when told to, each after the given time on a clock of its own. */
function workshop(waitMs: number) {
  let nowMs = 0
  const turnstile = openTurnstile(waitMs, () => nowMs)
  const waiting: Array<() => void> = []
  return {
    enter: async (): Promise<string> => {
      try {
        const leave = turnstile.enter()
        await turnstile.timed(() => new Promise<void>((resolve) => waiting.push(resolve))).finally(leave)
        return 'done'
      } catch (error) {
        return (error as Failure).code
      }
    },
    finish: async (afterMs: number): Promise<void> => {
      nowMs += afterMs
      waiting.shift()?.()
      await new Promise((resolve) => setImmediate(resolve))
    },
    inside: () => waiting.length,
  }
}

test('as many are let in as are done within the wait, the rest is refused at once', async () => {
  const { enter, finish, inside } = workshop(100)
  const first = Array.from({ length: 60 }, enter)
  expect(inside()).toBeLessThan(30)
  expect((await Promise.all(first.slice(-10))).every((outcome) => outcome === 'overloaded')).toBe(true)
  while (inside() > 0) await finish(5)
  expect((await Promise.all(first)).filter((outcome) => outcome === 'done').length).toBeGreaterThan(8)
})

test('slow work lets fewer in, quick work more, and a rest is forgotten', async () => {
  const { enter, finish, inside } = workshop(100)
  const passed = async (eachMs: number): Promise<number> => {
    for (let round = 0; round < 50; round += 1) {
      void enter()
      await finish(eachMs)
    }
    await finish(60_000)
    const all = Array.from({ length: 200 }, enter)
    const count = inside()
    while (inside() > 0) await finish(eachMs)
    await Promise.all(all)
    return count
  }
  const slow = await passed(50)
  const quick = await passed(1)
  expect(slow).toBe(8)
  expect(quick).toBeGreaterThan(50)
})

test('a failure inside is passed on and gives the place back, once', async () => {
  const turnstile = openTurnstile(1)
  for (let round = 0; round < 20; round += 1) {
    const leave = turnstile.enter()
    await expect(turnstile.timed(() => Promise.reject(new Error('no'))).finally(leave)).rejects.toThrow('no')
    leave()
  }
  const rooms = Array.from({ length: 8 }, () => turnstile.enter())
  expect(() => turnstile.enter()).toThrow(expect.objectContaining({ code: 'overloaded' }))
  rooms.forEach((leave) => leave())
  expect(await turnstile.timed(() => Promise.resolve('in'))).toBe('in')
})

test('those who have arrived and are not read yet count too', () => {
  const turnstile = openTurnstile(100)
  const arrived = Array.from({ length: 500 }, () => {
    try {
      return turnstile.enter()
    } catch {
      return null
    }
  })
  expect(arrived.filter((leave) => leave !== null).length).toBeLessThan(30)
})
