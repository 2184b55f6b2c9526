import type { Column } from '../../engine/index.ts'

/** How the columns of two results differ. */
export type ColumnChanges = {
  added: string[]
  removed: string[]
  retyped: Array<{ name: string; before: string; after: string }>
}

/** A column that both results have. */
export type SharedColumn = { name: string; isFloat: boolean; isNumber: boolean }

export function compareColumns(before: Column[], after: Column[]): ColumnChanges {
  const was = new Map(before.map(({ name, type }) => [name, type]))
  const is = new Map(after.map(({ name, type }) => [name, type]))
  return {
    added: after.filter(({ name }) => !was.has(name)).map(({ name }) => name),
    removed: before.filter(({ name }) => !is.has(name)).map(({ name }) => name),
    retyped: before.flatMap(({ name, type }) => {
      const now = is.get(name)
      return now === undefined || now === type ? [] : [{ name, before: type, after: now }]
    }),
  }
}

/** In the order of the first. */
export function sharedColumns(before: Column[], after: Column[]): SharedColumn[] {
  const is = new Map(after.map(({ name, type }) => [name, type]))
  return before.flatMap(({ name, type }) => {
    const now = is.get(name)
    if (now === undefined) return []
    return [{ name, isFloat: isFloat(type) || isFloat(now), isNumber: isNumber(type) && isNumber(now) }]
  })
}

/** Whether rows of both are written alike: the same names in the same order. */
export function areAlike(before: Column[], after: Column[]): boolean {
  return before.length === after.length && before.every(({ name }, at) => after[at]?.name === name)
}

function isFloat(type: string): boolean {
  return type === 'FLOAT' || type === 'DOUBLE'
}

function isNumber(type: string): boolean {
  return isFloat(type) || /^(U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?|DECIMAL\(.*\))$/.test(type)
}
