import type { z } from 'zod'
import type { rowFilter } from '../../api/data.ts'
import { invalidField } from '../failure.ts'
import type { Column, SlotValue } from '../engine/index.ts'

export type RowFilter = z.output<typeof rowFilter>

/** Which rows of an object are looked at, and in which order. */
export type RowsWish = { sort: { column: string; descending: boolean } | null; search: string; filters: RowFilter[] }

/** A wish as SQL over the object's columns. What is searched for is bound, never written into it. */
export function wishedRows(
  columns: Column[],
  { sort, search, filters }: RowsWish,
): { where: string; order: string; slots: SlotValue[] } {
  const slots: SlotValue[] = []
  const bind = (value: string): string => {
    slots.push({ name: `wish_${slots.length}`, type: 'string', value })
    return `$wish_${slots.length - 1}`
  }
  const tests = filters.map((filter) => testOf(known(columns, filter.column, 'filter'), filter, bind))
  if (search.trim() !== '') {
    const word = bind(search.trim())
    tests.push(columns.map(({ name }) => has(quote(name), word)).join(' or ') || 'false')
  }
  const where = tests.length === 0 ? '' : ` where ${tests.map((test) => `(${test})`).join(' and ')}`
  if (sort === null) return { where, order: '', slots }
  const along = quote(known(columns, sort.column, 'sort').name)
  return { where, order: ` order by ${along} ${sort.descending ? 'desc' : 'asc'} nulls last`, slots }
}

function testOf(column: Column, { test, value = '' }: RowFilter, bind: (value: string) => string): string {
  const name = quote(column.name)
  const text = `cast(${name} as varchar)`
  if (test === 'empty') return `${name} is null or ${text} = ''`
  if (test === 'present') return `${name} is not null and ${text} <> ''`
  if (test === 'contains') return has(name, bind(value))
  // Lists and objects have no size: they are compared as they are written.
  const isPlain = /^[A-Z_]+(\(\d+, ?\d+\))?$/i.test(column.type) && column.type.toUpperCase() !== 'JSON'
  const [own, bound] = isPlain ? [name, `try_cast(${bind(value)} as ${column.type})`] : [text, bind(value)]
  if (test === 'is') return `${own} = ${bound}`
  if (test === 'is_not') return `${own} is distinct from ${bound}`
  return `${own} ${test === 'at_least' ? '>=' : '<='} ${bound}`
}

function has(name: string, word: string): string {
  return `contains(lower(cast(${name} as varchar)), lower(${word}))`
}

function quote(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}

function known(columns: Column[], name: string, field: string): Column {
  const column = columns.find((each) => each.name === name)
  if (column !== undefined) return column
  throw invalidField(field, 'must name a column of the table', {
    message: `There is no column ${name}. It has ${columns.map((each) => each.name).join(', ')}.`,
  })
}
