import { dataChanged } from '../../data/index.ts'
import type { Catalog, Column, ReadFormat, ReadStream } from '../../engine/index.ts'
import type { LookedUp, Lookups, LookupStatement, MissingLookups } from '../../lookups/index.ts'
import { createSerial } from '../../flow/index.ts'
import type { Observe } from '../../observe.ts'
import type { Database } from '../../store/index.ts'
import type { LiveVersion } from '../deployed/deployment-index.ts'
import type { Deployments } from '../deployed/deployments.ts'
import { csvCell, csvCellOfJson, csvRecord } from '../../../api/csv.ts'

/**
 * The statement of a version as lookups know it; null for what can be none: more than one table, no slot, or SQL that
 * means something to another engine than the one that writes the files.
 */
export function lookupStatement(version: LiveVersion): LookupStatement | null {
  let found = statements.get(version)
  if (found === undefined) {
    const [table, ...others] = Object.keys(version.tables)
    const { list } = version.compiled()
    // Trino's statements are answered by Trino alone.
    const isNone = version.dialect !== 'duckdb' || table === undefined || others.length > 0 || list.length === 0
    const slots = list.map(({ name, type }) => ({ name, type }))
    const required = new Set(list.filter((slot) => slot.required || slot.fallback !== null).map(({ name }) => name))
    found = isNone ? null : { sql: version.sql, table, slots, required }
    statements.set(version, found)
  }
  return found
}
const statements = new WeakMap<LiveVersion, LookupStatement | null>()

type Parts = {
  store: Pick<Database, 'listen'>
  lookups: Pick<Lookups, 'projects' | 'renew'>
  catalogs: { get(projectId: string): Promise<Catalog> }
  deployments: Pick<Deployments, 'versionsOf' | 'onChange'>
  observe: Observe
}

/** Sees to it that what is live has its answers written, after every release and every change of data. */
export async function keepLookups({ store, lookups, catalogs, deployments, observe }: Parts): Promise<{
  close(): Promise<void>
}> {
  const due = new Map<string, MissingLookups>()
  /** The live versions and the catalog of the last look: while both are the same, there is nothing to do. */
  const seen = new WeakMap<Catalog, Seen>()
  let isClosed = false
  const serial = createSerial(async () => {
    for (const [projectId, missing] of due) {
      if (isClosed) return
      due.delete(projectId)
      try {
        const live = deployments.versionsOf(projectId).flatMap((version) => lookupStatement(version) ?? [])
        const catalog = await catalogs.get(projectId)
        if (isSeen(seen.get(catalog), { live, missing })) continue
        lookups.renew(projectId, catalog, live, missing)
        seen.set(catalog, { live, missing })
      } catch (error) {
        observe({ kind: 'fault', where: 'lookups', error })
      }
    }
  })
  /** Null where anything may have changed: what has files is looked at, and calls bring up the rest. */
  const note = (projectId: string | null): void => {
    if (projectId !== null) due.set(projectId, 'write')
    else for (const each of lookups.projects()) if (!due.has(each)) due.set(each, 'leave')
    if (due.size > 0) void serial.run()
  }
  const stopHearing = deployments.onChange((place) => note(place?.projectId ?? null))
  const stopListening = await store.listen(dataChanged, note, () => note(null))
  note(null)
  return {
    async close() {
      isClosed = true
      stopHearing()
      stopListening()
      await serial.settled()
    },
  }
}

type Seen = { live: LookupStatement[]; missing: MissingLookups }

/** A file that was only opened then may be missing, and is to be written now. */
function isSeen(before: Seen | undefined, { live, missing }: Seen): boolean {
  if (before === undefined || (missing === 'write' && before.missing === 'leave')) return false
  return before.live.length === live.length && before.live.every((statement, index) => statement === live[index])
}

type WrittenFormat = 'ndjson' | 'csv'

/** The formats that are made of rows as they lie in a file; the engine alone makes the others. */
export function isWrittenAs(format: ReadFormat): format is WrittenFormat {
  return format === 'ndjson' || format === 'csv'
}

/** Such rows as the engine would have streamed them. */
export function streamOf({ rows, rowCount, columns }: LookedUp, format: WrittenFormat): ReadStream {
  const lines = rowCount === 0 ? [] : rows.toString('utf8', 1, rows.length - 1).split(',\n')
  const text = format === 'ndjson' ? lines.map((line) => `${line}\n`).join('') : csvOf(lines, columns)
  const chunks = text === '' ? [] : [{ bytes: Buffer.from(text), rowCount }]
  return {
    columns,
    chunks: (async function* () {
      yield* chunks
    })(),
    end: () => ({ rowCount, truncated: false, elapsedMs: 0 }),
    finished: Promise.resolve(),
  }
}

function csvOf(lines: string[], columns: Column[]): string {
  const header = columns.map(({ name }) => csvCell(name))
  return [header, ...lines.map((line) => valuesOf(line, columns).map(csvCellOfJson))].map(csvRecord).join('')
}

/** The values of a row object as they are written, in the order of the columns: their digits are not to be read. */
function valuesOf(line: string, columns: Column[]): string[] {
  let at = 0
  return columns.map(({ name }) => {
    at += 1 + JSON.stringify(name).length + 1
    const start = at
    at = endOfValue(line, at)
    return line.slice(start, at)
  })
}

function endOfValue(line: string, start: number): number {
  let depth = 0
  for (let at = start; at < line.length; at += 1) {
    const letter = line[at]
    if (letter === '"') at = endOfText(line, at)
    else if (letter === '{' || letter === '[') depth += 1
    else if (depth === 0 && (letter === ',' || letter === '}')) return at
    else if (letter === '}' || letter === ']') depth -= 1
  }
  return line.length
}

/** Where the closing quote of the text is that begins at `start`. */
function endOfText(line: string, start: number): number {
  let at = start + 1
  for (; line[at] !== '"' && at < line.length; at += 1) if (line[at] === '\\') at += 1
  return at
}
