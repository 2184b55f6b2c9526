import { rm, writeFile } from 'node:fs/promises'
import type { Catalogs, ProjectCatalog } from '../data/index.ts'
import type { CallLimits, CatalogTable, QueryEngine, TableBuilder } from '../engine/index.ts'
import type { Files } from '../files/index.ts'
import { Failure, invalidField } from '../failure.ts'
import type { Dialect } from '../store/index.ts'
import { asTables, ofTables } from './placeholders.ts'
import type { ModelRecord } from './records.ts'

export type StatementParts = { catalogs: Catalogs; engine: QueryEngine; builder: TableBuilder; files: Files }

/** The tables that a statement reads, and the columns that it gives. */
export type ExaminedModel = Pick<ModelRecord, 'dialect' | 'reads' | 'columns'>

type Statement = { projectId: string; sql: string; dialect?: Dialect; limits?: CallLimits }

/**
 * Proves a statement as a query is proved, and that it needs no values. Models that have no data yet are read as tables
 * without rows, so that several can be written before the first is built.
 */
export async function examineStatement(
  app: StatementParts,
  models: ReadonlyMap<string, ModelRecord>,
  { projectId, sql, dialect: known, limits }: Statement,
): Promise<ExaminedModel> {
  // A table is not read without its name.
  const text = sql.toLowerCase()
  const named = [...models.values()].filter(({ name }) => text.includes(name.toLowerCase()))
  const catalog = await withUnbuilt(app, await app.catalogs.get(projectId), named)
  const dialect = known ?? catalog.engine
  const read = asTables(catalog, { sql, dialect })
  const found = await app.engine.inspect(projectId, read.catalog, { dialect, sql: read.sql, slots: [] }, limits)
  const [slot] = found.slots
  if (slot !== undefined) {
    throw invalidField('sql', `holds $${slot.name}: a model has no slots`, {
      message: `A model is built without a caller, so its SQL has no slots: $${slot.name}. Put it into a query that reads the model.`,
    })
  }
  if (found.tables.length === 0) {
    throw invalidField('sql', 'reads no table', { message: 'A model is made of tables, and its SQL reads none.' })
  }
  const taken = new Set<string>()
  for (const { name } of found.columns) {
    if (taken.has(name.toLowerCase())) {
      throw invalidField('sql', `gives two columns called ${name}`, {
        message: `Two columns are called ${name}. Give each a name of its own, with AS.`,
      })
    }
    taken.add(name.toLowerCase())
  }
  return {
    dialect,
    reads: ofTables(found.columnsByTable),
    columns: found.columns.map(({ name, type }) => ({ name, type })),
  }
}

async function withUnbuilt(
  app: StatementParts,
  catalog: ProjectCatalog,
  models: ModelRecord[],
): Promise<ProjectCatalog> {
  const there = new Set(catalog.tables.map(({ name }) => name))
  const empty: CatalogTable[] = []
  for (const model of models) {
    if (there.has(model.name) || model.columns.length === 0) continue
    empty.push(await emptyTable(app, catalog.projectId, model))
  }
  if (empty.length === 0) return catalog
  const version = `${catalog.version}\n${empty.map(({ name, rows }) => `${name}=${rows.hash}`).join('\n')}`
  return { ...catalog, version, tables: [...catalog.tables, ...empty] }
}

/** A table of some columns without rows; its file is swept like any that nobody names. */
export async function emptyTable(
  { builder, files }: Pick<StatementParts, 'builder' | 'files'>,
  projectId: string,
  { name, columns }: Pick<ModelRecord, 'name' | 'columns'>,
): Promise<CatalogTable> {
  const [path, parquetPath] = [files.temporaryPath('ndjson'), files.temporaryPath('parquet')]
  try {
    await writeFile(path, '')
    const declared = columns.map((column) => ({ ...column, sourceKey: column.name, declared: true }))
    const contract = { columns: declared, onMismatch: 'refuse' as const }
    await builder.convert(projectId, { source: { kind: 'ndjson', path }, parquetPath, contract })
    const { hash } = await files.keep(parquetPath, 'parquet')
    return { name, rows: { hash, format: 'parquet' }, columns }
  } finally {
    await Promise.all([path, parquetPath].map((each) => rm(each, { force: true })))
  }
}

/** A table that is not there yet: it may come with a load that is under way. */
export function withoutData(name: string, missing: string[]): Failure {
  return new Failure('invalid_request', {
    reason: 'invalid_sql',
    message: `${name} cannot be built yet: ${missing.join(', ')} ${missing.length === 1 ? 'has' : 'have'} no data.`,
  })
}
