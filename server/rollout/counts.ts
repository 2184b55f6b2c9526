import type { ReplayCounts, ReplayOutcome } from '../store/index.ts'
import type { ComparedCall, Ran } from './run-call.ts'

/** Outcomes of calls, by query. */
export type CountsByQuery = Record<string, ReplayCounts>

export function noCounts(): ReplayCounts {
  return {
    equal: 0,
    reordered: 0,
    different: 0,
    failed: 0,
    unstable: 0,
    skipped: 0,
    dropped: 0,
    beforeMs: 0,
    afterMs: 0,
    beforeBytes: 0,
    afterBytes: 0,
    columns: {},
  }
}

/** Adds a call to the counts of its query. */
export function addComparedCall(
  counts: CountsByQuery,
  query: string,
  { outcome, before, after, comparison }: ComparedCall,
): void {
  const own = (counts[query] ??= noCounts())
  own[outcome] += 1
  const [was, is] = [measured(before), measured(after)]
  // Times and sizes are of calls that both answered, so that they can be compared.
  if (was !== null && is !== null) {
    own.beforeMs += was.elapsedMs
    own.afterMs += is.elapsedMs
    own.beforeBytes += was.bytes
    own.afterBytes += is.bytes
  }
  if (outcome !== 'different' || comparison === null) return
  for (const column of Object.keys(comparison.changedColumns)) own.columns[column] = (own.columns[column] ?? 0) + 1
}

export function addCounts(left: ReplayCounts, right: ReplayCounts): ReplayCounts {
  const columns = { ...left.columns }
  for (const [column, calls] of Object.entries(right.columns)) columns[column] = (columns[column] ?? 0) + calls
  const sum = noCounts()
  for (const name of numbers) sum[name] = left[name] + right[name]
  return { ...sum, columns }
}

export function totalOf(counts: CountsByQuery): ReplayCounts {
  return Object.values(counts).reduce(addCounts, noCounts())
}

/** Calls that were run and compared. */
export function comparedCalls(counts: ReplayCounts): number {
  return outcomes.reduce((sum, outcome) => sum + counts[outcome], 0)
}

const outcomes = ['equal', 'reordered', 'different', 'failed', 'unstable', 'skipped'] as const satisfies ReplayOutcome[]
const numbers = [...outcomes, 'dropped', 'beforeMs', 'afterMs', 'beforeBytes', 'afterBytes'] as const

function measured(ran: Ran | null): Exclude<Ran, { error: unknown }> | null {
  return ran === null || 'error' in ran ? null : ran
}

const words: Partial<Record<ReplayOutcome, string>> = {
  reordered: 'with the same rows in another order',
  failed: 'failing on the new version',
  unstable: 'not answered twice alike by the old one either',
  skipped: 'that could not be compared',
}

/** As people read it: of 1,000 calls 998 equal, 2 different in revenue. */
export function sayCounts(counts: ReplayCounts): string {
  const calls = comparedCalls(counts)
  if (calls === 0) return 'No recorded call was run.'
  const parts = [`${number(counts.equal)} equal`]
  if (counts.different > 0) parts.push(`${number(counts.different)} different${inColumns(counts.columns)}`)
  for (const [outcome, label] of Object.entries(words) as Array<[ReplayOutcome, string]>) {
    if (counts[outcome] > 0) parts.push(`${number(counts[outcome])} ${label}`)
  }
  return `Of ${number(calls)} ${calls === 1 ? 'call' : 'calls'} ${parts.join(', ')}.`
}

function inColumns(columns: Record<string, number>): string {
  const names = Object.entries(columns)
    .toSorted(([, left], [, right]) => right - left)
    .map(([name]) => name)
  if (names.length === 0) return ''
  const shown = names.slice(0, 5).join(', ')
  return ` in ${shown}${names.length > 5 ? ` and ${names.length - 5} more columns` : ''}`
}

function number(value: number): string {
  return value.toLocaleString('en')
}
