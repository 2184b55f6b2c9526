import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { casts, functionCalls, listFunctions } from '../harness/function-calls.ts'
import { openFixture, type Fixture } from './engine-fixture.ts'
import { rounds } from '../harness/rounds.ts'

let fixture: Fixture

beforeAll(async () => {
  fixture = await openFixture()
})
afterAll(() => fixture.close())

/** A small part of `npm test -- fuzz-engine`, always the same. */
test('no function takes its process down with a value that is deep, long, huge or odd', async () => {
  const functions = await listFunctions()
  expect(functions.length).toBeGreaterThan(2_000)
  const statements = [
    ...fc.sample(functionCalls(functions), { numRuns: rounds(20, 60), seed: 1 }),
    ...fc.sample(casts, { numRuns: rounds(5, 15), seed: 1 }),
  ]
  const codes: string[] = []
  for (const sql of statements) {
    const limits = { maxRows: 10, maxBytes: 1_000_000, timeoutMs: 5_000 }
    codes.push(
      await fixture.rows(sql, limits).then(
        () => 'answered',
        ({ code }: { code: string }) => code,
      ),
    )
  }
  expect(codes).toContain('answered')
  expect(codes).not.toContain('internal_error')
  // One that is killed because it cannot be interrupted in time is no crash.
  const crashes = fixture.observed.filter((event) => event.kind === 'executor-lost' && event.signal !== 'SIGKILL')
  expect(crashes).toEqual([])
}, 120_000)
