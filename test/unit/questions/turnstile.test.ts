import { expect, test } from 'vitest'
import { openTurnstile } from '../../../server/questions/router/turnstile.ts'

/** Work that ends when told to, each after the given time on a clock of its own. */
function workshop(waitMs: number) {
  let nowMs = 0
  const turnstile = openTurnstile(waitMs, () => nowMs)
  const waiting: Array<() => void> = []
  return {
    enter: (): Promise<string> =>
      turnstile(() => new Promise<void>((resolve) => waiting.push(resolve))).then(
        () => 'done',
        (error: { code: string }) => error.code,
      ),
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

test('a failure inside is passed on and gives the place back', async () => {
  const turnstile = openTurnstile(1)
  for (let round = 0; round < 20; round += 1) {
    await expect(turnstile(() => Promise.reject(new Error('no')))).rejects.toThrow('no')
  }
  expect(await turnstile(() => Promise.resolve('in'))).toBe('in')
})
