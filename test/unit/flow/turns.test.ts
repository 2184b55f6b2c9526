import { expect, test } from 'vitest'
import { Failure } from '../../../server/failure.ts'
import { createWorkTurns } from '../../../server/flow/index.ts'

const late = () => new Failure('overloaded', { message: 'late' })
const full = (name: string) => new Failure('overloaded', { message: `full ${name}` })
const options = { each: 1, most: 2, queueLength: 10, waitMs: 10_000, late, full }

/** Work that ends when it is told to, and says when it began. */
function stagedWork() {
  const begun: string[] = []
  const ends = new Map<string, () => void>()
  const work = (name: string) => () => {
    begun.push(name)
    return new Promise<string>((resolve) => ends.set(name, () => resolve(name)))
  }
  const end = async (name: string) => {
    ends.get(name)?.()
    await new Promise(setImmediate)
  }
  return { begun, work, end }
}

test('one of a name at a time, few of all, and names take turns', async () => {
  const { begun, work, end } = stagedWork()
  const turns = createWorkTurns(options)
  for (const name of ['a1', 'a2', 'a3', 'b1', 'c1']) void turns.take(name.slice(0, 1), work(name))
  expect(begun).toEqual(['a1', 'b1'])
  await end('b1')
  // The crowd of the first name is still at work, so the third one's turn it is.
  expect(begun).toEqual(['a1', 'b1', 'c1'])
  await end('a1')
  await end('c1')
  expect(begun).toEqual(['a1', 'b1', 'c1', 'a2'])
  await end('a2')
  expect(begun.at(-1)).toBe('a3')
})

test('who fails gives the turn on, and what came of the work is handed back', async () => {
  const turns = createWorkTurns({ ...options, most: 1 })
  const failing = turns.take('a', () => Promise.reject(new Error('no')))
  const next = turns.take('b', async () => 'done')
  await expect(failing).rejects.toThrow('no')
  expect(await next).toBe('done')
})

test('a queue has a length for each name, and a wait its end', async () => {
  const { work, end } = stagedWork()
  const turns = createWorkTurns({ ...options, most: 1, queueLength: 1, waitMs: 20 })
  const first = turns.take('a', work('a1'))
  const second = turns.take('a', work('a2'))
  await expect(turns.take('a', work('a3'))).rejects.toThrow('full a')
  const other = turns.take('b', work('b1'))
  await expect(second).rejects.toThrow('late')
  await expect(other).rejects.toThrow('late')
  await end('a1')
  expect(await first).toBe('a1')
  // Who has left takes no turn.
  expect(await turns.take('a', async () => 'free')).toBe('free')
})
