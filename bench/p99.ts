import type { Taken } from './load.ts'
import { median, ratioOf, type Figure } from './report.ts'

/** The slowest hundredth of each turn beside that of its neighbour: one bad second is one turn, not the whole figure. */
export function p99Figure({
  what,
  against,
  mine,
  theirs,
}: {
  what: string
  against: string
  mine: Taken
  theirs: Taken
}): Figure {
  const times = (taken: Taken): number[] => taken.turns.map(({ p99Ms }) => p99Ms)
  const told = (taken: Taken): string => `${median(times(taken)).toFixed(1)} ms`
  return {
    what: `${what}: p99`,
    against,
    ours: told(mine),
    theirs: told(theirs),
    value: ratioOf(times(mine), times(theirs)),
    unit: '×',
    goal: { atMost: 1 },
  }
}
