import { expect } from 'vitest'
import type { JobContext } from '../../server/jobs/index.ts'
import { expectStatus, type TestApp } from './app.ts'
import { rowsOf } from './source.ts'

export type Row = Record<string, unknown>
export type RefreshJob = {
  id: string
  status: string
  details: unknown
  error: { message: string; reason?: string } | null
}

/** A datasource of a project whose loads a test asks for one by one. */
export type LoadedTable = {
  id: string
  path: string
  refresh(full?: boolean): Promise<RefreshJob>
  /** The versions, newest first. */
  versions(): Promise<Array<Record<string, unknown> & { version: number; data_object_id: string }>>
  /** Of the version that serves, or of one that is named. */
  rows(version?: number): Promise<Row[]>
  /** Once nothing waits in the background. */
  settled(): Promise<void>
}

export async function makeTable(t: TestApp, projectId: string, body: Record<string, unknown>): Promise<LoadedTable> {
  const created = await expectStatus(
    201,
    t.operator.post(`/v1/projects/${projectId}/datasources`, { name: 'Orders', kind: 'http_api', ...body }),
  )
  const id = String(created.body.id)
  const path = `/v1/projects/${projectId}/datasources/${id}`
  const versions: LoadedTable['versions'] = async () =>
    (await expectStatus(200, t.operator.get(`${path}/versions?limit=200`))).body.data
  const settled = async (): Promise<void> => {
    const unfinished = async () => {
      const { body: jobs } = await t.operator.get(`/v1/projects/${projectId}/jobs?limit=200`)
      return jobs.data.filter(({ status }: { status: string }) => status === 'queued' || status === 'running').length
    }
    await expect.poll(unfinished, { timeout: 60_000, interval: 20 }).toBe(0)
  }
  return {
    id,
    path,
    versions,
    settled,
    async refresh(full) {
      const asked = await expectStatus(
        201,
        t.operator.post(`${path}/refresh`, full === undefined ? undefined : { full }),
      )
      const read = async () => (await t.operator.get(`/v1/jobs/${asked.body.id}`)).body as RefreshJob
      await expect
        .poll(async () => (await read()).status, { timeout: 30_000, interval: 20 })
        .toMatch(/succeeded|failed/)
      return read()
    },
    async rows(version) {
      const all = await versions()
      const chosen =
        version === undefined
          ? all.find(({ status }) => status === 'live')
          : all.find((each) => each.version === version)
      return (await rowsOf(t.operator, projectId, String(chosen?.data_object_id))) as Row[]
    },
  }
}

/** For work that a test runs itself, at once and without a second attempt. */
export function jobFor(projectId: string, sourceId: string, input: Record<string, unknown> = {}): JobContext {
  const id = `job_${Math.random()}`
  const job = { id, projectId, sourceId, sourceEventType: 'http_api', retriedFrom: null, input }
  return { job: job as unknown as JobContext['job'], signal: new AbortController().signal, progress: () => undefined }
}
