import { expect, test } from 'vitest'
import { openAnswers, type Answer } from '../../../server/queries/calls/answers.ts'

const answer = (bytes: number): Answer => ({
  rows: Buffer.alloc(bytes),
  columns: [],
  rowCount: 0,
  truncated: false,
  elapsedMs: 0,
  version: 1,
  asOf: null,
  source: null,
  etag: null,
})
const ttlMs = 1_000

test('what is kept stays within its bytes, and the least used goes first', async () => {
  const answers = openAnswers({ maxBytes: 12_000, maxBytesInFlight: 1_000, executors: 2, now: () => 0 })
  for (const key of ['a', 'b', 'c', 'd']) await answers.make(key, { ttlMs }, async () => answer(2_000))
  await answers.make('e', { ttlMs }, async () => answer(2_000))
  expect(['a', 'b', 'e'].map((key) => answers.get(key) !== undefined)).toEqual([false, true, true])
  await answers.make('huge', { ttlMs }, async () => answer(5_000))
  expect(answers.get('huge')).toBeUndefined()
})

test('one who leaves does not fail the others; the work stops when the last has left', async () => {
  const answers = openAnswers({ maxBytes: 10_000, maxBytesInFlight: 1_000, executors: 2, now: () => 0 })
  const made = Promise.withResolvers<Answer>()
  let stopped = false
  const work = (signal: AbortSignal): Promise<Answer> => {
    signal.addEventListener('abort', () => (stopped = true))
    return made.promise
  }
  const [first, second] = [new AbortController(), new AbortController()]
  const left = answers.make('k', { ttlMs, signal: first.signal }, work)
  const stays = answers.make('k', { ttlMs, signal: second.signal }, work)
  first.abort(new Error('gone'))
  await expect(left).rejects.toThrow('gone')
  expect(stopped).toBe(false)
  made.resolve(answer(1))
  await expect(stays).resolves.toEqual(answer(1))

  const alone = new AbortController()
  const abandoned = answers.make('other', { ttlMs, signal: alone.signal }, (signal) => {
    signal.addEventListener('abort', () => (stopped = true))
    return new Promise<Answer>(() => undefined)
  })
  alone.abort(new Error('gone'))
  await expect(abandoned).rejects.toThrow('gone')
  expect(stopped).toBe(true)
})

test('a failure reaches all who wait, and the next call tries again', async () => {
  const answers = openAnswers({ maxBytes: 10_000, maxBytesInFlight: 1_000, executors: 2, now: () => 0 })
  const failing = async (): Promise<Answer> => {
    throw new Error('broken')
  }
  const both = [answers.make('k', { ttlMs }, failing), answers.make('k', { ttlMs }, failing)]
  for (const each of both) await expect(each).rejects.toThrow('broken')
  await expect(answers.make('k', { ttlMs }, async () => answer(1))).resolves.toEqual(answer(1))
})
