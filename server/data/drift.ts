import type { ColumnRecord, Drift } from '../store/index.ts'

/** How the columns of a table differ from those of the version before. Null when they do not. */
export function driftBetween(before: ColumnRecord[], after: ColumnRecord[]): Drift | null {
  const old = new Map(before.map((column) => [column.name, column.type]))
  const now = new Map(after.map((column) => [column.name, column.type]))
  const drift: Drift = {
    added: after.filter(({ name }) => !old.has(name)).map(({ name }) => name),
    removed: before.filter(({ name }) => !now.has(name)).map(({ name }) => name),
    changed: after.flatMap(({ name, type }) => {
      const from = old.get(name)
      return from === undefined || from === type ? [] : [{ name, from, to: type }]
    }),
  }
  return drift.added.length + drift.removed.length + drift.changed.length === 0 ? null : drift
}
