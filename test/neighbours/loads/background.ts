import { setTimeout as wait } from 'node:timers/promises'
import type { MeasuredStage } from '../measured-stage.ts'
import { drafts, named, releasedQueries, slots } from './given.ts'
import type { Load } from './load.ts'
import { jobDone } from './upstreams.ts'

/** What goes on beside requests: streams that stay open, and the work that a request or a clock begins. */

const project = '/v1/projects/:project_id'
const of = ({ project: { projectId } }: MeasuredStage, page: string): string => `/v1/projects/${projectId}/${page}`

/** Calls from so many at once, each of another value, so that none is cached. */
async function manyCalls({ installation, project: own }: MeasuredStage, count: number): Promise<void> {
  let made = 0
  const call = async (): Promise<void> => {
    while (made < count) {
      made += 1
      await (await installation.call(own, 'echo', { region: `call ${made}`, slot_nr: 'x' })).text()
    }
  }
  await Promise.all(Array.from({ length: 20 }, call))
}

/** A table that merges by its id, of so many rows. */
function merging(rows: number, load: object) {
  return async (stage: MeasuredStage): Promise<void> => {
    const { installation } = stage
    const id = `ds_${stage.project.projectId}_merged`
    await installation.fetchTable(stage.project.projectId, 'merged', [{ id: 1, name: 'first' }])
    await installation.manage('PATCH', of(stage, `datasources/${id}`), { load })
    installation.source.answer(Array.from({ length: rows }, (_, at) => ({ id: at, name: `row ${at} ${Date.now()}` })))
  }
}

async function jobsAfter({ installation }: MeasuredStage, text: string): Promise<void> {
  const { job, jobs = [], id } = JSON.parse(text) as { job?: { id: string }; jobs?: Array<{ id: string }>; id?: string }
  const ids = [...jobs.map((each) => each.id), ...(job === undefined ? [] : [job.id])]
  for (const each of ids.length === 0 && id !== undefined ? [id] : ids) await jobDone(installation, each)
}
const refreshed = (name: string, rows: number, load: object): Load => ({
  name,
  kind: 'ordinary',
  route: `POST ${project}/datasources/:merged_id/refresh`,
  before: async (stage) => {
    stage.ids['merged_id'] = `ds_${stage.project.projectId}_merged`
    await merging(rows, load)(stage)
  },
  after: jobsAfter,
  status: 201,
})

const stream = (
  name: string,
  route: string,
  meanwhile: (stage: MeasuredStage) => Promise<unknown>,
  more: Partial<Load> = {},
): Load => ({
  name,
  kind: 'ordinary',
  route,
  streams: { count: 20, meanwhile },
  ...more,
})

function waits(seconds: number): () => Promise<void> {
  return () => wait(seconds * 1_000)
}

async function recordedCalls(stage: MeasuredStage): Promise<void> {
  await stage.once(slots)
  await stage.installation.manage('PUT', of(stage, 'replay-settings'), { recording: true, max_calls: 1_000 })
  await manyCalls(stage, 300)
  await wait(2_000)
  await stage.installation.manage('PUT', of(stage, 'queries/echo'), { sql: 'SELECT $slot_nr AS nr, $region AS region' })
}

/** Of every kind of which there is a metric, over the longest window. */
async function manyAlerts(stage: MeasuredStage): Promise<void> {
  for (let at = 0; at < 150; at += 1) {
    const alert = { name: `alert ${at}`, type: 'requests_above', threshold: 1_000_000, window_minutes: 60 }
    await stage.installation.manage('POST', of(stage, 'alerts'), alert)
  }
}

