import { rm } from 'node:fs/promises'
import type { modelComparison } from '../../api/models.ts'
import type { Value } from '../../api/wire-codec.ts'
import type { Caller } from '../access/index.ts'
import type { Config } from '../config.ts'
import { readRules, type SourceApp } from '../connections/index.ts'
import type { ProjectCatalog } from '../data/index.ts'
import type { Catalog, CatalogTable, Column } from '../engine/index.ts'
import { invalidField } from '../failure.ts'
import type { Jobs } from '../jobs/index.ts'
import { examineAmong, findRecord } from './models.ts'
import { movedWith, type QueryDependents } from './moves.ts'
import { asTables } from './placeholders.ts'
import { quotedName, rowReader, shortRows, type RowsRead } from './read-rows.ts'
import type { ModelRecord } from './records.ts'
import type { StatementParts } from './statement.ts'

export type ModelComparison = Value<typeof modelComparison>

type CompareApp = SourceApp & StatementParts & QueryDependents & { jobs: Jobs; config: Config }

const maxExamples = 10

/**
 * Rows that a model would have, beside those that serve: with other SQL before it is saved, or with its own, built
 * from nothing, to prove those that were merged. Nothing of it is stored.
 */
export async function compareModel(
  app: CompareApp,
  caller: Caller,
  input: {
    projectId: string
    name: string
    sql?: string | undefined
    key?: string[] | undefined
    signal?: AbortSignal
  },
): Promise<ModelComparison> {
  const { projectId, name, signal } = input
  const model = await findRecord(app, caller, input, 'editor')
  const known = await readRules(app.store.db, model.datasourceId)
  const load = known?.load ?? { mode: 'replace' as const }
  const sql = input.sql ?? model.sql
  const examined = await examineAmong(app, { projectId, name, sql, load: { mode: 'merge' } })
  const catalog = await app.catalogs.get(projectId)
  const after = await built(app, { ...model, ...examined, sql }, { catalog, signal })
  const before = catalog.tables.find((table) => table.name === name)
  const unique = known?.rules.checks.flatMap((check) => (check.type === 'unique' ? [check.columns] : []))[0]
  const key = input.key ?? load.primaryKey ?? unique ?? []
  const moves = await movedWith(app, { projectId, name })
  if (before === undefined) return { ...nothingBefore(after), key, moves }
  const missing = key.find(
    (each) => ![before, after.table].every(({ columns }) => columns.some((c) => c.name === each)),
  )
  if (missing !== undefined && input.key !== undefined)
    throw invalidField('key', `names ${missing}, which is not a column before and after`)
  const sides = { before, after: after.table }
  const compared = await compareTables(app, { projectId, sides, key: missing === undefined ? key : [], signal })
  return { ...compared, moves }
}

type Built = { table: CatalogTable; rowCount: number }

async function built(
  app: CompareApp,
  { projectId, name, sql, dialect, reads }: ModelRecord,
  { catalog, signal }: { catalog: ProjectCatalog; signal: AbortSignal | undefined },
): Promise<Built> {
  const path = app.files.temporaryPath('parquet')
  const { modelRows: maxRows, modelBytes: maxBytes, executeTimeoutMs: timeoutMs } = app.config.limits
  try {
    const read = asTables(catalog.together(Object.keys(reads)), { sql, dialect })
    const written = await app.engine.writeTable(
      projectId,
      read.catalog,
      { dialect, sql: read.sql, path, maxRows, maxBytes },
      { timeoutMs, ...(signal && { signal }) },
    )
    const { hash } = await app.files.keep(path, 'parquet')
    return { table: { name, rows: { hash, format: 'parquet' }, columns: written.columns }, rowCount: written.rowCount }
  } finally {
    await rm(path, { force: true })
  }
}

function nothingBefore({ table, rowCount }: Built): Omit<ModelComparison, 'key' | 'moves'> {
  const counts = { rowsBefore: 0, rowsAfter: rowCount, added: rowCount, removed: 0, changed: 0, equal: 0 }
  const columnsAdded = table.columns.map((column) => column.name)
  return { ...counts, changedByColumn: {}, columnsAdded, columnsRemoved: [], columnsRetyped: [], examples: [] }
}

type Sides = { before: CatalogTable; after: CatalogTable }
type Comparing = { projectId: string; sides: Sides; key: string[]; signal: AbortSignal | undefined }

/** Rows found by their key, or as a whole where nothing tells them apart. */
async function compareTables(
  app: CompareApp,
  { projectId, sides: { before, after }, key, signal }: Comparing,
): Promise<Omit<ModelComparison, 'moves'>> {
  const [old, now] = [typesOf(before.columns), typesOf(after.columns)]
  const common = [...old.keys()].filter((name) => now.has(name))
  const shared = {
    key,
    columnsAdded: [...now.keys()].filter((name) => !old.has(name)),
    columnsRemoved: [...old.keys()].filter((name) => !now.has(name)),
    columnsRetyped: common.flatMap((name) => {
      const [from, to] = [old.get(name) ?? '', now.get(name) ?? '']
      return from === to ? [] : [{ name, from, to }]
    }),
  }
  const retyped = new Set(shared.columnsRetyped.map(({ name }) => name))
  const catalog: Catalog = {
    projectId,
    version: `comparison of ${before.rows.hash} and ${after.rows.hash} ${JSON.stringify(before.hiddenColumns ?? [])}`,
    tables: [
      { ...before, name: 'rows_before' },
      { ...after, name: 'rows_after' },
    ],
  }
  const read = rowReader(app, { catalog, signal })
  const [counts = {}] = await read(
    'SELECT (SELECT count(*) FROM rows_before) AS rows_before, (SELECT count(*) FROM rows_after) AS rows_after',
  )
  const sized = { rowsBefore: Number(counts['rows_before']), rowsAfter: Number(counts['rows_after']) }
  const compared =
    key.length === 0
      ? await compareWhole(read, { common, retyped, ...sized })
      : await compareByKey(read, { key, common, retyped, before: [...old.keys()], after: [...now.keys()] })
  return { ...shared, ...sized, ...compared }
}

