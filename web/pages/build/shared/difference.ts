import type { Column, DataObject } from './wire.ts'

/** How the columns of one version differ from those of another. */
export function differenceOf(before: Column[], after: Column[]): NonNullable<DataObject['drift']> {
  const known = new Map(before.map(({ name, type }) => [name, type]))
  const remaining = new Set(after.map(({ name }) => name))
  return {
    added: after.filter(({ name }) => !known.has(name)).map(({ name }) => name),
    removed: before.filter(({ name }) => !remaining.has(name)).map(({ name }) => name),
    changed: after.flatMap(({ name, type: to }) => {
      const from = known.get(name)
      return from === undefined || from === to ? [] : [{ name, from, to }]
    }),
  }
}
