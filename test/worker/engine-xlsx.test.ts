import { crc32, inflateRawSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { xlsxToLines } from '../../server/rows/packed/xlsx.ts'
import { openFixture, type Fixture } from './engine-fixture.ts'

let fixture: Fixture
beforeAll(async () => {
  fixture = await openFixture()
})
afterAll(() => fixture.close())

async function workbook(sql: string, maxRows = 10_000_000): Promise<{ bytes: Buffer; rows: unknown }> {
  const input = { sql, slots: [], maxRows, maxBytes: 1e9, format: 'xlsx' as const }
  const stream = await fixture.engine.stream('project', fixture.catalog, input)
  const parts: Buffer[] = []
  for await (const chunk of stream.chunks) parts.push(chunk.bytes)
  return { bytes: Buffer.concat(parts), rows: stream.end()?.rowCount }
}

/** The rows as the reader of uploads sees them. */
async function readBack(bytes: Buffer): Promise<unknown[]> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-sheet-'))
  try {
    await writeFile(join(folder, 'a.xlsx'), bytes)
    await xlsxToLines(join(folder, 'a.xlsx'), join(folder, 'a.ndjson'), { maxBytes: 1e9 })
    const lines = (await readFile(join(folder, 'a.ndjson'), 'utf8')).split('\n')
    return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as unknown)
  } finally {
    await rm(folder, { recursive: true })
  }
}

async function rowsOf(sql: string): Promise<unknown[]> {
  return readBack((await workbook(sql)).bytes)
}

describe('a workbook', () => {
  test('has numbers, dates, times and truth as such, with a heading', async () => {
    const { bytes } = await workbook(
      "SELECT 1 AS n, 12.50::DECIMAL(9,2) AS d, 0.1::DOUBLE AS f, true AS b, DATE '2026-03-04' AS day, TIMESTAMP '2026-03-04 12:00:00' AS at, TIME '06:00:00' AS t, 'a' AS x, NULL AS nothing",
    )
    const sheet = sheetOf(bytes)
    expect(sheet).toContain('<c r="A2"><v>1</v></c>')
    expect(sheet).toContain('<c r="B2"><v>12.50</v></c>')
    expect(sheet).toContain('<c r="C2"><v>0.1</v></c>')
    expect(sheet).toContain('<c r="D2" t="b"><v>1</v></c>')
    expect(sheet).toContain('<c r="E2" s="2"><v>46085</v></c>')
    expect(sheet).toContain('<c r="F2" s="3"><v>46085.5</v></c>')
    expect(sheet).toContain('<c r="G2" s="4"><v>0.25</v></c>')
    expect(sheet).toContain('<c r="H2" t="inlineStr"><is><t xml:space="preserve">a</t></is></c></row>')
    expect(sheet).not.toContain('"I2"')
  })

  test('of rows that are too long for one text is refused in words, and costs no process', async () => {
    const cells = (count: number) => Array.from({ length: count }, (_, at) => `repeat('x', 32000) AS c${at}`).join(', ')
    const before = fixture.pids()
    const refused = { code: 'result_too_large', message: expect.stringContaining('ask for CSV or Parquet') }
    await expect(workbook(`SELECT ${cells(9)} FROM range(2048)`)).rejects.toMatchObject(refused)
    expect(fixture.pids()).toEqual(before)
    const { bytes, rows } = await workbook(`SELECT ${cells(1)} FROM range(2048)`)
    expect(rows).toBe(2_048)
    expect(sheetOf(bytes).length).toBeGreaterThan(2_048 * 32_000)
  })

  test('reads back as what was written, by the reader of uploads', async () => {
    const rows = await rowsOf(
      "SELECT * FROM (VALUES (1, 'a & <b> \"c\"'), (2, 'x' || chr(1) || 'y_x0041_z'), (3, '=1+1'), (4, '  spaces '), (5, NULL)) t(id, text)",
    )
    expect(rows).toEqual([
      { id: 1, text: 'a & <b> "c"' },
      // As it is written: Excel reads it as the character and the text that they were.
      { id: 2, text: 'x_x0001_y_x005F_x0041_z' },
      { id: 3, text: '=1+1' },
      { id: 4, text: '  spaces ' },
      { id: 5 },
    ])
  })

  test('keeps digits that a spreadsheet would lose as text', async () => {
    const sheet = sheetOf(
      (
        await workbook(
          "SELECT 1234567890123456789 AS id, 999999999999999 AS fits, '0.1234567890123456'::DECIMAL(18,16) AS d",
        )
      ).bytes,
    )
    expect(sheet).toContain('<t xml:space="preserve">1234567890123456789</t>')
    expect(sheet).toContain('<c r="B2"><v>999999999999999</v></c>')
    expect(sheet).toContain('<t xml:space="preserve">0.1234567890123456</t>')
  })

  test('writes what spreadsheets have no type for as text, and days that they count wrongly', async () => {
    expect(
      await rowsOf(
        "SELECT [1, 2] AS l, {'a': 1} AS s, DATE '1850-01-01' AS old, 'infinity'::DOUBLE AS f, '{\"k\": 1}'::JSON AS j, uuid '00000000-0000-0000-0000-000000000001' AS u",
      ),
    ).toEqual([
      {
        l: '[1,2]',
        s: '{"a":1}',
        old: '1850-01-01',
        j: '{"k":1}',
        u: '00000000-0000-0000-0000-000000000001',
      },
    ])
    expect(sheetOf((await workbook("SELECT TIMESTAMPTZ '2026-03-04 12:00:00+02' AS z")).bytes)).toContain(
      '<c r="A2" s="3"><v>46085.41666666667</v></c>',
    )
  })

  test('of many chunks is one sheet, whole and with the right check sum', async () => {
    const { bytes, rows } = await workbook("SELECT i AS n, 'row ' || i AS t FROM range(50000) r(i)")
    expect(rows).toBe(50_000)
    const sheet = await readBack(bytes)
    expect(sheet).toHaveLength(50_000)
    expect(sheet.at(-1)).toEqual({ n: 49_999, t: 'row 49999' })
    expect(sheetOf(bytes)).toMatch(/<\/sheetData><\/worksheet>$/)
  })

  test('of no rows has its heading', async () => {
    expect(sheetOf((await workbook('SELECT id FROM orders WHERE false')).bytes)).toMatch(
      /<sheetData><row r="1"><c r="A1" [^>]*><is><t xml:space="preserve">id<\/t><\/is><\/c><\/row><\/sheetData>/,
    )
  })

  test('is refused where the format cannot hold it', async () => {
    await expect(workbook('SELECT i FROM range(1048576) r(i)')).rejects.toMatchObject({
      code: 'result_too_large',
      message:
        'A spreadsheet has at most 1048575 rows below its heading. Narrow the result, or ask for CSV or Parquet.',
    })
    await expect(workbook("SELECT 1 AS a, repeat('x', 40000) AS t")).rejects.toMatchObject({
      code: 'result_too_large',
      message: expect.stringContaining('The cell B2 would have 40000 characters'),
    })
  })
})

/** The text of the sheet, whose check sum must be that of the directory. */
function sheetOf(bytes: Buffer): string {
  const name = 'xl/worksheets/sheet1.xml'
  const entry = bytes.lastIndexOf(name) - 46
  const [crc, packed, at] = [16, 20, 42].map((offset) => bytes.readUInt32LE(entry + offset)) as [number, number, number]
  const begins = at + 30 + name.length
  const content = inflateRawSync(bytes.subarray(begins, begins + packed))
  expect(crc32(content)).toBe(crc)
  return content.toString()
}