export const backgroundLoads: Load[] = [
  stream('20 streams of jobs, while a table is loaded', `GET ${project}/jobs/events`, async (stage) => {
    stage.installation.source.answer(Array.from({ length: 20_000 }, (_, id) => ({ id, name: `row ${id}` })))
    const { projectId } = stage.project
    await jobDone(
      stage.installation,
      await stage.installation.fetchTable(
        projectId,
        'streamed',
        Array.from({ length: 20_000 }, (_, id) => ({ id })),
      ),
    )
  }),
  stream(
    '20 streams of requests, while 2,000 calls are made',
    `GET ${project}/requests/events`,
    (stage) => manyCalls(stage, 2_000),
    {
      given: [slots],
      bytes: 100_000,
    },
  ),
  stream(
    '20 MCP clients that listen, while 1,900 queries are released',
    'GET /mcp',
    async (stage) => {
      const { manage } = stage.installation
      await manage('PUT', of(stage, 'definition?prune=false'), {
        definition: 1,
        queries: drafts(` + ${Date.now() % 1_000}`),
      })
      await manage('POST', of(stage, 'releases'), { environment: 'production', queries: named, force: true })
      await wait(2_000)
    },
    { as: 'key', headers: { accept: 'text/event-stream' }, given: [releasedQueries], words: 'list_changed' },
  ),
  refreshed('a merge of 20,000 rows', 20_000, { mode: 'merge', primary_key: ['id'] }),
  refreshed('an append of 20,000 rows with keys', 20_000, { mode: 'append', primary_key: ['id'] }),
  {
    name: 'a table by a request for each of 500 rows, and its job',
    kind: 'ordinary',
    route: `POST ${project}/datasources/:children_id/refresh`,
    before: async (stage) => {
      const {
        installation,
        project: { projectId },
      } = stage
      await jobDone(
        installation,
        await installation.fetchTable(
          projectId,
          'parents',
          Array.from({ length: 500 }, (_, id) => ({ id })),
        ),
      )
      await jobDone(installation, await installation.fetchTable(projectId, 'children', [{ id: 1, name: 'x' }]))
      const id = `ds_${projectId}_children`
      stage.ids['children_id'] = id
      const config = { url: `${installation.source.url}/{{row.id}}`, method: 'GET' }
      await installation.manage('PATCH', of(stage, `datasources/${id}`), { config, for_each: { table: 'parents' } })
      installation.source.answer(Array.from({ length: 20 }, (_, id) => ({ id, name: `child ${id}` })))
    },
    after: jobsAfter,
    status: 201,
  },
  {
    name: '20 loads of a table that is appended to, and putting its files together',
    kind: 'ordinary',
    route: `POST ${project}/datasources/:merged_id/refresh`,
    before: merging(2_000, { mode: 'append' }),
    after: async (stage, text) => {
      await jobsAfter(stage, text)
      for (let at = 0; at < 20; at += 1) {
        const again = await stage.installation.manage(
          'POST',
          of(stage, `datasources/ds_${stage.project.projectId}_merged/refresh`),
        )
        await jobsAfter(stage, JSON.stringify(again))
      }
    },
    status: 201,
  },
  {
    name: 'a replay of 300 recorded calls',
    kind: 'ordinary',
    route: `POST ${project}/replays`,
    given: [recordedCalls],
    body: { queries: [{ name: 'echo' }] },
    after: waits(17),
    status: 201,
  },
  {
    name: 'a canary of 1,900 queries, called and judged',
    kind: 'ordinary',
    route: `POST ${project}/releases`,
    given: [slots, recordedCalls],
    body: { environment: 'production', queries: [{ name: 'echo' }], canary: { percent: 50 }, force: true },
    after: async (stage) => {
      await manyCalls(stage, 500)
      await wait(12_000)
    },
  },
  {
    name: '150 alerts, evaluated twice',
    kind: 'ordinary',
    route: `GET ${project}/alerts`,
    given: [manyAlerts],
    after: waits(11),
    bytes: 10_000,
  },
  {
    name: 'figures of 5,000 calls, written',
    kind: 'ordinary',
    route: `GET ${project}/requests`,
    given: [slots],
    after: async (stage) => {
      await manyCalls(stage, 5_000)
      await wait(3_000)
    },
  },
]
