import fc from 'fast-check'
import { expect, test } from 'vitest'
import { newCell, noteCell, noteQuotes, type CellShape } from '../../../server/rows/csv/csv-cells.ts'
import { useRows } from './run.ts'
import { rounds } from '../../harness/rounds.ts'

const { run, refusal } = useRows()

/** A field as it is written, and what it says. */
type Field = { written: string; says: string; isQuoted: boolean }

const delimiter = fc.constantFrom(',', ';', '\t', '|')
const numbers = fc.oneof(
  fc.constantFrom('0', '-0', '007', '-', '-1', '1.', '.5', '1.50', '0.1', '1e5', '1.5e-3', '+1', '12 ', '1-2', '/9'),
  fc.integer().map(String),
  fc.bigInt({ min: -(10n ** 22n), max: 10n ** 22n }).map(String),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map(String),
  fc.tuple(fc.nat(), fc.nat()).map(([whole, part]) => `${whole}.${part}`),
)
const times = fc.constantFrom('2026-01-02', '2026-01-02T03:04:05Z', '2026-02-30', '2026-01-02 03:04', '10:30')
const words = fc.oneof(
  fc.constantFrom('true', 'FALSE', 'text', 'Łukasz', '🐘 und Maus', 'a\tb', 'x'.repeat(300)),
  fc.string({ unit: 'grapheme', maxLength: 12 }),
)

/** Columns of one kind, as most are, and of all kinds. */
const column = fc.constantFrom(numbers, times, words, fc.oneof(numbers, times, words))

function fieldOf(says: string, wantsQuotes: boolean, marks: RegExp): Field {
  const isQuoted = wantsQuotes || marks.test(says)
  return { says, isQuoted, written: isQuoted ? `"${says.replaceAll('"', '""')}"` : says }
}

const table = fc.tuple(fc.array(column, { minLength: 1, maxLength: 5 }), delimiter).chain(([columns, separator]) => {
  const marks = new RegExp(`["\\r\\n${separator === '|' ? '\\|' : separator}]`)
  const value = fc.tuple(fc.boolean(), fc.nat(5))
  const field = (kind: fc.Arbitrary<string>) =>
    fc
      .tuple(fc.oneof({ weight: 9, arbitrary: kind }, { weight: 1, arbitrary: fc.constant('') }), value)
      .map(([says, [flip, rarely]]) => fieldOf(says, flip && rarely === 0, marks))
  const row = fc.tuple(...columns.map(field))
  return fc.record({
    width: fc.constant(columns.length),
    separator: fc.constant(separator),
    rows: fc.array(row, { minLength: 1, maxLength: 20 }),
    end: fc.constantFrom('\n', '\r\n'),
  })
})

function cellOf(fields: Field[]): CellShape {
  const cell = newCell()
  for (const { says, isQuoted } of fields) {
    if (says === '') cell.hasQuotedEmpty ||= isQuoted
    else if (says.includes('"')) noteQuotes(cell)
    else noteCell(cell, Buffer.from(says), 0, Buffer.byteLength(says))
  }
  return cell
}

const seenOf = ({ shape: { kinds, intDigits, scale, doubleExact, largest, texts }, hasQuotedEmpty }: CellShape) => ({
  kinds,
  intDigits,
  scale,
  doubleExact,
  largest,
  texts,
  hasQuotedEmpty,
})

test('what CSV holds is what its fields say, however they are written and wherever its pieces are cut', async () => {
  const chunkBytes = fc.constantFrom(8, 13, 64, 1_000, 65_536)
  await fc.assert(
    fc.asyncProperty(table, chunkBytes, async ({ width, separator, rows, end }, size) => {
      const header = Array.from({ length: width }, (_, index) => `column ${index}`).join(separator)
      // A line without anything is no row.
      const kept = rows.filter((row) => row.length > 1 || row[0]?.written !== '')
      const lines = kept.map((row) => row.map(({ written }) => written).join(separator))
      const body = `${[header, ...lines].join(end)}${end}`
      const options = { contentType: 'text/csv', bare: true, mayStay: true, chunkBytes: size }
      const found = await run(`sep=${separator}\n${body}`, options)
      expect(found.rowCount).toBe(kept.length)
      const breaks = kept.flat().some(({ says }) => /[\r\n]/.test(says))
      const longest = Math.max(...[header, ...lines].map((line) => Buffer.byteLength(line))) + end.length
      expect(found.csv).toMatchObject({ newline: end, hasLineBreaks: breaks, maxBytes: longest })
      const columns = Array.from({ length: width }, (_, index) =>
        kept.map((row) => row[index]).filter((x) => x !== undefined),
      )
      expect(found.csv?.cells.map(seenOf)).toEqual(columns.map((fields) => seenOf(cellOf(fields))))
    }),
    { numRuns: rounds(150, 600) },
  )
})

test('a row that is not regular is found among those that are', async () => {
  const options = { contentType: 'text/csv', bare: true, mayStay: true }
  const regular = Array.from({ length: 50 }, (_, index) => `${index},name ${index},"a, ""b"""`).join('\n')
  const among = (line: string) => `id,name,note\n${regular}\n${line}\n${regular}\n`
  expect(await run(among('7,seven,x'), options)).toMatchObject({ isAsItCame: true, rowCount: 101 })
  for (const [line, row] of [
    ['7,say "hi",x', '7,"say ""hi""",x'],
    ['7,"seven"th,x', '7,"""seven""th",x'],
    ['7,seven', '7,seven,'],
    ['7,seven,x\r', '7,seven,x'],
  ] as const) {
    const { isAsItCame, text, csv } = await run(among(line), options)
    expect({ isAsItCame, text }).toEqual({ isAsItCame: false, text: `${regular}\n${row}\n${regular}\n` })
    expect(csv?.cells[0]?.shape).toMatchObject({ intDigits: 2 })
  }
  expect(await run(among(''), options)).toMatchObject({ isAsItCame: false, text: `${regular}\n${regular}\n` })
  expect((await refusal(among('7,seven,x,8'), options)).message).toContain('4 fields in line 52, but its header has 3')
})
