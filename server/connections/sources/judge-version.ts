import type { CallLimits, Converted, PartedTable, QueryEngine, TableBuilder } from '../../engine/index.ts'
import type { Catalogs, LiveData, QueryGate } from '../../data/index.ts'
import { Failure } from '../../failure.ts'
import type { StoredFile } from '../../files/index.ts'
import type { Clock } from '../../clock.ts'
import type { ColumnRecord, DataCheck, HeldBecause, LoadWarning } from '../../store/index.ts'
import { sqlName } from '../request/sql-name.ts'
import type { TableRules } from './table-rules.ts'

/** Data that came, before anyone reads it. */
export type Arrival = {
  projectId: string
  tableName: string
  /** The rows that came; where none did, the first of those before. */
  rows: StoredFile
  converted: Converted
  /** The table with them. */
  columns: ColumnRecord[]
  rowCount: number
  /** Whole table, where it has more rows than came. */
  whole: PartedTable | null
  requestHash: string
  /** Why it cannot be shown to be whole. */
  warnings: LoadWarning[]
  /** The next load would bring some of its rows again, and nothing tells them apart. */
  repeats: boolean
  live: LiveData | null
  /** The version that the rows join; null where they take its place. */
  base: LiveData | null
  rules: TableRules
  limits: CallLimits
}

type Parts = { engine: QueryEngine; builder: TableBuilder; catalogs: Catalogs; queryGate: QueryGate; now: Clock }

/** Reason why data has to wait for its author, the first that is found; null where it may serve. */
export async function judgeVersion(app: Parts, arrival: Arrival): Promise<HeldBecause | null> {
  return (
    errorObject(arrival) ??
    incomplete(arrival) ??
    mismatch(arrival) ??
    (await failedChecks(app, arrival)) ??
    (arrival.rules.onBreaking === 'serve' ? null : await brokenQueries(app, arrival))
  )
}

const errorKeys =
  /^(error|errors|error_?(code|message|description)|exception|fault|message|detail|status|title|reason)$/i

/**
 * An object that says what went wrong, where the same request brought rows before: it has nothing of those rows, or a key
 * that errors have and the rows have not.
 */
export function errorObject({
  converted,
  live,
  requestHash,
}: Pick<Arrival, 'converted' | 'live' | 'requestHash'>): HeldBecause | null {
  if (live === null || !converted.isOneObject || live.requestHash !== requestHash) return null
  const known = new Set(live.columns.map(({ name, sourceKey = name }) => sourceKey))
  const keys = converted.columns.map(({ sourceKey }) => sourceKey)
  const isForeign = !keys.some((key) => known.has(key))
  const isError = live.rowCount !== 1 && keys.some((key) => errorKeys.test(key) && !known.has(key))
  if (!isForeign && !isError) return null
  return {
    reason: 'error_object',
    message: `The API answered with one object (${keys.slice(0, 5).join(', ')}) where it had rows before. The last good version serves.`,
  }
}

/** Data that is not whole, where rows of the version before would be gone with it. */
function incomplete({ warnings, repeats, live, base, requestHash }: Arrival): HeldBecause | null {
  const isInPlace = base === null && live !== null && live.requestHash === requestHash
  const why = warnings.filter(({ code, received }) => {
    if (code === 'rows_dropped' || (repeats && code !== 'rows_moved')) return true
    if (!isInPlace || code === 'rows_moved') return false
    // Errors that the version before has as well are how this API is.
    if (code === 'upstream_errors') return !live.warnings.some((each) => each.code === code)
    return received < live.rowCount
  })
  if (why.length === 0) return null
  const message = `${why.map((each) => each.message).join(' ')} The last good version serves.`
  return { reason: 'incomplete', message }
}

