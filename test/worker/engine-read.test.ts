import { readdirSync } from 'node:fs'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { leaveRows, takeRows } from '../../server/engine/executor/socket/large-rows.ts'
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

  test('of many megabytes is whole, several at a time, and leaves no file behind', async () => {
    const { engine, catalog, dir } = fixture
    const lengths = [300_000, 1_100_000, 2_500_000, 300_000, 4_000_000]
    const answers = await Promise.all(
      lengths.map((length) =>
        engine.read('project', catalog, {
          sql: `SELECT repeat('äx', $length // 2) AS text, $length AS length`,
          slots: [{ name: 'length', type: 'integer' as const, value: length }],
          maxRows: 10,
          maxBytes: 10_000_000,
        }),
      ),
    )
    for (const [index, length] of lengths.entries()) {
      const rows = JSON.parse(answers[index]?.bytes.toString() ?? '') as { text: string; length: number }[]
      expect(rows).toEqual([{ text: 'äx'.repeat(length / 2), length }])
    }
    const left = readdirSync(dir, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.rows'))
    expect(left).toEqual([])
  })

  test('that finds no room on the disk comes all the same', async () => {
    const tempDir = await mkdtemp(join(tmpdir(), 'sluice-full-'))
    onTestFinished(() => rm(tempDir, { recursive: true }))
    const pieces = [Buffer.alloc(1_000_000, 97), Buffer.alloc(1_000_000, 98)]
    expect(await leaveRows(join(tempDir, 'gone'), 1, pieces)).toBe(null)
    expect(await leaveRows(tempDir, 1, pieces)).toBe(2_000_000)
    // The same place again is not free.
    expect(await leaveRows(tempDir, 1, pieces)).toBe(null)
    expect(await readdir(tempDir)).toEqual([])
    expect(await leaveRows(tempDir, 2, pieces)).toBe(2_000_000)
    expect((await takeRows(tempDir, 2, 2_000_000)).equals(Buffer.concat(pieces))).toBe(true)
    await expect(takeRows(tempDir, 2, 2_000_000)).rejects.toThrow('ENOENT')
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
