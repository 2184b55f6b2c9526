import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Contract, Converted, ConvertedColumn } from '../../server/engine/index.ts'
import { openFixture, type Fixture } from './engine-fixture.ts'

type Result = Converted & { types: Record<string, string>; rows: Record<string, unknown>[] }

/** An engine that turns texts into tables and reads them back. */
export type Conversions = {
  fixture: Fixture
  /** Where the table of the last conversion is, or would be. */
  lastPath: () => string
  /** `before` is what the column held until now, or a contract for what it may hold. */
  convert: (text: string, before?: ConvertedColumn[] | Contract | null, kind?: 'ndjson' | 'csv') => Promise<Result>
  close: () => Promise<void>
}

export async function openConversions(): Promise<Conversions> {
  const fixture = await openFixture()
  const { dir, engine } = fixture
  let count = 0
  const tablePath = (): string => join(dir, `table-${count}.parquet`)
  const convert: Conversions['convert'] = async (text, before = null, kind = 'ndjson') => {
    const contract = Array.isArray(before)
      ? { columns: before.map((column) => ({ ...column, declared: false })), onMismatch: 'widen' as const }
      : before
    count += 1
    const path = join(dir, `source-${count}.${kind}`)
    const parquetPath = tablePath()
    await writeFile(path, text)
    const converted = await engine.convert('project', { source: { kind, path }, parquetPath, contract })
    const catalog = { version: `convert-${count}`, tables: [{ name: 't', parquetPath, columns: converted.columns }] }
    const answer = await engine.read('convert', catalog, {
      sql: 'SELECT * FROM t',
      slots: [],
      maxRows: 100_000,
      maxBytes: 1e8,
    })
    const types = Object.fromEntries(converted.columns.map((column) => [column.name, column.type]))
    return { ...converted, types, rows: JSON.parse(answer.bytes.toString()) as Record<string, unknown>[] }
  }
  return { fixture, lastPath: tablePath, convert, close: fixture.close }
}

/** A text of one JSON value a line. */
export const lines = (...values: unknown[]): string =>
  values.map((value) => (typeof value === 'string' ? value : JSON.stringify(value))).join('\n')
