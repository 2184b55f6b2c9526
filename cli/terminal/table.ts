import { stripVTControlCharacters } from 'node:util'

type Alignment = 'left' | 'right'
/** `whole`: never cut, since people copy it. */
type Column = { title: string; align?: Alignment; whole?: boolean }

const gap = '  '
const cut = '…'

/** Columns by their titles; the first one names the row, and people copy it. */
export function titled(first: string, ...others: string[]): Column[] {
  return [{ title: first, whole: true }, ...others.map((title) => ({ title }))]
}

/** Rows under their titles. With a width, the widest columns give way until it fits. */
export function table(columns: Column[], rows: string[][], width = Number.POSITIVE_INFINITY): string {
  const titles = columns.map(({ title }) => title)
  const all = [titles, ...rows].map((row) => row.map((cell) => cell.replaceAll(/[\r\n\t]+/g, ' ')))
  const widths = fit(
    columns.map((_, at) => Math.max(...all.map((row) => visible(row[at] ?? '')))),
    columns.map(({ whole }) => whole === true),
    width,
  )
  return all
    .map((row) =>
      columns
        .map(({ align }, at) => pad(shorten(row[at] ?? '', widths[at] ?? 0), widths[at] ?? 0, align ?? 'left'))
        .join(gap)
        .trimEnd(),
    )
    .join('\n')
}

const leastColumn = 8

function fit(widths: number[], isWhole: boolean[], width: number): number[] {
  const fitted = [...widths]
  const cuttable = (at: number): number => (isWhole[at] === true ? 0 : (fitted[at] ?? 0))
  const total = (): number => fitted.reduce((sum, each) => sum + each, 0) + gap.length * (fitted.length - 1)
  while (total() > width) {
    const sizes = fitted.map((_, at) => cuttable(at))
    const widest = sizes.indexOf(Math.max(...sizes))
    if (cuttable(widest) <= leastColumn) break
    fitted[widest] = (fitted[widest] ?? 0) - 1
  }
  return fitted
}

/** How many columns of a terminal a text takes: wide characters take two, marks on others none. */
export function visible(text: string): number {
  let count = 0
  for (const { segment } of segments.segment(stripVTControlCharacters(text))) {
    count +=
      /\p{Extended_Pictographic}|[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]/u.test(
        segment,
      )
        ? 2
        : 1
  }
  return count
}

const segments = new Intl.Segmenter('en', { granularity: 'grapheme' })

function shorten(text: string, width: number): string {
  if (visible(text) <= width) return text
  let short = ''
  for (const { segment } of segments.segment(stripVTControlCharacters(text))) {
    if (visible(short + segment) > width - cut.length) break
    short += segment
  }
  return short + cut
}

function pad(text: string, width: number, align: Alignment): string {
  const space = ' '.repeat(Math.max(0, width - visible(text)))
  return align === 'right' ? space + text : text + space
}
