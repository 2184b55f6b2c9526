import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { openMemoryBuckets } from '../../server/access/limits/buckets.ts'
import { verdictOf, type LimitVerdict } from '../../server/access/limits/limiter.ts'
import { openPlans, ratePolicy, type Policy } from '../../server/access/limits/policies.ts'

const dayMs = 86_400_000
const daily = (quota: number): Policy => ({ kind: 'day', name: 'daily', quota, windowSeconds: 86_400 })
const rates = fc.record({ perMinute: fc.integer({ min: 1, max: 100_000 }), burst: fc.integer({ min: 1, max: 200 }) })
/** Mostly at once or close together, now and then after a long pause. */
const gapsMs = fc.array(fc.oneof(fc.constant(0), fc.nat(20), fc.nat(5_000), fc.nat(200_000)), {
  maxLength: 400,
  size: 'max',
})

type Call = { atMs: number; verdict: LimitVerdict }

function play(policies: Policy[], gaps: number[], startMs = 1_800_000_000_000): Call[] {
  let atMs = startMs
  const buckets = openMemoryBuckets(() => atMs)
  return gaps.map((gap) => {
    atMs += gap
    return { atMs, verdict: verdictOf(policies, buckets.take('key_1', policies)) }
  })
}

/** The textbook's token bucket, counted in microseconds of credit: another way to say what GCRA allows. */
function openTokenBucket({ perMinute, burst }: { perMinute: number; burst: number }) {
  const cost = BigInt(Math.round(60_000_000 / perMinute))
  const full = cost * BigInt(burst)
  let [credit, atMs] = [full, 0]
  return (nowMs: number): { allowed: boolean; remaining: number } => {
    credit += BigInt(nowMs - atMs) * 1_000n
    if (credit > full || atMs === 0) credit = full
    atMs = nowMs
    const allowed = credit >= cost
    if (allowed) credit -= cost
    return { allowed, remaining: Number(credit / cost) }
  }
}

describe('a rate', () => {
  test('lets through exactly what a token bucket lets through, and says the same of what is left', () => {
    fc.assert(
      fc.property(rates, gapsMs, (rate, gaps) => {
        const model = openTokenBucket(rate)
        for (const { atMs, verdict } of play([ratePolicy('default', rate)], gaps)) {
          const { waitSeconds, standings } = verdict
          expect({ allowed: waitSeconds === 0, remaining: standings[0]?.remaining }).toEqual(model(atMs))
        }
      }),
    )
  })

  test('lets through no more than the burst and what the time gives, in any stretch of time', () => {
    fc.assert(
      fc.property(rates, gapsMs, (rate, gaps) => {
        const passed = play([ratePolicy('default', rate)], gaps).filter(({ verdict }) => verdict.waitSeconds === 0)
        const spacingMs = Math.round(60_000_000 / rate.perMinute) / 1_000
        // One expectation for all stretches: tens of thousands of them would take most of the time.
        const tooMany = passed.flatMap((first, from) =>
          passed.slice(from).filter((last, more) => more + 1 > rate.burst + (last.atMs - first.atMs) / spacingMs),
        )
        expect(tooMany).toEqual([])
      }),
      { numRuns: 30 },
    )
  })

  test('is honest: who waits as long as told gets through, and whoever waits a second less does not', () => {
    fc.assert(
      fc.property(rates, gapsMs, (rate, gaps) => {
        let atMs = 1_800_000_000_000
        const buckets = openMemoryBuckets(() => atMs)
        const policies = [ratePolicy('default', rate)]
        const take = () => verdictOf(policies, buckets.take('key_1', policies)).waitSeconds
        for (const gap of gaps) {
          atMs += gap
          const waitSeconds = take()
          if (waitSeconds === 0) continue
          expect(Number.isInteger(waitSeconds)).toBe(true)
          if (waitSeconds > 1) {
            atMs += (waitSeconds - 1) * 1_000
            expect(take()).toBe(1)
            atMs += 1_000
          } else atMs += waitSeconds * 1_000
          expect(take()).toBe(0)
        }
      }),
    )
  })

  test('a plan made smaller counts at once, and nothing goes below zero', () => {
    let atMs = 1_800_000_000_000
    const buckets = openMemoryBuckets(() => atMs)
    const [large, small] = [
      ratePolicy('default', { perMinute: 60, burst: 50 }),
      ratePolicy('default', { perMinute: 60, burst: 5 }),
    ]
    for (let count = 0; count < 20; count += 1) buckets.take('key_1', [large])
    const verdict = verdictOf([small], buckets.take('key_1', [small]))
    expect(verdict).toMatchObject({ waitSeconds: 16, standings: [{ remaining: 0, resetSeconds: 20 }] })
    atMs += 16_000
    expect(verdictOf([small], buckets.take('key_1', [small])).waitSeconds).toBe(0)
  })
})

