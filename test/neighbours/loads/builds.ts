import { cases, drafts, emptyProject, evaluationCases, fatDrafts, named, releasedQueries } from './given.ts'
import { invitedBy } from '../measured-stage.ts'
import { longText, type Ids, type Load } from './load.ts'

/** What authors save, check and release. */

const project = '/v1/projects/:project_id'
const build = (name: string, route: string, body: Load['body'], more: Partial<Load> = {}): Load => ({
  name,
  kind: 'ordinary',
  route,
  ...(body !== undefined && { body }),
  ...more,
})
const intoEmpty: Partial<Load> = { before: async (stage) => emptyProject(stage) }
const empty = (route: string) => route.replace(':project_id', ':empty_id')
const defined = (more = '') => ({ definition: 1, queries: drafts(more) })
const definition = `PUT ${project}/definition`

const definitions: Load[] = [
  build('definition of 1,900 queries, checked', empty(definition), defined(), { ...intoEmpty, search: '?check=true' }),
  build('definition of 1,900 queries, put', empty(definition), defined(), intoEmpty),
  build(
    'definition of 1,900 queries, put with a change in each',
    definition,
    ({ attempt }: Ids) => defined(` + ${attempt}`),
    {
      given: [releasedQueries],
      search: '?prune=false&check=true',
    },
  ),
  build(
    'definition of 30 MB, 60 queries of 500 long examples, put',
    empty(definition),
    { definition: 1, queries: fatDrafts(60) },
    intoEmpty,
  ),
  build(
    'definition of 30 MB, which is refused in its last query',
    definition,
    { definition: 1, queries: [...drafts(`, '${'a'.repeat(15_000)}'`), { name: 'No name' }] },
    { status: 400 },
  ),
  build(
    'definition of 500 variables and 500 connections',
    empty(definition),
    {
      definition: 1,
      variables: Array.from({ length: 500 }, (_, at) => ({ name: `variable_${at}`, value: 'v"'.repeat(4_000) })),
      connections: Array.from({ length: 400 }, (_, at) => ({
        table_name: `table_${at}`,
        config: { url: `https://api.example/${at}`, method: 'GET' },
      })),
    },
    intoEmpty,
  ),
  build(
    '2,000 evaluation cases, put',
    empty(definition),
    { definition: 1, evaluations: cases.map(({ question }) => ({ question, expected_query: null })) },
    intoEmpty,
  ),
]

const released = (name: string, body: object): Load =>
  build(
    name,
    `POST ${project}/releases`,
    { environment: 'staging', queries: named, ...body },
    { given: [releasedQueries] },
  )
const releases: Load[] = [
  released('release of 1,900 queries, checked', { check: true }),
  {
    ...released('release of 1,900 queries', { force: true }),
    route: `POST ${empty(project)}/releases`,
    before: async (stage) => {
      await emptyProject(stage)
      const path = `/v1/projects/${stage.ids['empty_id']}/definition`
      await stage.installation.manage('PUT', path, defined())
    },
  },
  build(
    'promote of 1,900 queries, checked',
    `POST ${project}/promote`,
    { from: 'production', to: 'development', check: true },
    { given: [releasedQueries] },
  ),
  build(
    'an evaluation of 2,000 cases',
    `POST ${project}/evaluations/run`,
    { environment: 'production' },
    { given: [evaluationCases], status: 201 },
  ),
]

/** As long as SQL may be, and of the two shapes that are long in life: many values, and many columns. */
const longSql = `SELECT id FROM orders WHERE id IN (${longText(99_000, (index) => `${index + 10_000},`)} 1)`
const wideSql = `SELECT ${longText(40_000, (index) => `id + ${index} AS column_${index}, `)} id FROM orders`
const deepSql = `SELECT ${"'aaaaaaaa' || ".repeat(6_000)} 'b' AS n`
const fiftySlots = Object.fromEntries(
  Array.from({ length: 50 }, (_, at) => [
    `s${at}`,
    {
      type: 'string',
      description: 'd'.repeat(1_000),
      enum: Array.from({ length: 200 }, (_, nr) => `${at} choice ${nr}`),
    },
  ]),
)
const ofFifty = `SELECT ${Array.from({ length: 50 }, (_, at) => `$s${at} AS c${at}`).join(', ')} FROM orders`
const queries: Load[] = [
  build('a look at SQL that is as long as it may be', `POST ${project}/queries/inspect`, { sql: longSql }),
  build('a preview of SQL that is as long as it may be', `POST ${project}/queries/run`, { sql: longSql }),
  build('a preview of SQL of a thousand columns', `POST ${project}/queries/run`, { sql: wideSql }),
  build(
    'a query of SQL that is as long as it may be, saved',
    `POST ${project}/queries`,
    ({ attempt }: Ids) => ({ name: `long_${attempt}`, sql: longSql }),
    { status: 201 },
  ),
  build(
    'a query of 500 examples of 1,000 letters, saved',
    `POST ${project}/queries`,
    ({ attempt }: Ids) => ({ ...fatDrafts(1)[0], name: `fat_${attempt}` }),
    { status: 201, bytes: 400_000 },
  ),
  build(
    'a query of 50 slots of 200 choices, saved',
    `POST ${project}/queries`,
    ({ attempt }: Ids) => ({
      name: `fifty_${attempt}`,
      sql: ofFifty,
      slots: { type: 'object', properties: fiftySlots },
    }),
    { status: 201 },
  ),
  build(
    'SQL that is nested deeper than it may be',
    `POST ${project}/queries/inspect`,
    { sql: deepSql },
    { kind: 'hostile', status: 400 },
  ),
]

const people: Load[] = [
  build(
    'an invitation that is accepted, with the longest password',
    'POST /v1/invitations/accept',
    ({ invitation, attempt }: Ids) => ({
      token: invitation,
      name: 'n'.repeat(120),
      email: `ada${attempt}@${Date.now()}.example.org`,
      password: 'p'.repeat(200),
    }),
    {
      as: 'nobody',
      status: 201,
      before: async ({ ids, installation, project }) =>
        void (ids['invitation'] = await invitedBy(installation, project)),
    },
  ),
  build(
    'a sign-in that fails',
    'POST /v1/session',
    { email: 'a@example.org', password: 'p'.repeat(200) },
    { as: 'nobody', kind: 'hostile', status: 401 },
  ),
]

const keys: Load[] = [
  build(
    'a key of 20 permissions of 500 queries each',
    'POST /v1/api-keys',
    (ids: Ids) => ({
      name: 'large',
      permissions: Array.from({ length: 20 }, () => ({
        project_id: ids['project_id'],
        environments: ['production'],
        queries: named.slice(0, 500).map(({ name }) => name),
      })),
    }),
    { given: [releasedQueries], status: 201 },
  ),
  build(
    'an alert with ten channels of 20 recipients',
    `POST ${project}/alerts`,
    ({ attempt }: Ids) => ({
      name: `many channels ${attempt}`,
      type: 'requests_above',
      threshold: 1_000_000,
      channels: Array.from({ length: 10 }, (_, at) => ({ type: 'webhook', url: `https://hooks.example.com/${at}` })),
    }),
    { status: 201 },
  ),
]

export const buildLoads: Load[] = [...definitions, ...releases, ...queries, ...people, ...keys]