type ByKey = { key: string[]; common: string[]; retyped: Set<string>; before: string[]; after: string[] }

async function compareByKey(read: RowsRead, { key, common, retyped, before, after }: ByKey) {
  const values = common.filter((name) => !key.includes(name))
  const differ = values.map((name) => differs(name, retyped.has(name)))
  const anyDiffers = differ.length === 0 ? 'false' : differ.join(' OR ')
  const on = key.map((name) => `b.${quotedName(name)} IS NOT DISTINCT FROM a.${quotedName(name)}`).join(' AND ')
  const joined = `(SELECT true AS here, * FROM rows_before) AS b FULL JOIN (SELECT true AS here, * FROM rows_after) AS a ON ${on}`
  const both = 'b.here AND a.here'
  const list = [
    'count(*) FILTER (WHERE b.here IS NULL) AS added',
    'count(*) FILTER (WHERE a.here IS NULL) AS removed',
    `count(*) FILTER (WHERE ${both} AND (${anyDiffers})) AS changed`,
    `count(*) FILTER (WHERE ${both} AND NOT (${anyDiffers})) AS equal`,
    ...differ.map((differing, index) => `count(*) FILTER (WHERE ${both} AND ${differing}) AS c${index}`),
  ]
  const [found = {}] = await read(`SELECT ${list.join(', ')} FROM ${joined}`)
  const number = (name: string): number => Number(found[name] ?? 0)
  const aliased = (side: 'a' | 'b', names: string[]) =>
    names.map((name, index) => `${side}.${quotedName(name)} AS ${side}${index}`)
  const examples = await read(
    shortRows(`SELECT b.here AS in_b, a.here AS in_a, ${[...aliased('b', before), ...aliased('a', after)].join(', ')}
    FROM ${joined} WHERE b.here IS NULL OR a.here IS NULL OR ${anyDiffers}
    ORDER BY ${key.map((name) => `coalesce(a.${quotedName(name)}::VARCHAR, b.${quotedName(name)}::VARCHAR)`).join(', ')} LIMIT ${maxExamples}`),
  )
  const rowOf = (row: Record<string, unknown>, side: 'a' | 'b', names: string[]) =>
    row[`in_${side}`] === true ? Object.fromEntries(names.map((name, index) => [name, row[`${side}${index}`]])) : null
  return {
    added: number('added'),
    removed: number('removed'),
    changed: number('changed'),
    equal: number('equal'),
    changedByColumn: Object.fromEntries(
      values.flatMap((name, index) => (number(`c${index}`) === 0 ? [] : [[name, number(`c${index}`)]])),
    ),
    examples: examples.map((row) => {
      const [was, is] = [rowOf(row, 'b', before), rowOf(row, 'a', after)]
      return { change: was === null ? 'added' : is === null ? 'removed' : 'changed', before: was, after: is } as const
    }),
  }
}

async function compareWhole(
  read: RowsRead,
  {
    common,
    retyped,
    rowsBefore,
    rowsAfter,
  }: { common: string[]; retyped: Set<string>; rowsBefore: number; rowsAfter: number },
) {
  const list = common.map((name) =>
    retyped.has(name) ? `${quotedName(name)}::VARCHAR AS ${quotedName(name)}` : quotedName(name),
  )
  const side = (table: string) => `SELECT ${list.length === 0 ? '1 AS one' : list.join(', ')} FROM ${table}`
  const less = (one: string, other: string) => `(${side(one)} EXCEPT ALL ${side(other)})`
  const only = (one: string, other: string) => read(`SELECT count(*) AS n FROM ${less(one, other)} AS rest`)
  const some = (one: string, other: string) =>
    read(shortRows(`SELECT * FROM ${less(one, other)} AS rest LIMIT ${maxExamples / 2}`))
  const [[added = {}], [removed = {}]] = [
    await only('rows_after', 'rows_before'),
    await only('rows_before', 'rows_after'),
  ]
  const [came, went] = [await some('rows_after', 'rows_before'), await some('rows_before', 'rows_after')]
  return {
    added: Number(added['n']),
    removed: Number(removed['n']),
    changed: 0,
    equal: Math.min(rowsBefore - Number(removed['n']), rowsAfter - Number(added['n'])),
    changedByColumn: {},
    examples: [
      ...came.map((row) => ({ change: 'added' as const, before: null, after: row })),
      ...went.map((row) => ({ change: 'removed' as const, before: row, after: null })),
    ],
  }
}

function typesOf(columns: Column[]): Map<string, string> {
  return new Map(columns.map(({ name, type }) => [name, type]))
}

function differs(name: string, isRetyped: boolean): string {
  const cast = isRetyped ? '::VARCHAR' : ''
  return `b.${quotedName(name)}${cast} IS DISTINCT FROM a.${quotedName(name)}${cast}`
}
