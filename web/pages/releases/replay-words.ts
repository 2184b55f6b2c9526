import { sayCount, saySize } from '../../text/words.ts'
import { sayMs } from '../deploy/shared/words.ts'
import type { Replay, ReplayCall, ReplayOutcome } from '../deploy/shared/wire.ts'

/** Outcomes that have calls to open, those that somebody must look at first. */
export const outcomes = ['failed', 'different', 'unstable', 'skipped', 'reordered'] as const satisfies ReplayOutcome[]

export const outcomeWords: Record<ReplayOutcome, string> = {
  failed: 'Fails',
  different: 'Differs',
  unstable: 'Unstable',
  skipped: 'Not compared',
  reordered: 'Other order',
  equal: 'Equal',
}

/** The version of one side; null is the draft. */
export function saySide(version: number | null): string {
  return version === null ? 'the draft' : `version ${version}`
}

type Compared = Pick<ReplayCall, 'comparison' | 'before' | 'after' | 'outcome' | 'because'>

/** The comparison of the rows, in one sentence. */
export function sayComparison({ comparison, before, after, outcome, because }: Compared): string {
  if (because !== null) return because
  if (outcome === 'failed') return 'The new version fails where the old one answers.'
  if (comparison === null) {
    return before !== null && 'error' in before && after !== null && !('error' in after)
      ? 'The new version answers where the old one fails.'
      : 'The results were not compared row by row.'
  }
  if (outcome === 'reordered') return 'The same rows, in another order.'
  const { changed, added, removed, key } = comparison
  if (changed === null || added === null || removed === null) {
    return 'The rows differ. The results are too large to say which.'
  }
  const parts = [
    ...(changed > 0 ? [`${sayCount(changed, 'row')} changed`] : []),
    ...(added > 0 ? [`${sayCount(added, 'row')} more`] : []),
    ...(removed > 0 ? [`${sayCount(removed, 'row')} gone`] : []),
  ]
  if (parts.length === 0) return 'The rows are the same in the columns that both have.'
  // One row beside one needs no column to be found by.
  const by = key === null || key.length === 0 ? '' : `, found again by ${key.join(', ')}`
  return `${parts.join(', ')}${by}.`
}

/** Columns that only one of the two has, or that have another type. */
export function sayColumns({ comparison }: ReplayCall): string[] {
  if (comparison === null) return []
  const { added, removed, retyped } = comparison.columns
  return [
    ...added.map((name) => `Column ${name} is new`),
    ...removed.map((name) => `Column ${name} is gone`),
    ...retyped.map(({ name, before, after }) => `Column ${name} was ${before} and is ${after}`),
  ]
}

type Measured = Pick<Replay, 'before_ms' | 'after_ms' | 'before_bytes' | 'after_bytes'>

/** Time and size on the old version and on the new one; nothing where no call was answered by both. */
export function sayCost(sums: Measured): { time: string; size: string } | null {
  if (sums.before_bytes === 0 && sums.after_bytes === 0) return null
  return {
    time: `${sayMs(sums.before_ms)} → ${sayMs(sums.after_ms)}`,
    size: `${saySize(sums.before_bytes)} → ${saySize(sums.after_bytes)}`,
  }
}

/** The key first, then what changed, then the rest: what a row is known by and what matters stand on the left. */
export function columnsOf({ comparison }: ReplayCall): string[] {
  if (comparison === null) return []
  const changed = Object.keys(comparison.changed_columns)
  const seen = comparison.sample.flatMap(({ before, after }) => Object.keys({ ...before, ...after }))
  return [...new Set([...(comparison.key ?? []), ...changed, ...seen])]
}
