import type { Config, Plan } from '../../config.ts'
import { Failure, type FailureDetail } from '../../failure.ts'
import type { Caller } from '../people/caller.ts'
import type { KeyRow } from './record.ts'

/** How much a key may do: its plan, and what it has instead of the plan's limits. */
export type Grant = { plan: string; rate: Plan['rate']; perDay: number | null }

type Plans = Pick<Config, 'plans' | 'ownerPlans' | 'defaultPlan'>

/** The plans that a caller may give to a key; those without a limit are an administrator's, unless configured. */
export function grantablePlans(config: Plans, caller: Caller): Plan[] {
  const { plans, ownerPlans, defaultPlan } = config
  if (maySetAnyLimit(caller)) return plans
  const isOwners = ({ name, rate, perDay }: Plan): boolean =>
    ownerPlans.length === 0 ? rate !== null || perDay !== null : ownerPlans.includes(name)
  return plans.filter((plan) => plan.name === defaultPlan || isOwners(plan))
}

/** An owner gives a plan that is theirs to give, and own limits no larger than the plan's. */
export function requireGrantable(config: Plans, caller: Caller, { plan: name, rate, perDay }: Grant): void {
  if (maySetAnyLimit(caller)) return
  const plans = grantablePlans(config, caller)
  const plan = plans.find((each) => each.name === name)
  const details: FailureDetail[] = []
  if (plan === undefined) {
    const names = plans.map((each) => each.name).join(', ')
    details.push({ field: 'plan', message: `may be one of ${names}; an administrator gives others` })
  } else {
    const { rate: most, perDay: maxPerDay } = plan
    const isFaster = rate !== null && most !== null && (rate.perMinute > most.perMinute || rate.burst > most.burst)
    if (isFaster) {
      const message = `may be at most the plan's ${most.perMinute} a minute, ${most.burst} at once`
      details.push({ field: 'rate_limit', message })
    }
    if (perDay !== null && maxPerDay !== null && perDay > maxPerDay) {
      details.push({ field: 'daily_quota', message: `may be at most the plan's ${maxPerDay}` })
    }
  }
  if (details.length === 0) return
  throw new Failure('permission_denied', {
    reason: 'role_too_small',
    message: 'This gives an API key more than owners may give. Ask an administrator.',
    details,
  })
}

type Changes = { [Name in keyof Grant]?: Grant[Name] | undefined }

/** A limit set by an administrator stays through changes of other things, and is not raised. */
export function requireGrantableChange(
  config: Plans,
  caller: Caller,
  { key: before, changes }: { key: KeyRow; changes: Changes },
): void {
  const after: Grant = {
    plan: changes.plan ?? before.plan,
    rate: changes.rate === undefined ? before.rate : changes.rate,
    perDay: changes.perDay === undefined ? before.perDay : changes.perDay,
  }
  const isSame =
    after.plan === before.plan &&
    after.perDay === before.perDay &&
    after.rate?.perMinute === before.rate?.perMinute &&
    after.rate?.burst === before.rate?.burst
  if (!isSame) requireGrantable(config, caller, after)
}

/** True for administrators of the installation, and for tokens that may do everything their administrator may. */
function maySetAnyLimit(caller: Caller): boolean {
  if (caller.kind === 'user') return caller.administrator
  if (caller.kind !== 'token') return true
  const isWhole = caller.projectId === null && caller.role === 'owner'
  return isWhole && (caller.maker === null || caller.maker.administrator)
}
