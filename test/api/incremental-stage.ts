import { afterAll, beforeAll, beforeEach, expect } from 'vitest'
import { runRefresh } from '../../server/connections/index.ts'
import type { TestApp } from '../harness/app.ts'
import { jobFor, makeTable, type LoadedTable, type Row } from '../harness/incremental.ts'
import { openAppWithSource, type Source } from '../harness/source.ts'

type Parts = { t: TestApp; source: Source; projectId: string }

export const merge = { mode: 'merge', primary_key: ['id'], cursor: { field: 'at' } }
export const byId = (rows: Row[]) =>
  rows.toSorted((left, right) => String(left['id']).localeCompare(String(right['id'])))

/** An app and an API for all tests of a file, for each a project. A version of more than two parts is put together. */
export function stageIncremental() {
  let t: TestApp
  let source: Source
  let projectId: string
  beforeAll(async () => {
    ;({ t, source } = await openAppWithSource({}, { bounds: { outboundTries: 1, versionParts: 2 } }))
    await t.app.jobs.start()
  })
  afterAll(() => t.close())
  beforeEach(async () => {
    projectId = await t.project()
    source.requests.length = 0
  })

  const config = () => ({ url: source.url, method: 'GET', parameters: { since: { value: '{{last_value}}' } } })
  const merged = (load: object = merge, more: object = {}) =>
    makeTable(t, projectId, {
      config: 'cursor' in load ? config() : { url: source.url, method: 'GET' },
      load,
      ...more,
    })
  /** A load that fails, without further attempts. */
  const failure = (table: LoadedTable) =>
    runRefresh(t.app, jobFor(projectId, table.id)).then(
      () => 'it did not fail',
      (error: unknown) => (error instanceof Error ? error.message : String(error)),
    )

  /** Loads that bring these answers, one after the other. */
  async function loads(table: LoadedTable, ...answers: unknown[]): Promise<void> {
    for (const answer of answers) {
      source.answer(answer)
      expect(await table.refresh()).toMatchObject({ status: 'succeeded' })
    }
  }

  return {
    /** Those of the test that runs. */
    parts: (): Parts => ({ t, source, projectId }),
    config,
    merged,
    failure,
    loads,
  }
}
