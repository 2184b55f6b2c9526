import { yieldToEventLoop } from '../../flow/index.ts'
import type { Cells } from './cells.ts'
import type { SharedColumn } from './columns.ts'

/** Where each key stands; null where two rows share one. */
export type KeyIndex = Map<string, number>

export type FoundKey = { columns: number[]; before: KeyIndex; after: KeyIndex }

/** Each costs a look at every row. */
const maxCandidates = 24

/**
 * The columns by which rows of two results are the same row: unique in both, and of several such sets the one under which
 * most rows meet. A column whose values changed meets fewer than one that names the row.
 */
export async function findRowKey(
  { before, after }: { before: Cells[]; after: Cells[] },
  columns: SharedColumn[],
  known: string[][],
): Promise<FoundKey | null> {
  // A single row is the same row, whatever is in it.
  if (before.length === 1 && after.length === 1) {
    return { columns: [], before: new Map([['', 0]]), after: new Map([['', 0]]) }
  }
  let best: FoundKey | null = null
  let most = 0
  for (const candidate of candidatesOf(columns, known)) {
    await yieldToEventLoop()
    const ours = indexBy(before, candidate)
    const theirs = ours === null ? null : indexBy(after, candidate)
    if (ours === null || theirs === null) continue
    let meeting = 0
    for (const key of ours.keys()) if (theirs.has(key)) meeting += 1
    if (meeting <= most) continue
    most = meeting
    best = { columns: candidate, before: ours, after: theirs }
  }
  return best
}

/**
 * Candidate keys: those the tables declare, each column alone, all that are no measures, and the first few (groups come
 * first).
 */
function candidatesOf(columns: SharedColumn[], known: string[][]): number[][] {
  const at = new Map(columns.map(({ name }, index) => [name, index]))
  const exact = columns.flatMap(({ isFloat }, index) => (isFloat ? [] : [index]))
  const words = exact.filter((index) => columns[index]?.isNumber === false)
  const named = known.filter((names) => names.length > 0 && names.every((name) => at.has(name)))
  const all = [
    ...named.map((names) => names.map((name) => at.get(name) ?? 0)),
    ...words.map((index) => [index]),
    ...exact.filter((index) => columns[index]?.isNumber === true).map((index) => [index]),
    words,
    ...exact.map((_, last) => exact.slice(0, last + 1)).slice(1, -1),
  ]
  const seen = new Set<string>()
  const different = all.filter((candidate) => {
    const name = candidate.join(',')
    if (candidate.length === 0 || seen.has(name)) return false
    seen.add(name)
    return true
  })
  return different.slice(0, maxCandidates)
}

function indexBy(rows: Cells[], columns: number[]): KeyIndex | null {
  const index: KeyIndex = new Map()
  for (const [at, cells] of rows.entries()) {
    const key = keyText(cells, columns)
    if (index.has(key)) return null
    index.set(key, at)
  }
  return index
}

/** JSON has no line breaks of its own, so that two keys never run into each other. */
function keyText(cells: Cells, columns: number[]): string {
  return columns.length === 1 ? String(cells[columns[0] ?? 0]) : columns.map((at) => cells[at]).join('\n')
}
