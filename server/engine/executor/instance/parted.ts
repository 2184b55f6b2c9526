import type { LocalPartedTable, TablePart } from '../socket/protocol.ts'
import { readAs } from './read-as.ts'
import { quoteName, quoteText } from './sql-text.ts'

/** Numbers the rows of a part, where some of them may come to be past. No key of an answer has this name for long. */
export const positionColumn = 'sluice:position'
/** Numbers them while a load is merged. */
export const rowColumn = 'sluice:row'

type Places = {
  /** The source of a part's rows. */
  from: (part: TablePart, place: number) => string
  /** SQL of the positions of its rows that are past. */
  past: (place: number) => string
  /** A position before which none is past, where that spares looking; else null. */
  firstPast?: (place: number) => number | null
}

/**
 * The rows of a table that is loaded bit by bit: those of its parts one behind the other, less those that are past. A
 * part without past rows is read as a file by itself is; the others drop them by position, which is the cheapest join
 * there is: one integer of each row against a small set. What changes is mostly what came last, so that the rows before
 * the first one that is past are read without it.
 */
export function partedSql(
  table: LocalPartedTable,
  { from, past, firstPast }: Places,
  first = table.fromPlace ?? 0,
): string {
  if (first >= table.parts.length) return withoutRows(table)
  const parts = table.parts.slice(first).map((part, index) => {
    const place = first + index
    const list = table.columns.map(({ name, type }, at) => {
      const stored = part.columns[at]
      const value =
        stored === null || stored === undefined
          ? `CAST(NULL AS ${type})`
          : readAs(`part.${quoteName(stored.name)}`, stored.type, type)
      return `${value} AS ${quoteName(name)}`
    })
    const selected = `SELECT ${list.join(', ')} FROM`
    const rows = from(part, place)
    if (!part.hasPast) return `${selected} ${rows} AS part`
    const position = quoteName(positionColumn)
    const less = `ANTI JOIN (${past(place)}) AS past ON part.${position} = past.position`
    const untouched = firstPast?.(place) ?? null
    if (untouched === null) return `${selected} ${rows} AS part ${less}`
    const rest = `(SELECT * FROM ${rows} WHERE ${position} >= ${untouched})`
    const before = `${selected} ${rows} AS part WHERE part.${position} < ${untouched}`
    return `${before} UNION ALL ${selected} ${rest} AS part ${less}`
  })
  return parts.join(' UNION ALL ')
}

function withoutRows({ columns }: LocalPartedTable): string {
  const list = columns.map(({ name, type }) => `CAST(NULL AS ${type}) AS ${quoteName(name)}`)
  return `SELECT ${list.join(', ')} WHERE false`
}

/** From the files themselves; from one part on where it is said. */
export function partedFiles(table: LocalPartedTable, first?: number): string {
  const from = ({ parquetPath }: TablePart) => `read_parquet(${quoteText(parquetPath)})`
  return partedSql(table, { from, past: (place) => pastPositions(table, place) }, first)
}

export function pastPositions({ pastPath }: LocalPartedTable, place: number): string {
  return `SELECT position FROM read_parquet(${quoteText(pastPath ?? '')}) WHERE place = ${place}`
}

/** Every file that a table is read from. */
export function partFiles({ parts, pastPath }: LocalPartedTable): string[] {
  const rows = parts.map(({ parquetPath }) => parquetPath)
  return pastPath === undefined ? rows : [...rows, pastPath]
}
