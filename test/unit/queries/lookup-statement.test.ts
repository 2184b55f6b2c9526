import { expect, test } from 'vitest'
import { liveVersion } from '../../../server/queries/deployment-index.ts'
import { lookupStatement } from '../../../server/queries/lookups.ts'

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
