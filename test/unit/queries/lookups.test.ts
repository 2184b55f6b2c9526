import { describe, expect, test } from 'vitest'
import type { Catalog } from '../../../server/engine/index.ts'
import { liveVersion } from '../../../server/queries/deployed/deployment-index.ts'
import { keepLookups, lookupStatement } from '../../../server/queries/calls/lookups.ts'

const version = (dialect: 'duckdb' | 'trino') =>
  liveVersion({
    id: 'ver_1',
    queryId: 'qry_1',
    number: 1,
    description: '',
    sql: 'SELECT name FROM people WHERE id = $id',
    slots: { type: 'object', properties: { id: { type: 'integer' } }, required: ['id'], additionalProperties: false },
    examples: [],
    cacheSeconds: null,
    timeoutMs: null,
    maxRows: null,
    maxBytes: null,
    rateLimit: null,
    chart: null,
    asTool: null,
    dialect,
    columns: [],
    tables: { people: ['id', 'name'] },
    contentHash: '',
    createdAt: new Date(),
    createdBy: '',
  })

test('answers are written by DuckDB for what is written in its dialect, and for nothing else', () => {
  expect(lookupStatement(version('duckdb'))).toMatchObject({ table: 'people' })
  expect(lookupStatement(version('trino'))).toBeNull()
})

describe('the answers of what is live', () => {
  /** One project, whose catalog and versions are what `now` says. */
  async function kept(now: { catalog: Catalog; versions: ReturnType<typeof version>[] }) {
    const asked: { live: number; missing: string }[] = []
    let hear: { deployed(projectId: string | null): void; changed(projectId: string): void; reconnected(): void }
    const heard: Partial<typeof hear> = {}
    const keeper = await keepLookups({
      lookups: {
        projects: () => ['prj_1'],
        renew: (_projectId, _catalog, live, missing) => void asked.push({ live: live.length, missing }),
      },
      catalogs: { get: async () => now.catalog },
      deployments: {
        versionsOf: () => now.versions,
        onChange: (tell) => {
          heard.deployed = (projectId) => tell(projectId === null ? null : { projectId, environment: 'production' })
          return () => undefined
        },
      },
      store: {
        listen: async (_channel, tell, again = () => undefined) => {
          heard.changed = tell
          heard.reconnected = again
          return () => undefined
        },
      },
      observe: ({ kind }) => expect.unreachable(kind),
    })
    hear = heard as typeof hear
    const settled = async (): Promise<typeof asked> => {
      await new Promise((resolve) => setImmediate(resolve))
      return asked.splice(0)
    }
    return { hear, settled, close: () => keeper.close() }
  }
  const catalog = (number: string): Catalog => ({ projectId: 'prj_1', version: number, tables: [] })

  test('are opened at a start, written after a release and after new data, and left alone where nothing changed', async () => {
    const now = { catalog: catalog('1'), versions: [version('duckdb')] }
    const { hear, settled, close } = await kept(now)
    expect(await settled()).toEqual([{ live: 1, missing: 'leave' }])
    hear.reconnected()
    expect(await settled()).toEqual([])
    now.versions = [...now.versions, version('duckdb')]
    hear.deployed('prj_1')
    expect(await settled()).toEqual([{ live: 2, missing: 'write' }])
    hear.deployed('prj_1')
    hear.deployed(null)
    expect(await settled()).toEqual([])
    now.catalog = catalog('2')
    hear.changed('prj_1')
    expect(await settled()).toEqual([{ live: 2, missing: 'write' }])
    await close()
  })

  test('are written for a release that was seen before it was heard of', async () => {
    const now = { catalog: catalog('1'), versions: [version('duckdb')] }
    const { hear, settled, close } = await kept(now)
    await settled()
    now.versions = [version('duckdb')]
    hear.reconnected()
    expect(await settled()).toEqual([{ live: 1, missing: 'leave' }])
    hear.deployed('prj_1')
    expect(await settled()).toEqual([{ live: 1, missing: 'write' }])
    await close()
  })
})
