import { expect, test } from 'vitest'
import type { QueryAnswered } from '../../../server/usage/stored/call.ts'
import { openKinds } from '../../../server/usage/record/kinds.ts'
import { openTally } from '../../../server/usage/record/tally.ts'
import { call } from './sample-call.ts'

const others: Array<Partial<QueryAnswered>> = [
  { keyId: 'key_2' },
  { keyId: null },
  { projectId: 'prj_2' },
  { environment: 'staging' },
  { query: 'orders' },
  { version: 4 },
  { entry: 'question' },
  { code: 'query_timeout' },
  { code: 'query_timeout', reason: 'deadline' },
  { cache: 'miss' },
]

test('calls that differ in anything they are counted by are of different kinds, and the same ones of one', () => {
  const kinds = openKinds(openTally(100), 100)
  const all = [{}, ...others].map((other) => kinds.find({ ...call, ...other }, 0))
  expect(new Set(all).size).toBe(all.length)
  const again = [{}, ...others].map((other) => kinds.find({ ...call, ...other, totalMs: 7 }, 59_999))
  expect(again).toEqual(all)
  expect(kinds.find(call, 60_000)).not.toBe(all[0])
})

test.each(['keyId', 'projectId', 'environment', 'query'] as const)(
  'a call is compared with few others, however many there are of each %s',
  (field) => {
    const kinds = openKinds(openTally(2_000), 2_000)
    let compared = 0
    const nth = (at: number): QueryAnswered => ({
      ...call,
      [field]: `n${at}`,
      get version() {
        compared += 1
        return 3
      },
    })
    for (let at = 0; at < 1_000; at += 1) kinds.find(nth(at), 0)
    compared = 0
    expect(kinds.find(nth(999), 0)?.of[field]).toBe('n999')
    expect(compared).toBeLessThan(10)
  },
)
