import type { MeasuredStage } from '../measured-stage.ts'
import type { Load } from './load.ts'
import { jobDone } from './upstreams.ts'

/** Models, tests with rows, and APIs: as many and as large as a project may have. */

const project = '/v1/projects/:tables_id'
const letters = (chars: number): string => '-- a model of many words\n'.repeat(Math.floor(chars / 25))
const manyModels = 40
const wide = `SELECT id, ${Array.from({ length: 1_000 }, (_, at) => `id + ${at} AS c${at}`).join(', ')} FROM orders`

/** A thousand rows in the other order, of each of twelve tests. */
const reversed = (name: string) => ({
  name,
  query: 'remainders',
  given: { orders: Array.from({ length: 1_000 }, (_, id) => ({ id })) },
  expect: Array.from({ length: 1_000 }, (_, id) => ({ id, n: id % 7 })),
})
const csvOf = (chars: number): string =>
  `id,region\n${'1,north and south of the river\n'.repeat(Math.floor(chars / 31))}`

async function fullTables({ installation: { manage, project: make }, ids }: MeasuredStage): Promise<void> {
  const { projectId } = await make({ remainders: { sql: 'SELECT id, id % 7 AS n FROM orders ORDER BY id DESC' } })
  ids['tables_id'] = projectId
  const path = `/v1/projects/${projectId}`
  for (let at = 0; at < 12; at += 1) await manage('PUT', `${path}/tests`, reversed(`reversed_${at}`))
  for (let at = 0; at < 12; at += 1) {
    await manage('PUT', `${path}/tests`, {
      name: `long_${at}`,
      query: 'remainders',
      error: 'nothing',
      given: { orders: csvOf(800_000) },
    })
  }
  const models = Array.from({ length: manyModels }, (_, at) => ({
    name: `model_${at}`,
    sql: `${letters(90_000)}SELECT id, ${at} AS n FROM orders`,
  }))
  await manage('PUT', `${path}/definition?prune=false`, {
    definition: 1,
    models,
    apis: Array.from({ length: 50 }, (_, at) => ({
      name: `api_${at}`,
      config: { url: `https://api.example${'/'.repeat(8_000)}${at}` },
    })),
  })
  await jobDone({ manage } as MeasuredStage['installation'], await newestJob(manage, path))
}

async function newestJob(manage: MeasuredStage['installation']['manage'], path: string): Promise<string> {
  const { data } = (await manage('GET', `${path}/jobs?limit=1`)) as { data: Array<{ id: string }> }
  return data[0]?.id ?? ''
}

const table = (name: string, route: string, more: Partial<Load> = {}): Load => ({
  name,
  kind: 'ordinary',
  route,
  given: [fullTables],
  ...more,
})

export const tableLoads: Load[] = [
  table('12 tests of 1,000 rows in another order, run', `POST ${project}/tests/run`, {
    body: { names: Array.from({ length: 12 }, (_, at) => `reversed_${at}`) },
    words: '"passed":12',
  }),
  table('a test of 1,000 rows, saved', `PUT ${project}/tests`, { body: reversed('reversed_0') }),
  table('tests of 9 MB, listed', `GET ${project}/tests`, { bytes: 9_000_000 }),
  table('a page of 40 models of SQL as long as it may be', `GET ${project}/models`, {
    search: '?limit=200',
    bytes: 3_000_000,
  }),
  table('the definition of 40 models and tests of 9 MB', `GET ${project}/definition`, { bytes: 12_000_000 }),
  table('a model of 1,000 columns, compared', `POST ${project}/models/model_0/compare`, { body: { sql: wide } }),
  table('a model of 1,000 columns, saved', `POST ${project}/models`, {
    body: ({ attempt }) => ({ name: `wide_${attempt}`, sql: wide }),
    status: 201,
  }),
  table('50 APIs whose addresses have 8,000 slashes', `GET ${project}/apis`, { search: '?limit=200', bytes: 400_000 }),
  table('the map of 40 models', `GET ${project}/map`, { bytes: 10_000 }),
]
