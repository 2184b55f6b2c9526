import type { Plan } from '../../config.ts'

/** One thing that is limited; together they are the header `RateLimit-Policy`. A bucket is a key id and a name. */
export type Policy =
  | { kind: 'rate'; name: string; quota: number; windowSeconds: number; burst: number; spacingMicros: number }
  /** Counted from midnight to midnight, UTC. */
  | { kind: 'day'; name: string; quota: number; windowSeconds: number }

/** What a key has of its own; null: as its plan says. */
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
