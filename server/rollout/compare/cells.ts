import type { SharedColumn } from './columns.ts'

/** A value as it is compared: a floating-point number as itself, everything else as its JSON. */
export type Cell = string | number

/** A row, in the order of the columns that both results have. */
export type Cells = Cell[]

/**
 * Sums of floating-point numbers depend on the order in which they were added up, so these are equal when they differ by
 * no more than this share of the larger. Everything else is equal when an answer shows it alike.
 */
const tolerance = 1e-9

export function isSame(left: Cell | undefined, right: Cell | undefined): boolean {
  if (left === right) return true
  return typeof left === 'number' && typeof right === 'number' && isNear(left, right)
}

export function isNear(left: number, right: number): boolean {
  return Math.abs(left - right) <= tolerance * Math.max(Math.abs(left), Math.abs(right))
}

export function areSame(left: Cells, right: Cells): boolean {
  return left.every((cell, at) => isSame(cell, right[at]))
}

export function cellsOf(text: string, columns: SharedColumn[]): Cells {
  const row = JSON.parse(text) as Record<string, unknown>
  return columns.map(({ name, isFloat }) => {
    const value = row[name]
    return isFloat && typeof value === 'number' ? value : JSON.stringify(value ?? null)
  })
}
