import type { Release, ReleaseEntry } from '../deploy/shared/wire.ts'

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

/** Changes that the server refuses unless they are forced. */
export function isRefusedRelease({ queries, routing }: Release): boolean {
  return queries.some(({ compatibility }) => compatibility === 'breaking') || routing.regressions.length > 0
}
