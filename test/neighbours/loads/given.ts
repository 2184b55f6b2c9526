import { openPool } from '../../harness/database.ts'
import type { MeasuredStage } from '../measured-stage.ts'

/** What projects are filled with before loads are sent to them. */

const manyQueries = 1_900

/** So many queries that each read something a little different, with slots, examples and descriptions. */
export function drafts(more = ''): object[] {
  return Array.from({ length: manyQueries }, (_, index) => ({
    name: `draft_${index}`,
    sql: `SELECT id${more}, region, ${index} AS n FROM orders WHERE id > $least AND region = $region`,
    description: `The orders after the first ones of a region, as number ${index}`,
    slots: {
      properties: {
        least: { type: 'integer', description: 'Only those after this one', default: index % 30 },
        region: { type: 'string', 'x-values-from': 'orders.region' },
      },
      required: ['region'],
    },
    examples: [{ question: `which orders of number ${index} came from the north`, parameters: { region: 'north' } }],
  }))
}

export const named = Array.from({ length: manyQueries }, (_, index) => ({ name: `draft_${index}` }))

/** As many examples as a query may have, each as long as it may be; as many such queries as a definition may hold. */
export function fatDrafts(count: number): object[] {
  const question = (index: number) => `which orders ${index} came ${'from the north and the south '.repeat(33)}`
  return Array.from({ length: count }, (_, at) => ({
    name: `fat_${at}`,
    sql: `SELECT id, ${at} AS n FROM orders`,
    description: 'd'.repeat(4_000),
    examples: Array.from({ length: 500 }, (_, index) => ({ question: question(index), parameters: {} })),
  }))
}

/** As many cases as a project may have. */
export const cases = Array.from({ length: 2_000 }, (_, index) => ({
  question: `which orders of number ${index % manyQueries} after ${index} came from the north`,
  expected_query: `draft_${index % manyQueries}`,
  expected_parameters: { region: 'north' },
}))

const of = ({ project }: MeasuredStage, page: string): string => `/v1/projects/${project.projectId}/${page}`

export async function releasedQueries(stage: MeasuredStage): Promise<void> {
  const { manage } = stage.installation
  await manage('PUT', of(stage, 'definition?prune=false'), { definition: 1, queries: drafts() })
  await manage('POST', of(stage, 'releases'), { environment: 'production', queries: named, force: true })
}

/** A project beside, that has the table and nothing else. */
export async function emptyProject(stage: MeasuredStage): Promise<void> {
  stage.ids['empty_id'] = (await stage.installation.project({})).projectId
}

/** A project of 60 queries of 500 long examples each: 30 MB of drafts. */
export async function fatProject(stage: MeasuredStage): Promise<void> {
  const { manage, project } = stage.installation
  const { projectId } = await project({})
  await manage('PUT', `/v1/projects/${projectId}/definition`, { definition: 1, queries: fatDrafts(60) })
  stage.ids['fat_id'] = projectId
}

export async function evaluationCases(stage: MeasuredStage): Promise<void> {
  await stage.once(releasedQueries)
  await stage.installation.manage('PUT', of(stage, 'definition?prune=false'), { definition: 1, evaluations: cases })
}

const slotOf = (type: string, more: object = {}) => ({ type, ...more })
const valueQueries = {
  echo: { sql: 'SELECT $region AS region, $slot_nr AS nr' },
  of_ids: {
    sql: 'SELECT id FROM orders WHERE list_contains($ids, id)',
    slots: { properties: { ids: slotOf('array', { items: slotOf('integer') }) } },
  },
  of_regions: {
    sql: 'SELECT id FROM orders WHERE list_contains($regions, region)',
    slots: {
      properties: { regions: slotOf('array', { items: slotOf('string', { 'x-values-from': 'orders.region' }) }) },
    },
  },
  of_region: {
    sql: 'SELECT id FROM orders WHERE region = $region',
    slots: { properties: { region: slotOf('string', { 'x-values-from': 'orders.region' }) } },
  },
  of_choice: {
    sql: 'SELECT id FROM orders WHERE region = $choice',
    slots: {
      properties: {
        choice: slotOf('string', { enum: Array.from({ length: 1_000 }, (_, at) => `${at} ${'choice '.repeat(100)}`) }),
      },
    },
  },
  of_choices: {
    sql: 'SELECT id FROM orders WHERE list_contains($choices, region)',
    slots: {
      properties: {
        choices: slotOf('array', {
          items: slotOf('string', { enum: Array.from({ length: 1_000 }, (_, at) => `choice number ${at}`) }),
        }),
      },
    },
  },
  of_pattern: {
    sql: 'SELECT id FROM orders WHERE region = $word',
    slots: { properties: { word: slotOf('string', { pattern: '^(a|aa|aaa)*(b|bb)*c?[a-z]{1,100}x$' }) } },
  },
  of_patterns: {
    sql: 'SELECT id FROM orders WHERE list_contains($words, region)',
    slots: {
      properties: {
        words: slotOf('array', { items: slotOf('string', { pattern: '^(a|aa|aaa)*(b|bb)*c?[a-z]{1,100}x$' }) }),
      },
    },
  },
  of_day: {
    sql: 'SELECT id FROM orders WHERE $day::date IS NOT NULL',
    slots: { properties: { day: slotOf('string', { format: 'date' }) } },
  },
  of_amount: {
    sql: 'SELECT id FROM orders WHERE id < $amount',
    slots: { properties: { amount: slotOf('number', { minimum: 0, maximum: 5 }) } },
  },
  hundred_thousand: { sql: "SELECT i, 'row ' || i AS name, i * 1.5 AS price FROM range(100000) t(i)" },
}

