import type { Figures } from './measure.ts'

type Row = { set: string; k: number; figures: Figures }
type Goal = { set: string; k: number; figure: keyof Figures; least: number }

/** The goals of the routing benchmark's development sets and of our own small projects (`bench/routing/newcomers`); sets of other names are printed without a goal. */
const goals: Goal[] = [
  { set: 'geography', k: 5, figure: 'top1', least: 90 },
  { set: 'advising', k: 5, figure: 'top1', least: 96 },
  { set: 'advising', k: 5, figure: 'joint', least: 95 },
  { set: 'spider_a', k: 0, figure: 'top1', least: 92 },
  { set: 'clinc_dev75', k: 10, figure: 'top1', least: 95 },
  { set: 'clinc_dev75', k: 10, figure: 'refusedFar', least: 90 },
  { set: 'banking_dev38', k: 10, figure: 'top1', least: 91 },
  ...['geography', 'advising', 'restaurants'].map((set): Goal => ({ set, k: 5, figure: 'slotF1', least: 97 })),
  ...['geography', 'advising', 'restaurants'].map((set): Goal => ({ set, k: 5, figure: 'aurocNear', least: 90 })),
  { set: 'spider_a', k: 0, figure: 'aurocNear', least: 90 },
  { set: 'banking_dev38', k: 10, figure: 'aurocNear', least: 90 },
  ...[0, 1, 2, 3].flatMap((k): Goal[] => [
    { set: 'held_out', k, figure: 'answeredRight', least: 90 },
    { set: 'held_out', k, figure: 'refusedFarOwn', least: 95 },
  ]),
]

export function checkGoals(rows: Row[]): void {
  for (const { set, k, figure, least } of goals) {
    const value = rows.find((row) => row.set === set && row.k === k)?.figures[figure]
    if (value === undefined) continue
    console.log(`goal ${set} k=${k} ${figure} ≥ ${least}: ${value.toFixed(1)} ${value >= least ? 'met' : 'NOT met'}`)
  }
}
