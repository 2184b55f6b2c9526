import { createHash, randomUUID } from 'node:crypto'
import {
  columnTypeName,
  nameOfRows,
  parseColumnType,
  type Catalog,
  type CatalogTable,
  type ColumnType,
  type TableBuilder,
} from '../../engine/index.ts'
import { type Bucket, type Files, type StoredFile } from '../../files/index.ts'
import type { TrinoClient } from '../client/client.ts'
import type { IcebergCatalog } from './iceberg-catalog.ts'
import { contentSchema, makingPrefix } from './names.ts'
import { portableType, quoteIdentifier, quoteLiteral, trinoType } from '../client/types.ts'

export type TableParts = {
  client: TrinoClient
  iceberg: IcebergCatalog
  files: Files
  builder: TableBuilder
  bucket: Pick<Bucket, 'addressOf'>
  /** The catalog's name in Trino. */
  catalog: string
  timeoutMs: number
  now: () => number
}

/** A table of a catalog by what is in it: its rows, and the columns that SQL sees of them. */
export function contentName(table: CatalogTable): string {
  const seen = JSON.stringify([nameOfRows(table), table.columns.map(({ name, type }) => [name, type])])
  return `t_${createHash('sha256').update(seen).digest('hex').slice(0, 40)}`
}

/** Name of all tables of a catalog: the same name is the same tables with the same rows. */
export function catalogName({ tables }: Catalog): string {
  const named = tables.map((table) => `${table.name.toLowerCase()}=${contentName(table)}`).toSorted()
  return createHash('sha256').update(named.join('\n')).digest('hex').slice(0, 32)
}

type PortableColumn = { name: string; type: ColumnType }

/**
 * Makes a table known to Trino, under a name that nobody reads until it is whole: an Iceberg table over the Parquet
 * objects that are there. Only rows that Iceberg has no types for are written once more.
 */
export async function makeContentTable(parts: TableParts, table: CatalogTable): Promise<void> {
  const { client, iceberg, catalog, bucket } = parts
  const columns = table.columns.map(({ name, type }): PortableColumn => {
    return { name, type: portableType(parseColumnType(type)) }
  })
  const copy = isReadAsStored(table, columns) ? null : await writeCopy(parts, table, columns)
  const files = copy === null ? rowFiles(table) : [copy]
  const name = `${makingPrefix}${parts.now()}_${randomUUID().replaceAll('-', '')}`
  const full = `${quoteIdentifier(catalog)}.${contentSchema}.${name}`
  const signal = AbortSignal.timeout(parts.timeoutMs)
  const defined = columns.map((column) => `${quoteIdentifier(column.name)} ${trinoType(column.type)}`)
  await client.rows({ sql: `CREATE TABLE ${full} (${defined.join(', ')})`, signal })
  for (const file of files) {
    const location = quoteLiteral(bucket.addressOf(file))
    await client.rows({
      sql: `ALTER TABLE ${full} EXECUTE add_files(location => ${location}, format => 'PARQUET')`,
      signal,
    })
  }
  await iceberg.settle({ made: name, content: contentName(table), copyHash: copy?.hash ?? null })
}

/** Whether every file has the rows as the table has them: all of them, and each column in its type or not at all. */
function isReadAsStored({ columns: shown, parted }: CatalogTable, columns: PortableColumn[]): boolean {
  const isPortable = columns.every(({ type }, index) => columnTypeName(type) === typeText(shown[index]?.type ?? ''))
  if (parted === undefined || !isPortable) return isPortable
  return parted.parts.every(
    (part) =>
      !part.hasPast &&
      parted.columns.every(({ name, type }, index) => {
        const own = part.columns[index]
        return own === null || own === undefined || (own.name === name && own.type === type)
      }),
  )
}

/** In the one way in which types are written here. */
function typeText(type: string): string {
  return columnTypeName(parseColumnType(type))
}

function rowFiles({ rows, parted }: CatalogTable): StoredFile[] {
  return parted === undefined ? [rows] : parted.parts.map((part) => part.rows)
}

async function writeCopy(parts: TableParts, table: CatalogTable, columns: PortableColumn[]): Promise<StoredFile> {
  const { files, builder, timeoutMs } = parts
  const path = files.temporaryPath('parquet')
  const cast = columns.map(({ name, type }) => ({ name, type: duckdbType(type) }))
  await builder.castTable({ table, columns: cast, path }, { timeoutMs })
  const { hash } = await files.keep(path, 'parquet')
  return { hash, format: 'parquet' }
}

/** With every name in quotes: one may be a word of SQL. */
function duckdbType(type: ColumnType): string {
  if (type.kind === 'list') return `${duckdbType(type.item)}[]`
  if (type.kind === 'map') return `MAP(${duckdbType(type.key)}, ${duckdbType(type.value)})`
  if (type.kind !== 'struct') return columnTypeName(type)
  return `STRUCT(${type.fields.map((field) => `${quoteIdentifier(field.name)} ${duckdbType(field.type)}`).join(', ')})`
}
