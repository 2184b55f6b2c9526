import type { Plan } from '../../config.ts'

/** One thing that is limited; together they are the header `RateLimit-Policy`. A bucket is a key id and a name. */
export type Policy =
  | { kind: 'rate'; name: string; quota: number; windowSeconds: number; burst: number; spacingMicros: number }
  /** Counted from midnight to midnight, UTC. */
  | { kind: 'day'; name: string; quota: number; windowSeconds: number }

/** Limits of the key itself; null: as its plan says. */
type Overrides = { rate: { perMinute: number; burst: number } | null; perDay: number | null }

export type Plans = {
  isKnown(name: string): boolean
  /** A plan that is configured no longer counts as the default one. Keys of one plan share one list. */
  policiesOf(plan: string, overrides: Overrides): readonly Policy[]
}

export const dailyName = 'daily'
const minuteMicros = 60_000_000

export function ratePolicy(name: string, { perMinute, burst }: { perMinute: number; burst: number }): Policy {
  const spacingMicros = Math.round(minuteMicros / perMinute)
  return { kind: 'rate', name, quota: perMinute, windowSeconds: 60, burst, spacingMicros }
}

export function openPlans(table: Plan[], defaultPlan: string): Plans {
  const shared = new Map(table.map((plan) => [plan.name, { plan, policies: policiesFrom(plan) }]))
  return {
    isKnown: (name) => shared.has(name),
    policiesOf(name, { rate, perDay }) {
      const found = shared.get(name) ?? shared.get(defaultPlan)
      if (found === undefined) throw new Error(`The default plan ${defaultPlan} is in no table.`)
      if (rate === null && perDay === null) return found.policies
      return policiesFrom({ rate: rate ?? found.plan.rate, perDay: perDay ?? found.plan.perDay })
    },
  }
}

function policiesFrom({ rate, perDay }: Overrides): readonly Policy[] {
  const policies: Policy[] = []
  if (rate !== null) policies.push(ratePolicy('default', rate))
  if (perDay !== null) policies.push({ kind: 'day', name: dailyName, quota: perDay, windowSeconds: 86_400 })
  return policies
}

/**
 * The state of a bucket is one number: the microsecond until which it matters; 0 or any time past means untouched.
 * A rate keeps the theoretical arrival time of the next call (GCRA). A day's quota keeps the end of the day, plus one
 * for every call. Whole microseconds, so that sums are exact and whoever waits as long as told gets through.
 */
export type BucketState = number

const dayMicros = 86_400_000_000

/** The same standing by a clock that was set back: nobody waits for as long as it was moved. */
export function shifted(
  kind: Policy['kind'],
  state: BucketState,
  { from, to }: { from: number; to: number },
): BucketState {
  return kind === 'day' ? endOfDay(to) + usedToday(state, from) : state - from + to
}

/**
 * How long until this bucket lets a call through; 0: now. A call of weight three is one that stands for three: of as
 * many processes that count alone each sees a third of them.
 */
export function waitMicros(policy: Policy, state: BucketState, nowMicros: number, weight = 1): number {
  if (policy.kind === 'day') {
    const used = usedToday(state, nowMicros)
    return used === 0 || used + weight <= policy.quota ? 0 : endOfDay(nowMicros) - nowMicros
  }
  const spacing = policy.spacingMicros * weight
  const arrival = Math.max(state, nowMicros) + spacing
  // However small the burst, one at a time gets through.
  return Math.max(0, arrival - nowMicros - Math.max(policy.burst * policy.spacingMicros, spacing))
}

/** The state after a call that was let through. */
export function spend(policy: Policy, state: BucketState, nowMicros: number, weight = 1): BucketState {
  if (policy.kind === 'rate') return Math.max(state, nowMicros) + policy.spacingMicros * weight
  return endOfDay(nowMicros) + usedToday(state, nowMicros) + weight
}

/** How many calls would be let through at once, and how long until as many as ever. */
export function standingOf(
  policy: Policy,
  state: BucketState,
  nowMicros: number,
): { remaining: number; resetMicros: number } {
  if (policy.kind === 'day') {
    const remaining = Math.max(0, policy.quota - usedToday(state, nowMicros))
    return { remaining, resetMicros: endOfDay(nowMicros) - nowMicros }
  }
  const debtMicros = Math.max(0, state - nowMicros)
  // A plan that was made smaller leaves a debt above its burst.
  const remaining = Math.max(0, Math.floor(policy.burst - debtMicros / policy.spacingMicros))
  return { remaining, resetMicros: debtMicros }
}

function endOfDay(nowMicros: number): number {
  return nowMicros - (nowMicros % dayMicros) + dayMicros
}

/** The state of an earlier day ends before today does, and counts as nothing. */
function usedToday(state: BucketState, nowMicros: number): number {
  return Math.max(0, state - endOfDay(nowMicros))
}
