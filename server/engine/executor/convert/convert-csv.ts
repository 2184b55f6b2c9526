import type { CsvFile } from '../../../rows/index.ts'
import { isUnseen, namesOf, typeAfter } from './column-types.ts'
import type { CopySource } from './contract.ts'
import type { Contract, ConvertedColumn } from '../socket/protocol.ts'
import { quoteName, quoteText } from '../instance/sql-text.ts'

/** DuckDB's own default. */
const lineBytesMin = 2_097_152

type CsvInput = { path: string; rowCount: number; columns: string[]; csv: CsvFile }

/**
 * Rows of CSV in a dialect that is known: nothing of it is guessed, so that no row is taken for a
 * comment or a header. A quoted empty cell is an empty text among texts, and no value in a column of any other type.
 */
export function csvSource({ path, rowCount, columns: keys, csv }: CsvInput, contract: Contract | null): CopySource {
  const before = new Map((contract?.columns ?? []).map((column) => [column.sourceKey, column]))
  const names = namesOf(keys, new Map([...before].map(([key, column]) => [key, column.name])))
  const columns = keys.map((key, index): ConvertedColumn => {
    const shape = csv.cells[index]?.shape
    const old = before.get(key)?.type ?? null
    // Mixed values are text here; there is nothing else that they could have come as.
    const found = shape === undefined ? (old ?? 'VARCHAR') : typeAfter(shape, old).type.replace(/^JSON$/, 'VARCHAR')
    const isUntyped = old === null && (shape === undefined || isUnseen(shape))
    return { name: names.get(key) ?? key, type: found, sourceKey: key, ...(isUntyped && { untyped: true }) }
  })
  const isText = (index: number) => columns[index]?.type === 'VARCHAR'
  /** A quoted empty cell has to be made no value. */
  const isEmptied = (index: number) => csv.cells[index]?.hasQuotedEmpty === true && !isText(index)
  const rows = (named: (index: number) => string, asText: ReadonlySet<number>): string => {
    const types = columns.map(({ type }, index) => (asText.has(index) || isEmptied(index) ? 'VARCHAR' : type))
    const list = types.map((type, index) => `${quoteText(named(index))}: ${quoteText(type)}`).join(', ')
    const options = [
      `auto_detect = false, header = ${csv.headerBytes > 0}, columns = {${list}}`,
      `new_line = ${csv.newline === '\n' ? `'\\n'` : `'\\r\\n'`}`,
      `delim = ${quoteText(csv.delimiter)}, quote = '"', escape = '"', comment = '', nullstr = ''`,
      `allow_quoted_nulls = false, null_padding = false, max_line_size = ${Math.max(lineBytesMin, csv.maxBytes * 2)}`,
      // Where a line may end inside a value, the file cannot be cut into parts that are read at once.
      `parallel = ${!csv.hasLineBreaks}`,
    ]
    return `read_csv(${quoteText(path)}, ${options.join(', ')})`
  }
  const select = (named: (index: number) => string, asText: ReadonlySet<number>): string => {
    if (rowCount === 0) {
      return `SELECT ${columns.map(({ type }, index) => `CAST(NULL AS ${asText.has(index) ? 'VARCHAR' : type}) AS ${quoteName(named(index))}`).join(', ')} LIMIT 0`
    }
    const emptied = columns.flatMap(({ type }, index) => {
      const name = quoteName(named(index))
      return isEmptied(index) && !asText.has(index) ? [`CAST(nullif(${name}, '') AS ${type}) AS ${name}`] : []
    })
    const replaced = emptied.length === 0 ? '' : ` REPLACE (${emptied.join(', ')})`
    return `SELECT *${replaced} FROM ${rows(named, asText)}`
  }
  return {
    columns,
    rowCount,
    plain: select((index) => columns[index]?.name ?? '', new Set()),
    from: (asText) => `(${select((index) => `c${index}`, asText)})`,
    text: (index, type) => (type === 'VARCHAR' ? `c${index}` : `nullif(c${index}, '')`),
    json: (index) => `to_json(nullif(c${index}, ''))`,
    raw: (index) => `(SELECT c${index} AS raw FROM (${select((each) => `c${each}`, new Set([index]))}))`,
  }
}
