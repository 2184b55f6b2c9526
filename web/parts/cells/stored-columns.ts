/** How someone has arranged the columns of a grid. */
export type Arranged = { order: string[]; hidden: string[]; widths: Record<string, number> }

export const untouched: Arranged = { order: [], hidden: [], widths: {} }

type Stored = Arranged & { at: number }

const prefix = 'sluice-columns '
/** Beyond this many grids, the one that was arranged the longest ago is forgotten. */
const mostStored = 100
/** A grid that has more is arranged anew each time. */
const mostChars = 50_000

export function keyOf(userId: string, grid: string): string {
  return `${prefix}${userId} ${grid}`
}

/** As it was left in this browser. */
export function readArranged(key: string | null): Arranged {
  if (key === null) return untouched
  try {
    const { order, hidden, widths } = JSON.parse(localStorage.getItem(key) ?? 'null') as Stored
    return Array.isArray(order) && Array.isArray(hidden) && typeof widths === 'object'
      ? { order, hidden, widths }
      : untouched
  } catch {
    return untouched
  }
}

/** Keeps it, or forgets it where nothing is arranged. */
export function keepArranged(key: string, arranged: Arranged): void {
  try {
    if (arranged === untouched) return localStorage.removeItem(key)
    const text = JSON.stringify({ ...arranged, at: Date.now() } satisfies Stored)
    if (text.length > mostChars) return
    if (localStorage.getItem(key) === null) makeRoom()
    localStorage.setItem(key, text)
  } catch {
    // The browser's room is full or closed: the grid is arranged until the page is left.
  }
}

function makeRoom(): void {
  const stored = Object.keys(localStorage).filter((key) => key.startsWith(prefix))
  const oldest = stored.toSorted((one, other) => timeOf(one) - timeOf(other))
  for (const key of oldest.slice(0, Math.max(0, stored.length - mostStored + 1))) localStorage.removeItem(key)
}

function timeOf(key: string): number {
  try {
    return (JSON.parse(localStorage.getItem(key) ?? '') as Stored).at
  } catch {
    return 0
  }
}
