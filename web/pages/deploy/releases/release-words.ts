import { sayRouting } from '../shared/words.ts'
import type { Release, ReleaseEntry } from '../shared/wire.ts'

/** How many queries, in words. */
export function sayQueries(count: number): string {
  return count === 1 ? '1 query' : `${count.toLocaleString('en')} queries`
}

/** A release as the end of a sentence that begins with who made it. */
export function sayRelease({
  act,
  query_count: count,
  query_names: names,
  promoted_from: from,
  environment,
}: Pick<ReleaseEntry, 'act' | 'query_count' | 'query_names' | 'promoted_from' | 'environment'>): string {
  const what = count === 1 ? (names[0] ?? '1 query') : sayQueries(count)
  switch (act) {
    case 'release':
    case 'deploy':
      return `released ${what} to ${environment}`
    case 'promote':
      return `promoted ${what} from ${from ?? 'another environment'} to ${environment}`
    case 'rollback':
      return `rolled ${what} back in ${environment}`
    case 'undeploy':
      return `took ${what} out of ${environment}`
    default:
      return act satisfies never
  }
}

/** From which version to which; null is nothing there. */
export function sayVersions({
  version,
  previous_version: before,
}: Pick<Release['queries'][number], 'version' | 'previous_version'>): string {
  if (version === null) return before === null ? 'not there' : `v${before} goes`
  return before === null ? `v${version}, new here` : before === version ? `v${version}` : `v${before} → v${version}`
}

/** What the release means, or meant, for those who call its queries. */
export function sayMeaning({ status, queries, environment }: Release): string {
  const isAhead = status === 'checked'
  const broken = queries.filter(({ compatibility }) => compatibility === 'breaking').length
  if (broken > 0)
    return isAhead ? `Callers of ${sayQueries(broken)} would break.` : `It broke callers of ${sayQueries(broken)}.`
  const isFirst = queries.every(({ compatibility }) => compatibility === 'first')
  if (!isFirst) return isAhead ? 'Existing callers are unaffected.' : 'Callers that were there were unaffected.'
  return isAhead
    ? `Nothing answers under these names in ${environment} yet, so no caller is affected.`
    : `Nothing answered under these names in ${environment} before, so no caller was affected.`
}

export function sayQuestions({ routing }: Release): string {
  return sayRouting({ routing })
}

/** What the server refuses unless it is forced. */
export function isRefusedRelease({ queries, routing }: Release): boolean {
  return queries.some(({ compatibility }) => compatibility === 'breaking') || routing.regressions.length > 0
}