/** Queries whose slots take every kind of value. */
export async function slots(stage: MeasuredStage): Promise<void> {
  const { manage } = stage.installation
  for (const [name, query] of Object.entries(valueQueries)) {
    await manage('POST', of(stage, 'queries'), { name, ...query })
    await manage('POST', of(stage, `queries/${name}/deploy`), { environment: 'production', force: true })
  }
}

/** Two versions that share no line. */
export async function replacedVersions(stage: MeasuredStage): Promise<void> {
  const { manage } = stage.installation
  const lines = (from: number) => Array.from({ length: 5_500 }, (_, at) => `-- ${from + at}`).join('\n')
  const sql = (from: number) => `SELECT 1 AS c\n${lines(from)}`
  await manage('POST', of(stage, 'queries'), { name: 'replaced', sql: sql(100_000) })
  await manage('POST', of(stage, 'queries/replaced/deploy'), { environment: 'production', force: true })
  await manage('PUT', of(stage, 'queries/replaced'), { sql: sql(200_000) })
  await manage('POST', of(stage, 'queries/replaced/deploy'), { environment: 'production', force: true })
}

/**
 * A year of calls by 120 keys: a hundred kinds each day, sums for each hour, and the last day call by call; and as much
 * of an audit log as one file holds.
 */
export async function filledYear(stage: MeasuredStage): Promise<void> {
  const { project, installation, database } = stage
  const permissions = [{ project_id: project.projectId, environments: '*' }]
  for (let at = 0; at < 120; at += 1)
    await installation.manage('POST', '/v1/api-keys', { name: `key ${at}`, permissions })
  const pool = openPool(database)
  try {
    await pool.query(`do $$ declare at timestamptz; begin set local time zone 'UTC';
      for at in select generate_series(date_trunc('month', now() - interval '366 days', 'UTC'), now(), interval '1 month') loop
        execute format('create table if not exists sluice_partitions.rollups_%s partition of usage_rollups for values from (%L) to (%L)',
          to_char(at at time zone 'UTC', 'YYYYMM'), at, at + interval '1 month');
      end loop; end $$`)
    const rollups = (grain: string, hours: number, kinds: number, query: string) =>
      pool.query(
        `insert into usage_rollups
         select $1, $2, date_trunc($3, now(), 'UTC') - make_interval(hours => at * ${hours}), at * 10000 + series,
           'production', ${query}, 1, key.id, 'direct', 200, '', '', '', 1000, 10500, 8000, 15000, 1000000,
           array(select b::smallint from generate_series(0, 99) b), array(select 10::bigint from generate_series(0, 99))
         from generate_series(1, ${Math.floor((365 * 24) / hours)}) at, generate_series(0, ${kinds - 1}) series
           join lateral (select id from api_keys order by id offset series % 120 limit 1) key on true`,
        [project.projectId, grain, hours === 24 ? 'day' : 'hour'],
      )
    await rollups('day', 24, 120, "'draft_' || series")
    await rollups('day-sum', 24, 4, "''")
    await rollups('hour-sum', 1, 4, "''")
    await pool.query(
      `insert into audit_log select 'aud_' || lpad(at::text, 26, '0'), now() - make_interval(secs => at), 'operator', null, 'operator',
         $1, 'query.changed', 'draft_' || at, jsonb_build_object('name', repeat('n', 300)), 'req_' || at
       from generate_series(1, 100000) at`,
      [project.projectId],
    )
    await pool.query('analyze usage_rollups; analyze audit_log')
  } finally {
    await pool.end()
  }
}
