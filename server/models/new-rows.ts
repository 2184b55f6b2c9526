import { rm } from 'node:fs/promises'
import type { Config } from '../config.ts'
import { rowsSince, type ProjectCatalog, type TableMoment } from '../data/index.ts'
import { catalogVersion, type CallLimits, type CatalogTable } from '../engine/index.ts'
import type { BuiltFrom } from '../store/index.ts'
import { newRowTables } from './placeholders.ts'
import { quotedName, rowReader } from './read-rows.ts'
import { emptyTable, type StatementParts } from './statement.ts'

type App = StatementParts & { config: Pick<Config, 'limits'> }
type Since = {
  /** The project's, with the versions that the model was built from behind those that serve. */
  catalog: ProjectCatalog
  /** The tables that the statement reads, as it reads them now. */
  now: ProjectCatalog
  reads: string[]
  sql: string
  builtFrom: BuiltFrom[] | null
}

/**
 * The rows of each table of a statement that came since a version was built. Null where the table must be built in full:
 * something changed that the statement reads as a whole, was written anew, or lost rows.
 */
export async function newRows(
  app: App,
  { catalog, now, reads, sql, builtFrom }: Since,
  limits: CallLimits,
): Promise<Map<string, CatalogTable> | null> {
  const wanted = new Set(newRowTables(sql))
  const before = new Map((builtFrom ?? []).map((each) => [each.datasourceId, each.version]))
  const rows = new Map<string, CatalogTable>()
  for (const table of reads) {
    const [moment] = now.moments.get(table) ?? []
    const was = before.get(moment?.datasourceId ?? '')
    if (moment === undefined || was === undefined) return null
    if (was === moment.version) {
      if (wanted.has(table)) rows.set(table, await emptyTable(app, catalog.projectId, moment.table))
      continue
    }
    const earlier = catalog.moments.get(table)?.find((each) => each.version === was)
    const found =
      !wanted.has(table) || earlier === undefined
        ? null
        : await rowsBetween(app, { projectId: catalog.projectId, earlier, moment, limits })
    if (found === null) return null
    rows.set(table, found)
  }
  return rows
}

type Between = { projectId: string; earlier: TableMoment; moment: TableMoment; limits: CallLimits }

async function rowsBetween(app: App, { projectId, earlier, moment, limits }: Between): Promise<CatalogTable | null> {
  const since = rowsSince(earlier, moment)
  if (since === null) return null
  const { now, before, key } = since
  // Nothing that SQL sees would tell its rows apart.
  if (key?.some((name) => !moment.table.columns.some((column) => column.name === name)) === true) return null
  // Parts that came are read where they lie.
  const came = before === null ? now : await withoutThose(app, { projectId, now, before, limits })
  return (await lostRows(app, { projectId, earlier, moment, came, key, limits })) ? null : came
}

/** Rows of a table that another one has not: of parts that were put together with those before them. */
async function withoutThose(
  app: App,
  { projectId, now, before, limits }: Pick<Between, 'projectId' | 'limits'> & Record<'now' | 'before', CatalogTable>,
): Promise<CatalogTable> {
  const tables = [
    { ...now, name: 'now' },
    { ...before, name: 'before' },
  ]
  const over = { projectId, version: catalogVersion(tables), tables }
  const sql = 'SELECT * FROM "now" EXCEPT ALL SELECT * FROM "before"'
  const path = app.files.temporaryPath('parquet')
  const { modelRows: maxRows, modelBytes: maxBytes } = app.config.limits
  try {
    await app.engine.writeTable(projectId, over, { dialect: 'duckdb', sql, path, maxRows, maxBytes }, limits)
    const { hash } = await app.files.keep(path, 'parquet')
    return { name: now.name, columns: now.columns, rows: { hash, format: 'parquet' } }
  } finally {
    await rm(path, { force: true })
  }
}

/** Whether rows are gone for which none came under the same key: what came and was not there has to be what there is more. */
async function lostRows(
  app: App,
  { projectId, earlier, moment, came, key, limits }: Between & { came: CatalogTable; key: string[] | null },
): Promise<boolean> {
  const tables = [
    { ...earlier.table, name: 'earlier' },
    { ...came, name: 'came' },
  ]
  const catalog = { projectId, version: catalogVersion(tables), tables }
  const keys = (key ?? []).map(quotedName).join(', ')
  const isNew = key === null ? '' : ` AS came ANTI JOIN earlier USING (${keys})`
  const read = rowReader(app, { catalog, signal: limits.signal })
  const [row] = await read(`SELECT count(*) AS more FROM came${isNew}`)
  return earlier.rowCount + Number(row?.['more']) !== moment.rowCount
}
