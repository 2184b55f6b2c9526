import { rm, writeFile } from 'node:fs/promises'
import type { RowTest } from '../../api/row-tests.ts'
import type { CatalogTable, Column, TableBuilder } from '../engine/index.ts'
import type { Files } from '../files/index.ts'
import { Failure } from '../failure.ts'

/** The columns of each table, by its name. */
export type Contracts = ReadonlyMap<string, Column[]>

type Given = { table: string; given: RowTest['given'][string]; contracts: Contracts }

/** Rows under the contract of the real table. A file of the same rows is one file, and swept like any without a name. */
export async function givenTable(
  app: { builder: TableBuilder; files: Files },
  projectId: string,
  { table, given, contracts }: Given,
): Promise<CatalogTable> {
  const columns = contracts.get(table) ?? []
  const [path, parquetPath] = [app.files.temporaryPath('rows'), app.files.temporaryPath('parquet')]
  try {
    const isText = typeof given === 'string'
    await writeFile(path, isText ? given : given.map((row) => `${JSON.stringify(row)}\n`).join(''))
    const declared = columns.map(({ name, type }) => ({ name, type: roomy(type), sourceKey: name, declared: true }))
    const contract = { columns: declared, onMismatch: 'refuse' as const }
    const source = { kind: isText && given.trim() !== '' ? ('csv' as const) : ('ndjson' as const), path }
    const made = await app.builder.convert(projectId, { source, parquetPath, contract }).catch((error: unknown) => {
      throw error instanceof Failure && error.code === 'upstream_error' ? notFitting(table, error) : error
    })
    const other = made.columns.find(({ name }) => !columns.some((column) => column.name === name))
    if (other !== undefined) throw notFitting(table, new Error(`the table has no column ${other.name}`))
    const { hash } = await app.files.keep(parquetPath, 'parquet')
    const typed = declared.map(({ name, type }) => ({ name, type }))
    return { name: table, rows: { hash, format: 'parquet' }, columns: typed }
  } finally {
    await Promise.all([path, parquetPath].map((each) => rm(each, { force: true })))
  }
}

/** Digits behind the point are as many as the data has had so far: rows of a test may have more of them. */
function roomy(type: string): string {
  const [, digits = '0', scale = '0'] = /^DECIMAL\((\d+),(\d+)\)$/.exec(type) ?? []
  return Number(digits) === 18 && Number(scale) > 0 && Number(scale) < 6 ? 'DECIMAL(18,6)' : type
}

function notFitting(table: string, { message }: Error): Failure {
  return new Failure('invalid_request', { reason: 'type_mismatch', message: `given ${table}: ${message}` })
}
