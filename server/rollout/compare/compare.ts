import { yieldToEventLoop } from '../../flow/index.ts'
import { areSame, cellsOf, isSame, type Cells } from './cells.ts'
import { areAlike, compareColumns, sharedColumns, type ColumnChanges, type SharedColumn } from './columns.ts'
import { findRowKey } from './keys.ts'
import { pairByContent, pairByKey, type Pairing } from './pair.ts'
import { digested, summed, type Side } from './side.ts'

export type Comparison = {
  /** Outcome over the rows, in the columns that both results have. */
  outcome: 'equal' | 'reordered' | 'different'
  /** Null where the results are too large to tell. */
  added: number | null
  removed: number | null
  changed: number | null
  /** In how many rows each column has another value. */
  changedColumns: Record<string, number>
  columns: ColumnChanges
  /** By which columns rows were found again; null where there is no such set. */
  key: string[] | null
  sample: RowDifference[]
}

export type RowDifference =
  | { kind: 'changed'; before: Row; after: Row; columns: string[] }
  | { kind: 'removed'; before: Row }
  | { kind: 'added'; after: Row }

export type Row = Record<string, unknown>

/** Limit for each kind. */
const maxSamples = 5

/**
 * Compares two results. Null where they cannot be compared: too large to be held, and not of the same columns. `keys`
 * are sets of columns that are known to name a row.
 */
export async function compareResults(before: Side, after: Side, keys: string[][] = []): Promise<Comparison | null> {
  const columns = compareColumns(before.columns, after.columns)
  const isAlike = areAlike(before.columns, after.columns)
  if (isAlike && before.digest === after.digest) return { ...same('equal'), columns }
  const [ours, theirs] = [before.rows, after.rows]
  if (ours.held === 'texts' && theirs.held === 'texts') {
    return compareTexts(
      { before: ours.texts, after: theirs.texts, columns },
      sharedColumns(before.columns, after.columns),
      keys,
    )
  }
  return isAlike ? { ...compareDigests(before, after), columns } : null
}

function same(outcome: 'equal' | 'reordered'): Omit<Comparison, 'columns'> {
  return { outcome, added: 0, removed: 0, changed: 0, changedColumns: {}, key: null, sample: [] }
}

type Texts = { before: string[]; after: string[]; columns: ColumnChanges }

async function compareTexts(texts: Texts, shared: SharedColumn[], keys: string[][]): Promise<Comparison> {
  const { columns } = texts
  const rows = { before: await readRows(texts.before, shared), after: await readRows(texts.after, shared) }
  if (isInOrder(rows.before, rows.after)) return { ...same('equal'), columns }
  const key = await findRowKey(rows, shared, keys)
  await yieldToEventLoop()
  const pairing = key === null ? pairByContent(rows, shared) : pairByKey(rows, key)
  const { changed, removed, added } = pairing
  const names = key === null ? null : key.columns.map((at) => shared[at]?.name ?? '')
  if (changed.length + removed.length + added.length === 0) return { ...same('reordered'), columns, key: names }
  return {
    outcome: 'different',
    added: added.length,
    removed: removed.length,
    changed: changed.length,
    changedColumns: countColumns(rows, shared, changed),
    columns,
    key: names,
    sample: sampleOf(texts, { rows, shared, pairing }),
  }
}

async function readRows(texts: string[], columns: SharedColumn[]): Promise<Cells[]> {
  const rows: Cells[] = []
  for (const text of texts) {
    if (rows.length % 256 === 0) await yieldToEventLoop()
    rows.push(cellsOf(text, columns))
  }
  return rows
}

function isInOrder(before: Cells[], after: Cells[]): boolean {
  return before.length === after.length && before.every((cells, at) => areSame(cells, after[at] ?? []))
}

type Rows = { before: Cells[]; after: Cells[] }

function countColumns(rows: Rows, shared: SharedColumn[], changed: Pairing['changed']): Record<string, number> {
  const counts = shared.map(() => 0)
  for (const pair of changed) {
    for (const at of differingColumns(rows, shared, pair)) counts[at] = (counts[at] ?? 0) + 1
  }
  return Object.fromEntries(shared.flatMap(({ name }, at) => (counts[at] === 0 ? [] : [[name, counts[at] ?? 0]])))
}

function differingColumns({ before, after }: Rows, shared: SharedColumn[], pair: Pairing['changed'][number]): number[] {
  const [ours, theirs] = [before[pair.before] ?? [], after[pair.after] ?? []]
  return [...shared.keys()].filter((at) => !isSame(ours[at], theirs[at]))
}

type Paired = { rows: Rows; shared: SharedColumn[]; pairing: Pairing }

function sampleOf({ before, after }: Texts, { rows, shared, pairing }: Paired): RowDifference[] {
  const rowAt = (texts: string[], at: number): Row => JSON.parse(texts[at] ?? '{}') as Row
  return [
    ...pairing.changed.slice(0, maxSamples).map((pair) => ({
      kind: 'changed' as const,
      before: rowAt(before, pair.before),
      after: rowAt(after, pair.after),
      columns: differingColumns(rows, shared, pair).map((at) => shared[at]?.name ?? ''),
    })),
    ...pairing.removed.slice(0, maxSamples).map((at) => ({ kind: 'removed' as const, before: rowAt(before, at) })),
    ...pairing.added.slice(0, maxSamples).map((at) => ({ kind: 'added' as const, after: rowAt(after, at) })),
  ]
}

/** Compares results too large to hold: exactly, row by row as they are written, and without a key. */
function compareDigests(before: Side, after: Side): Omit<Comparison, 'columns'> {
  const [ours, theirs] = [digested(before.rows), digested(after.rows)]
  if (ours.held === 'digests' && theirs.held === 'digests') {
    const counts = new Map<string, number>()
    for (const digest of ours.digests) counts.set(digest, (counts.get(digest) ?? 0) + 1)
    let added = 0
    for (const digest of theirs.digests) {
      const left = counts.get(digest) ?? 0
      if (left === 0) added += 1
      else counts.set(digest, left - 1)
    }
    const removed = before.rowCount - (after.rowCount - added)
    if (added + removed === 0) return same('reordered')
    return { ...same('reordered'), outcome: 'different', added, removed, changed: null }
  }
  const isSameSum = before.rowCount === after.rowCount && summed(ours).sum === summed(theirs).sum
  if (isSameSum) return same('reordered')
  return { ...same('reordered'), outcome: 'different', added: null, removed: null, changed: null }
}
