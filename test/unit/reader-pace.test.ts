import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { takenInTime } from '../../server/http/answer/reader-pace.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

async function* chunks(count: number, makeMs = 0): AsyncGenerator<Buffer> {
  for (let at = 0; at < count; at += 1) {
    if (makeMs > 0) await vi.advanceTimersByTimeAsync(makeMs)
    yield Buffer.alloc(1_000)
  }
}

/** Whether a reader who takes so long for each chunk is given up. */
async function isGivenUp({ takeMs = 0, makeMs = 0 }: { takeMs?: number; makeMs?: number }): Promise<boolean> {
  let isGone = false
  const pace = { leastBytesPerSecond: 1_000, giveUp: () => void (isGone = true) }
  for await (const chunk of takenInTime(chunks(20, makeMs), pace)) {
    expect(chunk).toHaveLength(1_000)
    await vi.advanceTimersByTimeAsync(takeMs)
    if (isGone) break
  }
  return isGone
}

test('a reader slower than the pace is given up, one who keeps it is not', async () => {
  expect(await isGivenUp({ takeMs: 4_000 })).toBe(true)
  expect(await isGivenUp({ takeMs: 900 })).toBe(false)
})

test('a reader who never asks again is given up', async () => {
  expect(await isGivenUp({ takeMs: 60_000 })).toBe(true)
})

test('the time that a chunk takes to be made is not the reader’s', async () => {
  expect(await isGivenUp({ makeMs: 30_000 })).toBe(false)
})
