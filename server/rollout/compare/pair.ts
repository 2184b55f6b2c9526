import { areSame, isNear, type Cells } from './cells.ts'
import type { SharedColumn } from './columns.ts'
import type { FoundKey } from './keys.ts'

/** Which row of one result is which of the other, by their places. */
export type Pairing = {
  /** Same row, another value in some column. */
  changed: Array<{ before: number; after: number }>
  removed: number[]
  added: number[]
}

type Rows = { before: Cells[]; after: Cells[] }

export function pairByKey({ before, after }: Rows, key: FoundKey): Pairing {
  const pairing: Pairing = { changed: [], removed: [], added: [] }
  for (const [name, at] of key.before) {
    const other = key.after.get(name)
    if (other === undefined) pairing.removed.push(at)
    else if (!areSame(before[at] ?? [], after[other] ?? [])) pairing.changed.push({ before: at, after: other })
  }
  for (const [name, at] of key.after) if (!key.before.has(name)) pairing.added.push(at)
  return pairing
}

/**
 * Without a key two rows are the same when they agree in all that is exact. Among those that do, numbers that are near
 * go together first; what is left over changed in its numbers, as far as there is a partner.
 */
export function pairByContent({ before, after }: Rows, columns: SharedColumn[]): Pairing {
  const floats = columns.flatMap(({ isFloat }, at) => (isFloat ? [at] : []))
  const exact = columns.flatMap(({ isFloat }, at) => (isFloat ? [] : [at]))
  const theirs = groupBy(after, exact)
  const pairing: Pairing = { changed: [], removed: [], added: [] }
  for (const [name, ours] of groupBy(before, exact)) {
    const others = theirs.get(name) ?? []
    theirs.delete(name)
    const left = matchNear({ before, after }, { ours, others, floats })
    const pairs = Math.min(left.ours.length, left.others.length)
    for (let at = 0; at < pairs; at += 1) {
      pairing.changed.push({ before: left.ours[at] ?? 0, after: left.others[at] ?? 0 })
    }
    pairing.removed.push(...left.ours.slice(pairs))
    pairing.added.push(...left.others.slice(pairs))
  }
  for (const others of theirs.values()) pairing.added.push(...others)
  return pairing
}

function groupBy(rows: Cells[], columns: number[]): Map<string, number[]> {
  const groups = new Map<string, number[]>()
  for (const [at, cells] of rows.entries()) {
    const name = columns.map((column) => cells[column]).join('\n')
    const group = groups.get(name)
    if (group === undefined) groups.set(name, [at])
    else group.push(at)
  }
  return groups
}

/** How many of those that come next in order are looked at for one that is near in every number. */
const lookedAt = 32

/** Takes out the pairs that are near; what is left found no partner. */
function matchNear(
  { before, after }: Rows,
  { ours, others, floats }: { ours: number[]; others: number[]; floats: number[] },
): { ours: number[]; others: number[] } {
  const first = floats[0]
  if (first === undefined) {
    const pairs = Math.min(ours.length, others.length)
    return { ours: ours.slice(pairs), others: others.slice(pairs) }
  }
  const numberAt = (rows: Cells[], at: number): number => numberOf(rows[at]?.[first])
  const left = ours.toSorted((a, b) => numberAt(before, a) - numberAt(before, b))
  const right = others.toSorted((a, b) => numberAt(after, a) - numberAt(after, b))
  const taken = new Set<number>()
  const alone: number[] = []
  let from = 0
  for (const at of left) {
    const number = numberAt(before, at)
    while (from < right.length && isBelow(numberAt(after, right[from] ?? 0), number)) from += 1
    let partner: number | undefined
    let open = from
    for (let looked = 0; open < right.length && looked < lookedAt; open += 1) {
      const other = right[open] ?? 0
      if (taken.has(other)) continue
      looked += 1
      if (isBelow(number, numberAt(after, other))) break
      if (!areSame(before[at] ?? [], after[other] ?? [])) continue
      partner = other
      break
    }
    if (partner === undefined) alone.push(at)
    else taken.add(partner)
    while (from < right.length && taken.has(right[from] ?? 0)) from += 1
  }
  return { ours: alone, others: right.filter((other) => !taken.has(other)) }
}

/** A cell that is no number sorts before all numbers. */
function numberOf(cell: string | number | undefined): number {
  return typeof cell === 'number' ? cell : Number.NEGATIVE_INFINITY
}

function isBelow(left: number, right: number): boolean {
  return left < right && !(Number.isFinite(left) && isNear(left, right))
}
