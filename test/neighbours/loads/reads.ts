import { authorizationRows } from '../../harness/authorization-rows.ts'
import type { MeasuredStage } from '../measured-stage.ts'
import { evaluationCases, fatProject, filledYear, releasedQueries, replacedVersions } from './given.ts'
import { longText, type Load, type Who } from './load.ts'
import { foreignBodies } from './hostile-bodies.ts'

/** Everything that is read, of a project that is full; and what every route is sent that has no load of its own. */

const project = '/v1/projects/:project_id'
const year = `from=${new Date(Date.now() - 365 * 86_400_000).toISOString()}&to=${new Date().toISOString()}`
const month = `from=${new Date(Date.now() - 30 * 86_400_000).toISOString()}&to=${new Date().toISOString()}`
const read = (name: string, route: string, search = '', more: Partial<Load> = {}): Load => ({
  name,
  kind: 'ordinary',
  route: `GET ${route}`,
  search,
  given: [releasedQueries, filledYear],
  ...more,
})
const fat = (route: string): string => route.replace(':project_id', ':fat_id')
const ofFat: Partial<Load> = { given: [fatProject] }

export const readLoads: Load[] = [
  read('the definition', `${project}/definition`, '', { bytes: 1_000_000 }),
  read('the definition with 2,000 cases', `${project}/definition`, '', { given: [evaluationCases], bytes: 1_300_000 }),
  read('the definition of 30 MB', fat(`${project}/definition`), '', { ...ofFat, bytes: 25_000_000 }),
  read('a page of queries', `${project}/queries`, '?limit=200', { bytes: 50_000 }),
  read('a page of queries of 500 long examples each', fat(`${project}/queries`), '?limit=200', {
    ...ofFat,
    bytes: 20_000,
  }),
  read('a query of 500 long examples', fat(`${project}/queries/:query_name`), '', {
    ...ofFat,
    ids: { query_name: 'fat_1' },
    bytes: 400_000,
  }),
  read('what is deployed', `${project}/deployments`, '?limit=200', { bytes: 10_000 }),
  read('the map of 1,000 queries and 120 keys', `${project}/map`, '', { bytes: 50_000 }),
  read('the OpenAPI document of 1,900 queries', `${project}/openapi.json`, '', { bytes: 5_000_000 }),
  read('the OpenAPI document of the service', '/v1/openapi.json', '', { bytes: 100_000 }),
  read('metrics over a year', `${project}/metrics`, `?${year}`, { bytes: 10_000 }),
  read('metrics of a key over a month', `${project}/metrics`, `?${month}&environment=production`),
  read(
    'metrics in a time zone of 62 letters that is none',
    `${project}/metrics`,
    `?time_zone=A/${'A-A-'.repeat(14)}A-A/`,
    {
      kind: 'hostile',
      status: 400,
    },
  ),
  read('metrics by query over a year', `${project}/metrics/queries`, `?${year}`, { bytes: 5_000 }),
  read('the timeline of a year', `${project}/timeline`, `?${year}`),
  read('releases', `${project}/releases`, '?limit=200'),
  read('a release of 1,900 queries', `${project}/releases/:release_id`, '', {
    given: [releasedQueries, listedIds],
    bytes: 50_000,
  }),
  read('requests of a page', `${project}/requests`, '?limit=200'),
  read('jobs of a page', `${project}/jobs`, '?limit=200'),
  read('120 keys', '/v1/api-keys', '?limit=200', { bytes: 20_000 }),
  read('the audit log', '/v1/audit', '?limit=200', { bytes: 50_000 }),
  read('the audit log of 100,000 entries as a file', '/v1/audit/export', '', { bytes: 20_000_000 }),
  read('what may be chosen of the audit log', '/v1/audit/choices'),
  read('a search in the audit log', '/v1/audit', '?limit=200&target=draft'),
  read('evaluation cases', `${project}/evaluations`, '?limit=200', { given: [evaluationCases], bytes: 10_000 }),
  read(
    'the diff of two versions that share none of 5,500 lines',
    `${project}/queries/:query_name/diff`,
    '?from=1&to=2',
    {
      kind: 'hostile',
      given: [replacedVersions],
      ids: { query_name: 'replaced' },
      bytes: 100_000,
    },
  ),
  read('rows of a table', `${project}/data-objects/:data_object_id/rows`, '?limit=1000', { given: [listedIds] }),
  read('a key’s use over a year', '/v1/api-keys/:key_id/usage', `?${year}`, { given: [filledYear, listedIds] }),
  read('metrics, where the service is asked', '/metrics', '', { given: [releasedQueries] }),
  read('the page to sign in', '/sign-in', '', { as: 'nobody' }),
  read('the page that lets a client in', '/oauth/authorize', `?state=${'s'.repeat(8_000)}`, {
    as: 'nobody',
    kind: 'hostile',
  }),
  read('an address of 8,000 letters', `${project}/requests`, `?query=${longText(8_000, () => 'q')}`, {
    kind: 'hostile',
    status: 400,
  }),
]

/** The first of every list, as ids of the paths that name one. */
export async function listedIds({
  installation: { manage },
  ids,
  project: { projectId },
}: MeasuredStage): Promise<void> {
  const lists = {
    release_id: 'releases',
    data_object_id: 'data-objects',
    job_id: 'jobs',
    request_id: 'requests',
    alert_id: 'alerts',
    evaluation_id: 'evaluations',
    run_id: 'evaluations/runs',
    replay_id: 'replays',
    view_id: 'views',
  }
  for (const [id, page] of Object.entries(lists)) {
    const { data = [] } = (await manage('GET', `/v1/projects/${projectId}/${page}`)) as {
      data?: Array<{ id?: string; request_id?: string }>
    }
    ids[id] = data[0]?.id ?? data[0]?.request_id ?? 'none'
  }
  // One that nobody calls with: loads disable and replace it.
  const permissions = [{ project_id: projectId, environments: '*' }]
  ids['key_id'] = String((await manage('POST', '/v1/api-keys', { name: 'spare', permissions }))['id'])
}

const callers: Partial<Record<string, Who>> = {
  open: 'nobody',
  'any-client': 'nobody',
  'any-key': 'key',
  'key-of-project': 'key',
  person: 'person',
  'owner-in-person': 'person',
  'editor-in-person': 'person',
}
const ruleOf = (route: string): string => [authorizationRows[route]].flat()[0]?.rule ?? ''
const whoOf = (route: string): Who => callers[ruleOf(route)] ?? 'operator'

/** Everything else that takes a body gets what no schema takes. */
export function remainingBodies(loads: Load[]): Load[] {
  const measured = new Set(loads.map(({ route }) => route))
  return Object.keys(authorizationRows)
    .filter((route) => /^(POST|PUT|PATCH) /.test(route) && !measured.has(route))
    .map((route) => ({ ...foreignBodies(route, whoOf(route)), given: [listedIds] }))
}

/** Everything else that is read; what the project has nothing of answers 404. */
export function remainingReads(loads: Load[]): Load[] {
  const measured = new Set(loads.map(({ route }) => route))
  return Object.entries(authorizationRows)
    .filter(([route, rows]) => route.startsWith('GET ') && !measured.has(route) && [rows].flat()[0]?.stream !== true)
    .map(([route, rows]) => ({
      ...read(route, route.slice('GET '.length), ([rows].flat()[0]?.search ?? '').replace(':project_id', 'none')),
      given: [releasedQueries, filledYear, listedIds],
      as: whoOf(route),
      status: 'answered' as const,
    }))
}
