import type { Figure, Missing } from './report.ts'
import type { Worlds } from './worlds.ts'

/** What rows measure with. `scale` below 1 makes everything smaller, to try the bench itself. */
export type Bench = {
  scale: number
  worlds: Worlds
  /** Says what is done just now. */
  say: (text: string) => void
  /** Notes what cannot be measured here. */
  miss: (missing: Missing) => void
}

/** One line of the table, or several that are measured together. */
export type Row = { name: string; measure: (bench: Bench) => Promise<Figure[]> }
