import {
  DuckDBDateValue,
  DuckDBTimestampValue,
  DuckDBTimeValue,
  DuckDBTypeId,
  type DuckDBDataChunk,
  type DuckDBType,
} from '@duckdb/node-api'
import { fixedLimits } from '../../../../api/limits.ts'
import { Failure } from '../../../failure.ts'
import type { StatementPlan } from '../inspect/plan.ts'
import { unquoted } from './csv-values.ts'
import { createZip } from './zip.ts'

/** Limits of the format itself. */
const { sheetRows, sheetColumns, sheetCellChars } = fixedLimits
/** Rows are packed in pieces; the rows that the engine gives at once, 2,048, may have so many characters. */
const [pieceChars, chunkChars] = [1_048_576, 268_435_456]
/** A spreadsheet keeps so many digits of a number. */
const exactDigits = 15

/** Styles by their place in `cellXfs` below. */
const style = { heading: 1, day: 2, moment: 3, time: 4 }

/** A value in the cell `at`; an empty text for an empty cell. */
type Cell = (value: unknown, at: string) => string

/** Times of other grains are read as the one that the binding gives in microseconds. */
const timestamps = new Set([
  DuckDBTypeId.TIMESTAMP,
  DuckDBTypeId.TIMESTAMP_S,
  DuckDBTypeId.TIMESTAMP_MS,
  DuckDBTypeId.TIMESTAMP_NS,
  DuckDBTypeId.TIMESTAMP_TZ,
])

/** The select list whose columns `createXlsxEncoder` expects. */
export function xlsxColumns({ types }: StatementPlan): string[] {
  return types.map((type, index) => {
    const x = `c${index}`
    if (type.alias !== undefined) return unquoted(type, x)
    if (type.typeId === DuckDBTypeId.TIMESTAMP_TZ) return `(${x} AT TIME ZONE 'UTC')`
    if (timestamps.has(type.typeId)) return `${x}::TIMESTAMP`
    return cells.has(type.typeId) ? x : unquoted(type, x)
  })
}

/** Rows as the one sheet of a workbook, written while they come. Numbers, dates and times are such in their cells. */
export function createXlsxEncoder({ columns, types }: StatementPlan) {
  if (columns.length > sheetColumns.value) throw tooMany(`${sheetColumns.value} columns`)
  const zip = createZip()
  const letters = columns.map((_, index) => columnLetters(index))
  const kinds = types.map(cellOf)
  let row = 1

  function packed(xml: string): Buffer {
    const bytes = zip.part(Buffer.from(xml))
    if (bytes === undefined) throw tooMany('4 GB')
    return bytes
  }

  function rows(chunk: DuckDBDataChunk, count: number): Buffer {
    if (row + count > sheetRows.value) throw tooMany(`${sheetRows.value - 1} rows below its heading`)
    const vectors = kinds.map((cell, index) => ({ cell, letter: letters[index], of: chunk.getColumnVector(index + 1) }))
    const pieces: Buffer[] = []
    let [text, chars] = ['', 0]
    for (let at = 0; at < count; at += 1) {
      text += `<row r="${row + 1 + at}">`
      for (const { cell, letter, of } of vectors) {
        const value = of.getItem(at)
        if (value !== null) text += cell(value, `${letter}${row + 1 + at}`)
        if (text.length < pieceChars) continue
        // One text in the engine may stand in every cell, and takes its room here.
        chars += text.length
        if (chars > chunkChars) throw rowsTooLong()
        pieces.push(packed(text))
        text = ''
      }
      text += '</row>'
    }
    row += count
    return Buffer.concat([...pieces, packed(text)])
  }

  const heading = columns.map(({ name }, index) => {
    return `<c r="${letters[index]}1" s="${style.heading}" t="inlineStr"><is><t xml:space="preserve">${xmlText(name)}</t></is></c>`
  })
  const start = Buffer.concat([
    ...Object.entries(parts).map(([name, text]) => zip.stored(name, text)),
    zip.begin('xl/worksheets/sheet1.xml'),
    packed(`${sheetHead}<row r="1">${heading.join('')}</row>`),
  ])
  return { start, rows, end: () => Buffer.concat([packed('</sheetData></worksheet>'), zip.end()]) }
}

