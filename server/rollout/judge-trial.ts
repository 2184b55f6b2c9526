import type { TrialRules } from '../store/index.ts'

/** Figures of a version over a span of time. */
export type SeenVersion = { calls: number; errors: number; p95Ms: number | null }

/** A query of a trial, on the version that is tried out and on the one that it is to replace. */
export type QueryFigures = { query: string; after: SeenVersion; before: SeenVersion }

/** How many calls were compared, how many of them differ or fail, and how many found no room. */
export type Compared = { calls: number; different: number; dropped: number }

/** Why a trial must be taken back; null where nothing speaks against it. */
export function judgeTrial({ rollBackOn }: TrialRules, queries: QueryFigures[], compared: Compared): string | null {
  if (rollBackOn === null) return null
  const { errorRate, p95Factor, differences, minCalls } = rollBackOn
  for (const { query, after, before } of queries) {
    if (errorRate !== null && after.calls >= minCalls) {
      const more = shareOf(after) - shareOf(before)
      if (more > errorRate)
        return `${percent(shareOf(after))} of the calls of ${query} fail, ${percent(shareOf(before))} do on the version before.`
    }
    if (p95Factor !== null && after.calls >= minCalls && before.calls >= minCalls) {
      const [slow, usual] = [after.p95Ms ?? 0, before.p95Ms ?? 0]
      if (slow > p95Factor * usual) return `The p95 of ${query} is ${ms(slow)}, ${ms(usual)} on the version before.`
    }
  }
  if (differences !== null && compared.calls >= minCalls && compared.different > differences * compared.calls) {
    return `${compared.different} of ${compared.calls} compared calls differ.`
  }
  return null
}

/** Whether enough was seen to go on. Where nothing can take it back, nothing need be seen. */
export function hasSeenEnough({ rollBackOn }: TrialRules, queries: QueryFigures[]): boolean {
  if (rollBackOn === null) return true
  return queries.reduce((sum, { after }) => sum + after.calls, 0) >= rollBackOn.minCalls
}

function shareOf({ calls, errors }: SeenVersion): number {
  return calls === 0 ? 0 : errors / calls
}

function percent(share: number): string {
  return `${Math.round(share * 1_000) / 10} %`
}

function ms(value: number): string {
  return `${Math.round(value * 10) / 10} ms`
}
