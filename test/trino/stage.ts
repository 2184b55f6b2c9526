import { freePort } from '../../scripts/debian-server.mjs'
import { expectStatus, openTestApp, type Client, type TestApp } from '../harness/app.ts'
import { createDatabase } from '../harness/database.ts'
import { openObjectServer, type ObjectServer } from '../harness/object-server.ts'
import { openSource, type Source } from '../harness/source.ts'
import { putTable } from '../harness/tables.ts'
import { openTrinoCluster, type TrinoCluster } from '../harness/trino-cluster.ts'

export type Engine = 'duckdb' | 'trino'

/** A service with a bucket and a Trino cluster, as `docs/scaling.md` sets them up. */
export type Stage = {
  t: TestApp
  source: Source
  objects: ObjectServer
  cluster: TrinoCluster
  /** Where the service listens. */
  url: string
  /** Settings of another process of the same service. */
  environment: Record<string, string>
  /** Takes jobs in this process, too, from now on. */
  startJobs(): Promise<void>
  project(engine: Engine, tables: Record<string, object[]>): Promise<StageProject>
  close(): Promise<void>
}

export type StageProject = {
  id: string
  path: string
  secret: string
  caller: Client
  put(name: string, rows: object[]): Promise<void>
  deploy(query: { name: string; sql: string } & Record<string, unknown>): Promise<void>
}

export const rulesKey = 'the-key-of-the-rules-in-tests'

// Over 70 lines: each part needs to know where the one before it is.
export async function openStage(environment: Record<string, string> = {}): Promise<Stage> {
  const closers: Array<() => Promise<unknown>> = []
  const close = async (): Promise<void> => {
    for (const closer of closers.splice(0).toReversed()) await closer()
  }
  try {
    const objects = await openObjectServer()
    closers.push(() => objects.close())
    const source = await openSource()
    closers.push(() => source.close())
    const database = await createDatabase()
    closers.push(() => database.drop())
    const [port, trinoPort] = [await freePort(), await freePort()]
    const shared = {
      ...objects.environment,
      SLUICE_DATABASE_URL: database.url,
      SLUICE_TRINO_URL: `http://127.0.0.1:${trinoPort}`,
      SLUICE_TRINO_RULES_KEY: rulesKey,
      SLUICE_OUTBOUND_ALLOW: source.host,
      SLUICE_QUERY_TIMEOUT_MS: '60000',
      SLUICE_PREVIEW_ROWS: '100',
      ...environment,
    }
    const t = await openTestApp(shared)
    closers.push(() => t.close())
    const url = await t.listen(port)
    let jobs: Promise<void> | undefined
    const cluster = await openTrinoCluster({
      port: trinoPort,
      databaseUrl: database.url,
      objectsUrl: objects.environment['SLUICE_OBJECTS_URL'] ?? '',
      objectsEndpoint: objects.endpoint,
      rulesUrl: `${url}/trino/access-rules?key=${rulesKey}`,
    })
    closers.push(() => cluster.close())
    const credentials = ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY'].map((name) => [name, process.env[name] ?? ''])
    const settings = {
      ...shared,
      SLUICE_SECRET_KEY: t.app.config.secretKey ?? '',
      ...(Object.fromEntries(credentials) as Record<string, string>),
    }
    return {
      t,
      source,
      objects,
      cluster,
      url,
      environment: settings,
      close,
      startJobs: () => (jobs ??= t.app.jobs.start()),
      project: (...input) => makeProject(t, ...input),
    }
  } catch (error) {
    await close()
    throw error
  }
}

async function makeProject(t: TestApp, engine: Engine, tables: Record<string, object[]>): Promise<StageProject> {
  const made = await expectStatus(201, t.operator.post('/v1/projects', { name: `On ${engine}`, engine }))
  const id = String(made.body.id)
  const path = `/v1/projects/${id}/queries`
  for (const [name, rows] of Object.entries(tables)) await putTable(t.app, id, { name, rows })
  const permissions = [{ project_id: id, environments: '*' }]
  const key = await expectStatus(201, t.operator.post('/v1/api-keys', { name: 'test', plan: 'unlimited', permissions }))
  return {
    id,
    path,
    secret: String(key.body.secret),
    caller: t.withToken(key.body.secret),
    put: (name, rows) => putTable(t.app, id, { name, rows }),
    async deploy({ name, ...content }) {
      const known = await t.operator.get(`${path}/${name}`)
      if (known.status === 404) await expectStatus(201, t.operator.post(path, { name, ...content }))
      else await expectStatus(200, t.operator.put(`${path}/${name}`, content))
      await expectStatus(200, t.operator.post(`${path}/${name}/deploy`, { environment: 'production', force: true }))
    },
  }
}
