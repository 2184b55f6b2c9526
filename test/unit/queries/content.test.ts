import { expect, test } from 'vitest'
import {
  columnsOf,
  contentOf,
  withContent,
  writtenContent,
  type QueryContent,
} from '../../../server/queries/drafts/content.ts'

const content: QueryContent = {
  description: 'Orders of a region',
  sql: 'SELECT 1',
  slots: { type: 'object', properties: {}, required: [], additionalProperties: false },
  examples: [{ question: 'orders?', parameters: {} }],
  cacheSeconds: 60,
  timeoutMs: null,
  maxRows: null,
  maxBytes: null,
  rateLimit: { perMinute: 3, burst: 4 },
  chart: null,
  asTool: null,
  dialect: 'duckdb',
}

/** Stored hashes were made of exactly this, in this order. */
const written = {
  description: 'Orders of a region',
  sql: 'SELECT 1',
  slots: '{"type":"object","properties":{},"required":[],"additionalProperties":false}',
  examples: '[{"question":"orders?","parameters":{}}]',
  cache_seconds: 60,
  timeout_ms: null,
  max_rows: null,
  max_bytes: null,
  rate_per_minute: 3,
  rate_burst: 4,
}

test('the content of a query is hashed as it always was', () => {
  expect(JSON.stringify(writtenContent(content))).toBe(JSON.stringify(written))
  const chart = { type: 'bar' as const, x: 'day', y: [], series: null, stacked: false }
  expect(JSON.stringify(writtenContent({ ...content, chart, dialect: 'trino' }))).toBe(
    JSON.stringify({ ...written, chart: JSON.stringify(chart), dialect: 'trino' }),
  )
})

test('its columns give the content back, and nothing else comes with it', () => {
  const { slots, examples, chart } = content
  const row = { ...columnsOf(content), slots, examples, chart, dialect: content.dialect }
  expect(withContent(row as Parameters<typeof withContent>[0])).toEqual(content)
  expect(contentOf({ ...content, id: 'qry_1' } as QueryContent)).toEqual(content)
})
