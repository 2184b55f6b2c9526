import { describe, expect, test } from 'vitest'
import { openCounter, openLedger, type Operation } from '../scale/ledger.ts'

/** The judge of `npm test -- scale`: what it lets pass, and what it does not. */
describe('the ledger of a run at scale', () => {
  type Judged = { operation: Operation; outcome: number | 'network'; startedMs: number; killed?: string | undefined }
  const judge = (part: string, fault: Judged) => {
    let nowMs = 10_000
    const ledger = openLedger(() => nowMs)
    const isBack = ledger.begin(part)
    nowMs = 20_000
    isBack()
    ledger.failed({ ...fault, endedMs: fault.startedMs + 10, detail: '' })
    return ledger.violations().length
  }

  test.each<[string, string, Operation, number | 'network', number, string?]>([
    ['a call in flight on the replica that was killed', 'api-2', 'direct', 'network', 9_995, 'api-2'],
    ['one that reached it before it was dead, however late', 'api-2', 'execute', 'network', 11_700, 'api-2'],
    ['a write while the bucket is away', 'S3 server', 'execute', 503, 15_000],
    ['a release while the database is away', 'PostgreSQL', 'release', 503, 15_000],
    ['a release within five seconds of its return', 'PostgreSQL', 'release', 503, 24_000],
  ])('lets %s fail', (_, part, operation, outcome, startedMs, killed) => {
    expect(judge(part, { operation, outcome, startedMs, killed })).toBe(0)
  })

  test.each<[string, string, Operation, number | 'network', number, string?]>([
    ['a call that another replica had', 'api-2', 'direct', 'network', 9_995],
    ['a call that a replica had which was killed before', 'api-2', 'direct', 'network', 9_995, 'api-1'],
    ['an error instead of a broken connection', 'api-2', 'direct', 500, 9_995, 'api-2'],
    ['anything for a worker', 'worker-1', 'execute', 503, 15_000],
    ['anything for Redis', 'Redis', 'direct', 503, 15_000],
    ['a direct call while the bucket is away', 'S3 server', 'direct', 503, 15_000],
    ['a direct call while the database is away', 'PostgreSQL', 'direct', 503, 15_000],
    ['a release six seconds after the return', 'PostgreSQL', 'release', 503, 26_000],
    ['anything before', 'PostgreSQL', 'release', 503, 5_000],
  ])('does not excuse %s', (_, part, operation, outcome, startedMs, killed) => {
    expect(judge(part, { operation, outcome, startedMs, killed })).toBe(1)
  })

  test('counts what was acknowledged a second ago as the least that may be seen', () => {
    let nowMs = 0
    const ledger = openLedger(() => nowMs)
    const counter = openCounter(
      () => nowMs,
      () => ledger.heardMs(),
    )
    counter.acknowledge(counter.next())
    nowMs = 500
    counter.acknowledge(counter.next())
    expect(counter.bounds().least).toBe(0)
    nowMs = 1_200
    expect(counter.bounds().least).toBe(1)
    nowMs = 2_000
    const { least, most } = counter.bounds()
    expect([least, most(), counter.last()]).toEqual([2, 2, 2])
    // What was said while the database went away is heard when it is back.
    counter.acknowledge(counter.next())
    const isBack = ledger.begin('PostgreSQL')
    nowMs = 9_000
    expect(counter.bounds().least).toBe(2)
    isBack()
    nowMs = 13_000
    expect(counter.bounds().least).toBe(2)
    nowMs = 14_001
    expect(counter.bounds().least).toBe(3)
  })
})
