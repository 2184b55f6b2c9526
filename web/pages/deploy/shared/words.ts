import type { DeployReport, HistoryEntry } from './wire.ts'

/** `column orders is new` as what the change does: `Adds column orders`. */
export function sayChange(message: string): string {
  const known: Array<[RegExp, string]> = [
    [/^(column|slot) (\S+) is new$/, 'Adds $1 $2'],
    [/^(column|slot) (\S+) is gone$/, 'Removes $1 $2'],
    [/^(column|slot) (\S+) was (.+) and is (.+)$/, 'Changes $1 $2 from $3 to $4'],
  ]
  for (const [pattern, words] of known) if (pattern.test(message)) return message.replace(pattern, words)
  return message.charAt(0).toUpperCase() + message.slice(1)
}

/** The effect of the change on callers. */
export function sayCompatibility({ compatibility, changes, environment }: DeployReport): string {
  if (compatibility === 'first')
    return `Nothing answers under this name in ${environment} yet, so no caller is affected.`
  if (compatibility === 'breaking') return 'Existing callers would break.'
  return changes.length === 0
    ? 'Callers notice no difference in columns and slots.'
    : 'Existing callers keep their columns and slots.'
}

/** Questions on record that were asked again, before the change or, where it is past, at that time. */
export function sayRouting(
  { routing: { checked, regressions } }: Pick<DeployReport, 'routing'>,
  isAhead = true,
): string {
  if (checked === 0) return `No questions ${isAhead ? 'are' : 'were'} on record that could be routed differently.`
  const asked = checked === 1 ? '1 test question' : `${checked} test questions`
  if (regressions.length === 0) return `${asked}: same results as before.`
  return `${asked}: ${regressions.length} ${isAhead ? 'would be' : 'went to be'} answered by another query, or by none.`
}

/** The fate of the questions that it answers once it is undeployed. */
export function sayLosses({ routing: { checked, regressions } }: Pick<DeployReport, 'routing'>): string {
  if (checked === 0) return 'No questions are on record that it answers.'
  const asked = checked === 1 ? 'The question' : `The ${checked} questions`
  if (regressions.length === 0)
    return `${asked} on record for it would go where ${checked === 1 ? 'it goes' : 'they go'} today.`
  const refused = regressions.filter(({ taken_by: takenBy }) => takenBy === null).length
  const moved = regressions.length - refused
  const parts = [
    ...(refused > 0 ? [`${refused} would be refused`] : []),
    ...(moved > 0 ? [`${moved} would go to another query`] : []),
  ]
  return `${asked} on record for it ${checked === 1 ? 'was' : 'were'} asked as if it were gone: ${parts.join(', ')}.`
}

/** An act as the end of a sentence that begins with who did it. */
export function sayAct({ act, version, previous_version: before, environment }: HistoryEntry): string {
  const instead = before === null || before === version ? '' : ` instead of version ${before}`
  switch (act) {
    case 'deploy':
      return `deployed version ${version} to ${environment}${instead}`
    case 'promote':
      return `promoted version ${version} to ${environment}${instead}`
    case 'rollback':
      return `rolled ${environment} back to version ${version}${before === null ? '' : ` from ${before}`}`
    case 'undeploy':
      return `undeployed version ${before ?? version} from ${environment}`
    default:
      return act satisfies never
  }
}

export function sayMs(ms: number | null): string {
  if (ms === null) return 'none'
  return ms >= 10_000 ? `${(ms / 1000).toFixed(1)}\u00A0s` : `${ms.toFixed(ms < 10 ? 1 : 0)}\u00A0ms`
}

/** A share from 0 to 1. */
export function sayShare(share: number): string {
  const percent = share * 100
  return `${percent === 0 || percent >= 10 ? percent.toFixed(0) : percent.toFixed(1)} %`
}

/** How much more or less than before; nothing where there was nothing to compare with. `then` is the time before. */
export function sayGrowth(now: number, before: number | undefined, then: string): string {
  if (before === undefined || before === 0) return ''
  const percent = Math.round((now / before - 1) * 100)
  if (percent === 0) return `as many as ${then}`
  if (percent >= 1000) return `${Math.round(now / before).toLocaleString('en')} times as many as ${then}`
  return `${percent > 0 ? '+' : '−'}${Math.abs(percent).toLocaleString('en')} % on ${then}`
}
