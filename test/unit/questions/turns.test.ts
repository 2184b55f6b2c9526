import { expect, test } from 'vitest'
import { openTurns } from '../../../server/questions/indexes/turns.ts'

const once = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

test('so many run at once, in the order they came, also those that come as one ends', async () => {
  const turns = openTurns(2)
  const begun: number[] = []
  let running = 0
  let most = 0
  const work = (at: number) => async (): Promise<void> => {
    begun.push(at)
    running += 1
    most = Math.max(most, running)
    await once()
    running -= 1
  }
  const late: Array<Promise<void>> = []
  const first = [0, 1, 2, 3].map((at) => turns.take(work(at)).finally(() => late.push(turns.take(work(at + 4)))))
  expect(turns.waiting()).toBe(2)
  await Promise.all(first)
  await Promise.all(late)
  expect(begun).toEqual([0, 1, 2, 3, 4, 5, 6, 7])
  expect(most).toBe(2)
  expect(turns.waiting()).toBe(0)
})

test('a failure gives the turn back', async () => {
  const turns = openTurns(1)
  const failed = turns.take(() => Promise.reject(new Error('no')))
  const next = turns.take(() => Promise.resolve('yes'))
  await expect(failed).rejects.toThrow('no')
  expect(await next).toBe('yes')
})

test('who has always something to do lets the others in between', async () => {
  const turns = openTurns(1)
  const done: string[] = []
  let left = 3
  const busy = turns.repeat(
    () => left > 0,
    async () => {
      left -= 1
      await once()
      done.push('busy')
    },
  )
  const other = turns.take(async () => void done.push('other'))
  await Promise.all([busy, other])
  expect(done).toEqual(['busy', 'other', 'busy', 'busy'])
})