/** A load in place of the table that brings less than half of it, where its author has not said what is too few. */
export function droppedRows({
  rowCount,
  live,
  base,
  requestHash,
  rules,
}: Pick<Arrival, 'rowCount' | 'live' | 'base' | 'requestHash' | 'rules'>): LoadWarning[] {
  if (live === null || base !== null || live.requestHash !== requestHash || rowCount * 2 >= live.rowCount) return []
  if (rules.checks.some(({ type }) => type === 'row_count_share')) return []
  const message = `${rowCount} ${rowCount === 1 ? 'row' : 'rows'} came where the version before has ${live.rowCount}.`
  return [{ code: 'rows_dropped', message, expected: live.rowCount, received: rowCount }]
}

/** One object that says what went wrong is no row to join others. */
export function refuseErrorObject(arrival: Parameters<typeof errorObject>[0]): void {
  const found = errorObject(arrival)
  if (found !== null) throw new Failure('upstream_error', { reason: 'not_tabular', message: found.message })
}

function mismatch({ converted: { mismatches }, rules }: Arrival): HeldBecause | null {
  if (rules.onMismatch !== 'hold' || mismatches.length === 0) return null
  const words = mismatches.map(({ column, expected, count }) => `${column} (${count} not ${expected})`)
  return {
    reason: 'type_mismatch',
    message: `Values are not of the types of their columns: ${words.join(', ')}. The last good version serves.`,
    columns: mismatches.map(({ column: name, ...rest }) => ({ name, ...rest })),
  }
}

async function brokenQueries(app: Parts, arrival: Arrival): Promise<HeldBecause | null> {
  const { projectId, tableName, rows, rules, limits } = arrival
  const columns = arrival.columns.map(({ name, type }) => ({ name, type }))
  const hiddenColumns = arrival.columns
    .filter(({ name, sourceKey = name }) =>
      rules.columns.some((rule) => rule.sourceKey === sourceKey && rule.hidden === true),
    )
    .map(({ name }) => name)
  const gone = await vanished(app, arrival)
  const change = { projectId, tableName, rows, parted: arrival.whole ?? undefined, columns }
  const queries = await app.queryGate.brokenBy({
    ...change,
    hiddenColumns: [...hiddenColumns, ...gone],
    signal: limits.signal,
  })
  if (queries.length === 0) return null
  const names = queries.map(({ name }) => name).join(', ')
  const why = gone.length === 0 ? '' : `The new rows have no ${gone.join(', ')}, which every row had so far. `
  const message = `${why}Deployed queries would break: ${names}. The last good version serves.`
  return { reason: 'breaking', message, queries }
}

/**
 * Columns that every row of the table has a value in and no row that joins it even names: the API has changed. One that
 * rows did without before may be missing from a few again.
 */
async function vanished({ engine, catalogs }: Parts, arrival: Arrival): Promise<string[]> {
  const { projectId, tableName, base, converted, limits } = arrival
  if (base === null || converted.rowCount === 0) return []
  const came = new Set(converted.columns.map(({ sourceKey }) => sourceKey))
  const catalog = await catalogs.get(projectId)
  const shown = new Set(catalog.tables.find(({ name }) => name === tableName)?.columns.map(({ name }) => name))
  const missing = base.columns.filter(
    ({ name, sourceKey = name, untyped }) => untyped !== true && !came.has(sourceKey) && shown.has(name),
  )
  if (missing.length === 0) return []
  const counts = missing.map(({ name }, index) => `count(*) - count(${sqlName(name)}) AS n${index}`)
  const { bytes } = await engine.read(projectId, catalog, {
    dialect: 'duckdb',
    sql: `SELECT ${counts.join(', ')} FROM ${sqlName(tableName)}`,
    slots: [],
    maxRows: 1,
    maxBytes: 1_048_576,
    ...limits,
  })
  const [nulls = {}] = JSON.parse(bytes.toString()) as Array<Record<string, number | string>>
  return missing.flatMap(({ name }, index) => (Number(nulls[`n${index}`]) === 0 ? [name] : []))
}

export type FailedCheck = { type: DataCheck['type']; message: string }

