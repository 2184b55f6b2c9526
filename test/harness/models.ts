import { expect } from 'vitest'
import { expectStatus, type TestApp } from './app.ts'

export type Rows = Array<Record<string, unknown>>

/** A project whose tables are files that a test sends, with models over them. */
export type ModelProject = {
  projectId: string
  path: string
  /** Makes a table before its first rows, with settings of its datasource. */
  table(name: string, settings: Record<string, unknown>): Promise<void>
  /** Sends rows as the next version of a table; makes the table with its first ones. */
  load(table: string, rows: Rows): Promise<void>
  /** Once nothing waits or runs in the background. */
  settled(): Promise<void>
  create(name: string, sql: string, more?: Record<string, unknown>): Promise<void>
  // oxlint-disable-next-line typescript/no-explicit-any -- a test asserts on whatever came back
  model(name: string): Promise<any>
  /** Rows of SQL that nobody has saved. */
  rows(sql: string): Promise<Rows>
  /** The datasource of a table or model, and what its versions are. */
  idOf(table: string): Promise<string>
  versions(table: string): Promise<Rows>
  jobs(type: string): Promise<Rows>
}

export async function openModelProject(t: TestApp): Promise<ModelProject> {
  const projectId = await t.project()
  const path = `/v1/projects/${projectId}`
  const ids = new Map<string, string>()
  const idOf = async (table: string): Promise<string> => {
    const known = ids.get(table)
    if (known !== undefined) return known
    const { body } = await expectStatus(200, t.operator.get(`${path}/datasources?limit=200`))
    for (const each of body.data) ids.set(each.table_name, each.id)
    return ids.get(table) ?? ''
  }
  const jobs = async () => (await expectStatus(200, t.operator.get(`${path}/jobs?limit=200`))).body.data as Rows
  const makeTable = async (table: string, settings: Record<string, unknown> = {}) => {
    const body = { name: table, kind: 'file', table_name: table, ...settings }
    ids.set(table, (await expectStatus(201, t.operator.post(`${path}/datasources`, body))).body.id)
  }
  return {
    projectId,
    path,
    idOf,
    table: makeTable,
    async load(table, rows) {
      if ((await idOf(table)) === '') await makeTable(table)
      await expectStatus(
        201,
        t.operator.post(`${path}/datasources/${await idOf(table)}/files?filename=rows.json`, rows),
      )
    },
    async settled() {
      const busy = async () => (await jobs()).filter(({ status }) => status === 'queued' || status === 'running').length
      await expect.poll(busy, { timeout: 60_000, interval: 20 }).toBe(0)
    },
    async create(name, sql, more = {}) {
      await expectStatus(201, t.operator.post(`${path}/models`, { name, sql, ...more }))
    },
    model: async (name) => (await expectStatus(200, t.operator.get(`${path}/models/${name}`))).body,
    async rows(sql) {
      const { body } = await expectStatus(200, t.operator.post(`${path}/queries/run`, { sql, parameters: {} }))
      return body.data
    },
    versions: async (table) =>
      (await expectStatus(200, t.operator.get(`${path}/datasources/${await idOf(table)}/versions`))).body.data,
    jobs: async (type) => (await jobs()).filter((job) => job['job_type'] === type),
  }
}
