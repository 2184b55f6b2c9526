import { endAfter } from '../../parts/form/lifetimes.ts'
import { readFixed, showFixed, type Fixed } from './fixed-parameters.tsx'
import { grantedOf, permissionsOf, type Granted } from './granted.ts'
import type { ApiKey, ChangeApiKey, NewApiKey } from '../deploy/shared/wire.ts'

/** The end of a key that is changed in other respects. */
export const asItIs = 'keep'

/**
 * A key as it stands in the form. `granted` is null where a key has permissions that the boxes cannot say: then they
 * stay as they are. An empty limit is the plan's.
 */
export type KeyValues = {
  name: string
  lifetimeDays: string
  plan: string
  perMinute: number | string
  burst: number | string
  perDay: number | string
  granted: Granted | null
  fixed: Fixed[]
  tags: string[]
}

export function emptyKey(projectId: string): KeyValues {
  return {
    name: '',
    lifetimeDays: '',
    plan: '',
    perMinute: '',
    burst: '',
    perDay: '',
    granted: { [projectId]: { environments: ['production'], queries: null } },
    fixed: [],
    tags: [],
  }
}

export function valuesOf(key: ApiKey): KeyValues {
  return {
    name: key.name,
    lifetimeDays: key.expires_at === null ? '' : asItIs,
    plan: key.plan,
    perMinute: key.rate_limit?.per_minute ?? '',
    burst: key.rate_limit?.burst ?? '',
    perDay: key.daily_quota ?? '',
    granted: grantedOf(key.permissions),
    fixed: showFixed(key.fixed_parameters),
    tags: key.tags,
  }
}

export function newKeyOf(values: KeyValues): NewApiKey {
  const { name, lifetimeDays, plan, granted, fixed, tags } = values
  const { rate_limit: rate, daily_quota: quota } = ownLimitsOf(values)
  return {
    name,
    permissions: permissionsOf(granted ?? {}),
    ...(plan !== '' && { plan }),
    ...(rate !== null && { rate_limit: rate }),
    ...(quota !== null && { daily_quota: quota }),
    ...(lifetimeDays !== '' && { expires_at: endAfter(Number(lifetimeDays)) }),
    ...(fixed.length > 0 && { fixed_parameters: readFixed(fixed) }),
    ...(tags.length > 0 && { tags }),
  }
}

export function changesOf(values: KeyValues): ChangeApiKey {
  const { name, lifetimeDays, plan, granted, fixed, tags } = values
  return {
    name,
    tags,
    ...ownLimitsOf(values),
    ...(plan !== '' && { plan }),
    ...(granted !== null && { permissions: permissionsOf(granted) }),
    ...(lifetimeDays !== asItIs && { expires_at: lifetimeDays === '' ? null : endAfter(Number(lifetimeDays)) }),
    fixed_parameters: readFixed(fixed),
  }
}

/** A key without a burst may make the calls of a minute at once. */
function ownLimitsOf({ perMinute, burst, perDay }: KeyValues) {
  const rate =
    perMinute === '' ? null : { per_minute: Number(perMinute), burst: Number(burst === '' ? perMinute : burst) }
  return { rate_limit: rate, daily_quota: perDay === '' ? null : Number(perDay) }
}
