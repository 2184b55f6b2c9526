import type { PartedTable, TablePart } from './protocol.ts'
import { readAs } from './read-as.ts'
import { quoteName, quoteText } from './sql-text.ts'

/** Numbers the rows of a part, where some of them may come to be past. No key of an answer has this name for long. */
export const positionColumn = 'sluice:position'
/** Numbers them while a load is merged. */
export const rowColumn = 'sluice:row'

type Places = {
  /** What the rows of a part are read from. */
  from: (part: TablePart, place: number) => string
  /** SQL of the positions of its rows that are past. */
  past: (place: number) => string
}

/**
 * The rows of a table that is loaded bit by bit: those of its parts one behind the other, less those that are past. A
 * part without past rows is read as a file by itself is; the others drop them by position, which is the cheapest join
 * there is: one integer of each row against a small set.
 */
export function partedSql(table: PartedTable, { from, past }: Places, first = 0): string {
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
    const position = quoteName(positionColumn)
    const less = part.hasPast ? ` ANTI JOIN (${past(place)}) AS past ON part.${position} = past.position` : ''
    return `SELECT ${list.join(', ')} FROM ${from(part, place)} AS part${less}`
  })
  return parts.join(' UNION ALL ')
}

/** From the files themselves; from one part on where it is said. */
export function partedFiles(table: PartedTable, first = 0): string {
  const from = ({ parquetPath }: TablePart) => `read_parquet(${quoteText(parquetPath)})`
  return partedSql(table, { from, past: (place) => pastPositions(table, place) }, first)
}

export function pastPositions({ pastPath }: PartedTable, place: number): string {
  return `SELECT position FROM read_parquet(${quoteText(pastPath ?? '')}) WHERE place = ${place}`
}

/** Every file that a table is read from. */
export function partFiles({ parts, pastPath }: PartedTable): string[] {
  const rows = parts.map(({ parquetPath }) => parquetPath)
  return pastPath === undefined ? rows : [...rows, pastPath]
}