async function failedChecks(app: Parts, arrival: Arrival): Promise<HeldBecause | null> {
  const { columns, rules } = arrival
  const failed = [
    ...rules.checks.flatMap((check) => (check.type === 'row_count_share' ? shareFailure(check, arrival) : [])),
    ...(await failedOnRows(app, arrival, { columns, checks: rules.checks })),
  ]
  if (failed.length === 0) return null
  const message = `Checks failed: ${failed.map((each) => each.message).join(' ')} The last good version serves.`
  return { reason: 'check_failed', message, checks: failed }
}

type Rows = Pick<Arrival, 'projectId' | 'rows' | 'whole' | 'limits'>

/** The checks that look at the rows themselves. */
export async function failedOnRows(
  app: Pick<Parts, 'builder' | 'now'>,
  rows: Rows,
  { columns, checks }: { columns: Array<{ name: string }>; checks: DataCheck[] },
): Promise<FailedCheck[]> {
  const there = new Set(columns.map(({ name }) => name))
  const failed: FailedCheck[] = []
  const onRows: Exclude<DataCheck, { type: 'row_count_share' }>[] = []
  for (const check of checks) {
    if (check.type === 'row_count_share') continue
    const missing = ('columns' in check ? check.columns : [check.column]).filter((column) => !there.has(column))
    if (missing.length === 0) onRows.push(check)
    else failed.push({ type: check.type, message: `There is no column ${missing.join(', ')}.` })
  }
  return [...failed, ...(await rowFailures(app, rows, onRows))]
}

function shareFailure(
  { min = 0, max }: Extract<DataCheck, { type: 'row_count_share' }>,
  { rowCount, live }: Arrival,
): FailedCheck[] {
  if (live === null || live.rowCount === 0) return []
  const share = rowCount / live.rowCount
  if (share >= min && (max === undefined || share <= max)) return []
  const bounds = max === undefined ? `at least ${min}` : `${min} to ${max}`
  const message = `There are ${rowCount} rows where there were ${live.rowCount}: ${share.toFixed(2)} of them, not ${bounds}.`
  return [{ type: 'row_count_share', message }]
}

async function rowFailures(
  { builder, now }: Pick<Parts, 'builder' | 'now'>,
  { projectId, rows, whole, limits }: Rows,
  checks: Exclude<DataCheck, { type: 'row_count_share' }>[],
): Promise<FailedCheck[]> {
  if (checks.length === 0) return []
  const untilMs = now() + dayMs
  const asked = checks.map((check) => (check.type === 'freshness' ? { ...check, untilMs } : check))
  const call = { rows, ...(whole !== null && { whole }), checks: asked }
  const results = await builder.checkRows(projectId, call, limits)
  return checks.flatMap((check, index): FailedCheck[] => {
    const { failing = 0, examples = [], newestMs = null } = results[index] ?? {}
    if (check.type === 'freshness') return staleFailure(check, newestMs, now())
    if (failing === 0) return []
    const such = examples.length === 0 ? '' : `, such as ${examples.join(', ')}`
    const what = {
      not_null: `${'column' in check ? check.column : ''} is null`,
      unique: `${'columns' in check ? check.columns.join(', ') : ''} is not unique`,
      accepted_values: `${'column' in check ? check.column : ''} is none of the accepted values`,
    }[check.type]
    return [{ type: check.type, message: `${what} in ${failing} ${failing === 1 ? 'row' : 'rows'}${such}.` }]
  })
}

/** Clocks and time zones differ; a year 9999 in one row would hide that the others are old. */
const dayMs = 86_400_000

function staleFailure(
  { column, max_age_minutes: maxAgeMinutes }: Extract<DataCheck, { type: 'freshness' }>,
  newestMs: number | null,
  nowMs: number,
): FailedCheck[] {
  if (newestMs !== null && nowMs - newestMs <= maxAgeMinutes * 60_000) return []
  const newest = newestMs === null ? 'holds no time until now' : `ends at ${new Date(newestMs).toISOString()}`
  return [{ type: 'freshness', message: `${column} ${newest}; it may be ${maxAgeMinutes} minutes old.` }]
}