function cellOf({ alias, typeId }: DuckDBType): Cell {
  if (alias !== undefined) return textCell
  return cells.get(timestamps.has(typeId) ? DuckDBTypeId.TIMESTAMP : typeId) ?? textCell
}

const number: Cell = (value, at) => `<c r="${at}"><v>${String(value)}</v></c>`
const textCell: Cell = (value, at) => {
  const text = String(value)
  if (text.length > sheetCellChars.value) {
    throw new Failure('result_too_large', {
      message: `The cell ${at} would have ${text.length} characters, and a cell of a spreadsheet has at most ${sheetCellChars.value}. Shorten the column in the SQL, as with left(…, ${sheetCellChars.value}), or ask for CSV.`,
    })
  }
  return `<c r="${at}" t="inlineStr"><is><t xml:space="preserve">${xmlText(text)}</t></is></c>`
}
/** More digits than a spreadsheet keeps stay whole as a text. */
const digits: Cell = (value, at) => {
  const text = String(value)
  const shown = text.replaceAll(/^-|\./g, '').replace(/^0+/, '')
  return shown.length > exactDigits ? textCell(value, at) : number(value, at)
}
const finite: Cell = (value, at) => (Number.isFinite(value) ? number(value, at) : '')

const dayMicros = 86_400_000_000n
/** Day 0 of a spreadsheet, 30 December 1899, in days before 1970. */
const epochDays = 25_569
/** Before March 1900 spreadsheets count a day that never was; after 9999 they show nothing. */
const [firstDay, lastDay] = [61, 2_958_465]

/** A time as spreadsheets count it, in days; as text where they cannot. */
function serial(value: { toString(): string }, days: number, { at, s }: { at: string; s: number }): string {
  const shown = days + epochDays
  if (shown < firstDay || shown >= lastDay + 1) return textCell(value, at)
  return `<c r="${at}" s="${s}"><v>${shown}</v></c>`
}

const cells = new Map<DuckDBTypeId, Cell>([
  [DuckDBTypeId.BOOLEAN, (value, at) => `<c r="${at}" t="b"><v>${value === true ? 1 : 0}</v></c>`],
  [DuckDBTypeId.TINYINT, number],
  [DuckDBTypeId.SMALLINT, number],
  [DuckDBTypeId.INTEGER, number],
  [DuckDBTypeId.UTINYINT, number],
  [DuckDBTypeId.USMALLINT, number],
  [DuckDBTypeId.UINTEGER, number],
  [DuckDBTypeId.BIGINT, digits],
  [DuckDBTypeId.UBIGINT, digits],
  [DuckDBTypeId.HUGEINT, digits],
  [DuckDBTypeId.UHUGEINT, digits],
  [DuckDBTypeId.DECIMAL, digits],
  [DuckDBTypeId.FLOAT, finite],
  [DuckDBTypeId.DOUBLE, finite],
  [DuckDBTypeId.VARCHAR, textCell],
  [
    DuckDBTypeId.DATE,
    (value, at) =>
      value instanceof DuckDBDateValue && value.isFinite ? serial(value, value.days, { at, s: style.day }) : '',
  ],
  [
    DuckDBTypeId.TIMESTAMP,
    (value, at) =>
      value instanceof DuckDBTimestampValue && value.isFinite
        ? serial(value, Number(value.micros) / Number(dayMicros), { at, s: style.moment })
        : '',
  ],
  [
    DuckDBTypeId.TIME,
    (value, at) =>
      value instanceof DuckDBTimeValue
        ? `<c r="${at}" s="${style.time}"><v>${Number(value.micros) / Number(dayMicros)}</v></c>`
        : '',
  ],
])

function columnLetters(index: number): string {
  const rest = Math.floor(index / 26)
  return (rest === 0 ? '' : columnLetters(rest - 1)) + String.fromCharCode(65 + (index % 26))
}

