import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { tableFromIPC } from 'apache-arrow'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ConvertCall } from '../../server/engine/index.ts'
import { rounds } from '../harness/rounds.ts'
import { openFixture, type Fixture } from './engine-fixture.ts'

let fixture: Fixture
let round = 0

beforeAll(async () => {
  fixture = await openFixture()
})
afterAll(() => fixture.close())

/** Aliases and tables of our own SQL, columns that the engine adds, keywords, functions, quotes and odd letters. */
const awkward = [
  ...'v n x t j c0 c1 e0 r i low high bin key value line doubtful cell cells part data copy numbers span plan'.split(
    ' ',
  ),
  ...'result_rows rows_of_object filename file_row_number file_index rowid row_id index count sum user'.split(' '),
  ...'current_user select from where group order null true default table column end case left all distinct'.split(' '),
  'V',
  'N',
  'Key',
  'ROWID',
  'a.b',
  'a b',
  ' ',
  '  a',
  'a"b',
  '"',
  '""',
  "'",
  "a'b",
  '\\',
  '$x',
  '?',
  ';',
  '--',
  '/*',
  'é',
  'É',
  '日本',
  '\u212a',
  'k',
  'ß',
  'ẞ',
  'İ',
  'i̇',
  '\u200b',
  '👍',
  '{',
  '[',
  ':',
  ',',
  '#',
  '%',
  '__proto__',
  'constructor',
  'toString',
  'column',
  'column_1',
  'v_1',
  'V_1',
  '0',
  '1e5',
  '-',
  '*',
  '(',
  'x'.repeat(300),
]

const formats = ['json', 'ndjson', 'csv', 'parquet', 'arrow'] as const

async function throughEverything(source: ConvertCall['source'], rowCount: number): Promise<void> {
  const dir = join(fixture.dir, `round-${(round += 1)}`)
  await mkdir(dir)
  const { engine } = fixture
  const parquetPath = join(dir, 'rows.parquet')
  const nativePath = join(dir, 'rows.duckdb')
  const converted = await engine.convert('project', { source, parquetPath, contract: null })
  expect(converted.rowCount).toBe(rowCount)
  const names = converted.columns.map(({ name }) => name)
  const profile = await engine.profile({ parquetPath })
  expect(profile.columns.map(({ name }) => name)).toEqual(names)
  for (const column of profile.columns) expect(column, column.name).toMatchObject({ nullCount: 0, distinctCount: 2 })
  const values = await engine.distinctValues({ parquetPath, columns: names, cap: 10 })
  expect(values.every(({ values: found }) => found.length === 2)).toBe(true)
  await engine.buildNative({ parquetPath, nativePath })
  const plain = { name: 'rows', parquetPath, columns: converted.columns }
  const catalogs = [
    { version: `parquet ${round}`, tables: [plain] },
    { version: `native ${round}`, tables: [{ ...plain, nativePath }] },
  ]
  const listed = names.map((name) => `"${name.replaceAll('"', '""')}"`).join(', ')
  for (const catalog of catalogs) {
    const input = { slots: [], maxRows: 10, maxBytes: 10_000_000 }
    for (const sql of ['SELECT * FROM rows', `SELECT ${listed} FROM rows`]) {
      await engine.inspect('project', catalog, { sql, slots: [] })
      // How an answer is written does not depend on how its rows were found: each way once.
      for (const format of catalog === catalogs[0] && sql.includes('*') ? formats : (['json'] as const)) {
        const { columns, rowCount: read, bytes } = await engine.read('project', catalog, { ...input, sql, format })
        expect(columns.map(({ name }) => name)).toEqual(names)
        expect(read).toBe(rowCount)
        if (format === 'json') {
          const rows = JSON.parse(bytes.toString()) as object[]
          for (const row of rows) expect(new Set(Object.keys(row))).toEqual(new Set(names))
        }
        if (format === 'arrow') expect(tableFromIPC(bytes).schema.fields.map(({ name }) => name)).toEqual(names)
      }
    }
  }
}

async function file(name: string, text: string): Promise<string> {
  const path = join(fixture.dir, `${(round += 1)}-${name}`)
  await writeFile(path, text)
  return path
}

const jsonRow = (names: string[], offset: number): string =>
  `{${names.map((name, index) => `${JSON.stringify(name)}:${offset + index}`).join()}}`

describe('columns of any name', () => {
  test('go through everything, all at once', async () => {
    expect.hasAssertions()
    const path = await file(
      'rows.ndjson',
      [0, 1].map((offset) => `${jsonRow([...new Set(awkward)], offset)}\n`).join(''),
    )
    await throughEverything({ kind: 'ndjson', path }, 2)
  }, 60_000)

  test('go through everything, some at a time, from JSON and from CSV', async () => {
    expect.hasAssertions()
    const name = fc.oneof(
      { weight: 3, arbitrary: fc.constantFrom(...awkward) },
      fc.string({ unit: 'grapheme', maxLength: 8 }),
    )
    const lists = fc.uniqueArray(name, { minLength: 1, maxLength: 6 })
    await fc.assert(
      fc.asyncProperty(lists, async (names) => {
        const path = await file('rows.ndjson', [0, 1].map((offset) => `${jsonRow(names, offset)}\n`).join(''))
        await throughEverything({ kind: 'ndjson', path }, 2)
        const cell = (text: string): string => `"${text.replaceAll('"', '""')}"`
        const lines = [names, names.map((_, index) => String(index)), names.map((_, index) => String(index + 1))]
        const body = await file('rows.csv', lines.map((line) => `${line.map(cell).join()}\r\n`).join(''))
        const answer = { path: body, contentType: 'text/csv', extractor: undefined, maxDepth: 64 }
        await throughEverything({ kind: 'answer', ...answer }, 2)
      }),
      { numRuns: rounds(5, 25), seed: 5 },
    )
  }, 120_000)

  test('a NUL in a text stays in the rows, and what is said about them can be stored', async () => {
    const path = await file(
      'nul.ndjson',
      '{"a":"x\\u0000y","b\\u0000":"1","\\u0000":"z"}\n{"a":"b","b\\u0000":"2","\\u0000":"w"}\n',
    )
    const parquetPath = join(fixture.dir, 'nul.parquet')
    const { columns } = await fixture.engine.convert('project', {
      source: { kind: 'ndjson', path },
      parquetPath,
      contract: null,
    })
    expect(columns.map(({ name }) => name)).toEqual(['a', 'b\ufffd', '\ufffd'])
    const catalog = { version: 'nul', tables: [{ name: 'texts', parquetPath, columns }] }
    const sql = 'SELECT a FROM texts ORDER BY a DESC'
    const { bytes } = await fixture.engine.read('project', catalog, { sql, slots: [], maxRows: 10, maxBytes: 1_000 })
    expect(JSON.parse(bytes.toString())).toEqual([{ a: 'x\0y' }, { a: 'b' }])
    const said = [
      await fixture.engine.profile({ parquetPath }),
      await fixture.engine.distinctValues({ parquetPath, columns: ['a'], cap: 10 }),
    ]
    expect(JSON.stringify(said)).not.toContain('\\u0000')
    expect(JSON.stringify(said)).toContain('x\u2400y')
  })
})
