import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openFixture, type Fixture } from './engine-fixture.ts'

let fixture: Fixture

beforeAll(async () => {
  fixture = await openFixture()
})
afterAll(() => fixture.close())

describe('a read', () => {
  test('answers rows as ready JSON with columns and a count', async () => {
    const { engine, catalog } = fixture
    const input = {
      sql: 'SELECT id, region FROM orders WHERE id = $id',
      slots: [{ name: 'id', type: 'integer' as const, value: 7 }],
    }
    for (let attempt = 0; attempt < 3; attempt += 1) {
      const answer = await engine.read('project', catalog, { ...input, maxRows: 10, maxBytes: 1_000_000 })
      expect(JSON.parse(answer.bytes.toString())).toEqual([{ id: 7, region: 'south' }])
      expect(answer).toMatchObject({
        rowCount: 1,
        truncated: false,
        columns: [
          { name: 'id', type: 'BIGINT' },
          { name: 'region', type: 'VARCHAR' },
        ],
      })
      expect(answer.elapsedMs).toBeGreaterThan(0)
    }
  })

  test('says so when it is cut, and never cuts silently', async () => {
    const { engine, catalog } = fixture
    for (const format of ['json', 'ndjson'] as const) {
      for (const maxRows of [1, 10, 70, 3000]) {
        for (let attempt = 0; attempt < 2; attempt += 1) {
          const answer = await engine.read('project', catalog, {
            sql: 'SELECT id FROM orders ORDER BY id DESC',
            slots: [],
            format,
            maxRows,
            maxBytes: 1_000_000,
          })
          const text = answer.bytes.toString()
          const rows = (
            format === 'json'
              ? JSON.parse(text)
              : text
                  .trimEnd()
                  .split('\n')
                  .map((line) => JSON.parse(line))
          ) as { id: number }[]
          expect(rows.length).toBe(maxRows)
          expect(rows.at(-1)).toEqual({ id: 10_000 - maxRows })
          expect(answer).toMatchObject({ rowCount: maxRows, truncated: true })
        }
      }
    }
  })

  test('refuses a result larger than its limit', async () => {
    const { rows } = fixture
    for (let attempt = 0; attempt < 2; attempt += 1) {
      await expect(rows('SELECT * FROM orders', { maxBytes: 1_000 })).rejects.toMatchObject({
        code: 'result_too_large',
      })
      await expect(rows("SELECT repeat('x', 2000) AS x", { maxBytes: 1_000 })).rejects.toMatchObject({
        code: 'result_too_large',
      })
    }
  })

  test('of no rows is an empty array', async () => {
    expect(await fixture.rows('SELECT * FROM orders WHERE false')).toEqual([])
    expect(await fixture.rows('SELECT * FROM orders WHERE false -- and a comment')).toEqual([])
    expect(await fixture.rows('SELECT 1 AS x; ')).toEqual([{ x: 1 }])
  })
})