const special: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

/** Characters that XML has no place for are written as spreadsheets write them, and what looks like that is escaped. */
function xmlText(text: string): string {
  // oxlint-disable-next-line no-control-regex -- these are what is looked for
  return /[&<>"_\x00-\x1f\ufffe\uffff]/.test(text)
    ? text
        .replaceAll(/_(?=x[0-9A-Fa-f]{4}_)/g, '_x005F_')
        // oxlint-disable-next-line no-control-regex -- as above
        .replaceAll(/[\x00-\x08\x0b-\x1f\ufffe\uffff]/g, (each) => {
          return `_x${each.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}_`
        })
        .replaceAll(/[&<>"]/g, (each) => special[each] ?? each)
    : text
}

function rowsTooLong(): Failure {
  return new Failure('result_too_large', {
    message: 'Rows of more than 128 kB on average make no spreadsheet. Shorten their texts, or ask for CSV or Parquet.',
  })
}

function tooMany(most: string): Failure {
  return new Failure('result_too_large', {
    message: `A spreadsheet has at most ${most}. Narrow the result, or ask for CSV or Parquet.`,
  })
}

const xml = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
const office = 'http://schemas.openxmlformats.org'
const main = `xmlns="${office}/spreadsheetml/2006/main"`
const contentType = 'application/vnd.openxmlformats-officedocument.spreadsheetml'
const relation = `${office}/officeDocument/2006/relationships`
const formats = ['yyyy-mm-dd', 'yyyy-mm-dd hh:mm:ss', 'hh:mm:ss']
const numberFormats = formats.map((code, index) => `<numFmt numFmtId="${164 + index}" formatCode="${code}"/>`).join('')
const dateStyles = formats.map((_, index) => {
  return `<xf numFmtId="${164 + index}" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/>`
})

/** Files of a workbook beside its sheet. */
const parts = {
  '[Content_Types].xml': `${xml}<Types xmlns="${office}/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/><Override PartName="/xl/workbook.xml" ContentType="${contentType}.sheet.main+xml"/><Override PartName="/xl/styles.xml" ContentType="${contentType}.styles+xml"/><Override PartName="/xl/worksheets/sheet1.xml" ContentType="${contentType}.worksheet+xml"/></Types>`,
  '_rels/.rels': `${xml}<Relationships xmlns="${office}/package/2006/relationships"><Relationship Id="rId1" Type="${relation}/officeDocument" Target="xl/workbook.xml"/></Relationships>`,
  'xl/workbook.xml': `${xml}<workbook ${main} xmlns:r="${relation}"><sheets><sheet name="Rows" sheetId="1" r:id="rId1"/></sheets></workbook>`,
  'xl/_rels/workbook.xml.rels': `${xml}<Relationships xmlns="${office}/package/2006/relationships"><Relationship Id="rId1" Type="${relation}/worksheet" Target="worksheets/sheet1.xml"/><Relationship Id="rId2" Type="${relation}/styles" Target="styles.xml"/></Relationships>`,
  'xl/styles.xml': `${xml}<styleSheet ${main}><numFmts count="3">${numberFormats}</numFmts><fonts count="2"><font><sz val="11"/><name val="Calibri"/></font><font><b/><sz val="11"/><name val="Calibri"/></font></fonts><fills count="2"><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill></fills><borders count="1"><border><left/><right/><top/><bottom/><diagonal/></border></borders><cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs><cellXfs count="5"><xf numFmtId="0" fontId="0" fillId="0" borderId="0" xfId="0"/><xf numFmtId="0" fontId="1" fillId="0" borderId="0" xfId="0" applyFont="1"/>${dateStyles.join('')}</cellXfs><cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles></styleSheet>`,
}

/** The heading stays in sight; dates need room. */
const sheetHead = `${xml}<worksheet ${main}><sheetViews><sheetView workbookViewId="0"><pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/></sheetView></sheetViews><sheetFormatPr defaultColWidth="18" defaultRowHeight="15"/><sheetData>`
