import type { CatalogEntry } from '../../api/catalog.ts'
import { definitionOf, usualPrefix } from '../../api/catalog-definition.ts'
import { expectStatus, openTestApp, type TestApp } from '../harness/app.ts'
import { readContract, readEntry } from './contract.ts'
import { openMockApi, type MockApi } from './mock-api.ts'

export type Job = { id: string; status: string; error: { message: string; reason?: string } | null; table: string }

export type Stage = {
  t: TestApp
  mock: MockApi
  entry: CatalogEntry
  prefix: string
  projectId: string
  /** Adds the entry to a new project and waits for its first loads. */
  add(): Promise<Job[]>
  refresh(table: string, full?: boolean): Promise<Job>
  /** The rows of every table of the entry. */
  counts(): Promise<Record<string, number>>
  /** What a test of the connection says. */
  tryOut(table: string): Promise<{ success: boolean; problem?: { code: string }; error?: { code: string } }>
  definition: ReturnType<typeof definitionOf>
}

/** What whoever adds an entry gives: the example of each input, and secrets that the mock knows. */
export function valuesFor({ inputs = {} }: CatalogEntry): Record<string, string> {
  return Object.fromEntries(
    Object.entries(inputs).map(([name, input]) => [
      name,
      input.secret ? `good-${name}-1f9a` : (input.default ?? input.example ?? `${name}-1`),
    ]),
  )
}

/** Opens the API of an entry; `change` writes a mistake into it. */
export async function openEntry(
  t: TestApp,
  name: string,
  change: (entry: CatalogEntry) => void = () => undefined,
): Promise<Stage> {
  const contract = readContract(name)
  const entry = readEntry(name)
  change(entry)
  const values = valuesFor(entry)
  const secrets = Object.entries(entry.inputs ?? {}).flatMap(([input, { secret }]) =>
    secret ? [values[input] ?? ''] : [],
  )
  const mock = await openMockApi({ entry, contract, secrets })
  const prefix = usualPrefix(name)
  const definition = toMock(definitionOf(name, entry, { prefix, values }), mock.origin)
  const stage: Stage = {
    t,
    mock,
    entry,
    prefix,
    definition,
    projectId: '',
    async add() {
      stage.projectId = await t.project(`${name} ${mock.state}`)
      const { queries: _, ...connections } = definition
      const { body } = await expectStatus(200, put(connections))
      const first = await Promise.all(
        (body.jobs as Array<{ id: string; table_name: string }>).map(({ id, table_name: table }) => finish(id, table)),
      )
      // A table that asks for each row of another one begins where that one has rows.
      const children = Object.entries(entry.tables).filter(([, { for_each: forEach }]) => forEach !== undefined)
      const later = mock.state === 'empty' ? [] : await Promise.all(children.map(([table]) => stage.refresh(table)))
      const isChild = (table: string): boolean => children.some(([child]) => table === `${prefix}_${child}`)
      return [...first.filter(({ table }) => !isChild(table)), ...later]
    },
    async refresh(table, full = false) {
      const { body } = await expectStatus(200, t.operator.get(`/v1/projects/${stage.projectId}/datasources?limit=200`))
      const source = (body.data as Array<{ id: string; table_name: string }>).find(
        (each) => each.table_name === `${prefix}_${table}`,
      )
      const path = `/v1/projects/${stage.projectId}/datasources/${source?.id}/refresh`
      const started = await expectStatus(201, t.operator.post(path, { full }))
      return finish(started.body.id as string, `${prefix}_${table}`)
    },
    async counts() {
      const queries = `/v1/projects/${stage.projectId}/queries`
      await t.operator.post(queries, {
        name: 'counted',
        description: 'Counts rows',
        sql: 'select 1 as one',
        slots: { type: 'object', properties: {} },
      })
      const each = Object.keys(entry.tables).map(
        (table) => `select '${table}' as name, count(*) as rows from ${prefix}_${table}`,
      )
      const sql = each.join(' union all ')
      const { body } = await expectStatus(200, t.operator.post(`${queries}/counted/preview`, { parameters: {}, sql }))
      return Object.fromEntries(
        (body.data as Array<{ name: string; rows: number }>).map(({ name: table, rows }) => [table, rows]),
      )
    },
    async tryOut(table) {
      const connection = definition.connections.find((each) => each.table_name === `${prefix}_${table}`)
      const body = { project_id: stage.projectId, ...connection?.config }
      return (await expectStatus(200, t.operator.post('/v1/http/test-connection', body))).body
    },
  }
  return stage

  function put(part: Record<string, unknown>) {
    return t.operator.put(`/v1/projects/${stage.projectId}/definition?prune=false`, { definition: 1, ...part })
  }

  async function finish(id: string, table: string): Promise<Job> {
    for (let tries = 0; tries < 2_000; tries += 1) {
      const { body } = await expectStatus(200, t.operator.get(`/v1/jobs/${id}`))
      if (/succeeded|failed|cancelled/.test(body.status)) return { ...body, table }
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
    throw new Error(`The load of ${table} did not end.`)
  }
}

/** The same with every address of the API at the mock. */
function toMock<Value>(value: Value, origin: string): Value {
  if (typeof value === 'string') return value.replace(/^https:\/\/[^/]+/, origin) as Value
  if (Array.isArray(value)) return value.map((each: unknown) => toMock(each, origin)) as Value
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, toMock<unknown>(each, origin)])) as Value
}

export async function openCatalogApp(): Promise<TestApp> {
  const t = await openTestApp({ SLUICE_OUTBOUND_ALLOW: '127.0.0.1' }, {})
  await t.app.jobs.start()
  return t
}