describe('a daily quota', () => {
  test('lets through its number of calls a day, counted from midnight UTC', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 20 }),
        fc.array(fc.nat(dayMs / 10), { maxLength: 200, size: 'max' }),
        (quota, gaps) => {
          const model = new Map<number, number>()
          for (const { atMs, verdict } of play([daily(quota)], gaps)) {
            const day = Math.floor(atMs / dayMs)
            const used = model.get(day) ?? 0
            const allowed = used < quota
            if (allowed) model.set(day, used + 1)
            expect(verdict.waitSeconds === 0).toBe(allowed)
            expect(verdict.standings[0]?.remaining).toBe(quota - (model.get(day) ?? 0))
            if (!allowed) expect(Math.floor((atMs + verdict.waitSeconds * 1_000) / dayMs)).toBe(day + 1)
          }
        },
      ),
    )
  })
})

describe('several policies', () => {
  test('a call that one of them refuses costs nothing in the others', () => {
    let atMs = 1_800_000_000_000
    const buckets = openMemoryBuckets(() => atMs)
    const policies = [ratePolicy('default', { perMinute: 60, burst: 2 }), daily(3)]
    const take = () => verdictOf(policies, buckets.take('key_1', policies))
    take()
    expect(take().standings.map(({ remaining }) => remaining)).toEqual([0, 1])
    expect(take()).toMatchObject({ waitSeconds: 1, standings: [{ remaining: 0 }, { remaining: 1 }] })
    atMs += 1_000
    expect(take()).toMatchObject({ waitSeconds: 0, standings: [{ remaining: 0 }, { remaining: 0 }] })
  })

  test('buckets are forgotten when they say nothing more, and only then', () => {
    let atMs = 1_800_000_000_000
    const buckets = openMemoryBuckets(() => atMs)
    const policies = [ratePolicy('default', { perMinute: 1, burst: 1 })]
    buckets.take('key_slow', policies)
    const brief = [ratePolicy('default', { perMinute: 600, burst: 1 })]
    for (let key = 0; key < 5_000; key += 1) {
      atMs += 1
      buckets.take(`key_${key}`, brief)
    }
    expect(verdictOf(policies, buckets.take('key_slow', policies)).waitSeconds).toBe(55)
  })
})

describe('plans', () => {
  const plans = openPlans(
    [
      { name: 'small', rate: { perMinute: 10, burst: 2 }, perDay: 100 },
      { name: 'none', rate: null, perDay: null },
    ],
    'small',
  )
  const own = (plan: string, rate: { perMinute: number; burst: number } | null = null, perDay: number | null = null) =>
    plans.policiesOf(plan, { rate, perDay }).map(({ name, quota }) => [name, quota])

  test('a key takes what it does not override from its plan', () => {
    expect(own('small')).toEqual([
      ['default', 10],
      ['daily', 100],
    ])
    expect(own('small', { perMinute: 5, burst: 5 })).toEqual([
      ['default', 5],
      ['daily', 100],
    ])
    expect(own('small', null, 7)).toEqual([
      ['default', 10],
      ['daily', 7],
    ])
    expect(own('none')).toEqual([])
    expect(own('none', null, 7)).toEqual([['daily', 7]])
  })

  test('a plan that is no longer configured counts as the default one', () => {
    expect(own('gone')).toEqual(own('small'))
    expect(plans.isKnown('gone')).toBe(false)
  })
})
