import type { Row } from './service.ts'

export type Column = { name: string; title: string; kind: 'number' | 'day' | 'text' }

const day = /^\d{4}-\d{2}-\d{2}(T.*)?$/

/** What there is to show, in the order of the first row. */
export function columnsOf(rows: Row[]): Column[] {
  return Object.keys(rows[0] ?? {}).map((name) => {
    const given = rows.map((row) => row[name]).filter((value) => value !== null && value !== undefined)
    const all = (test: (value: unknown) => boolean): boolean => given.length > 0 && given.every(test)
    const isDay = all((value) => typeof value === 'string' && day.test(value))
    const kind = all((value) => typeof value === 'number') ? 'number' : isDay ? 'day' : 'text'
    return { name, title: titleOf(name), kind }
  })
}

export function titleOf(name: string): string {
  const words = name.replaceAll('_', ' ').trim()
  return words.charAt(0).toUpperCase() + words.slice(1)
}

/** A value as people read it. Years, numbers of orders and the like are whole numbers of few digits: no separators. */
export function textOf(value: unknown, language: string): string {
  if (value === null || value === undefined) return '–'
  if (typeof value === 'number') {
    const isGrouped = !Number.isInteger(value) || Math.abs(value) >= 10_000
    return new Intl.NumberFormat(language, { maximumFractionDigits: 6, useGrouping: isGrouped }).format(value)
  }
  if (typeof value === 'string') return day.test(value) ? dayText(value, language) : value
  if (typeof value === 'boolean') return value ? '✓' : '✗'
  return JSON.stringify(value)
}

export function timeText(value: string, language: string): string {
  return new Intl.DateTimeFormat(language, { dateStyle: 'medium', timeStyle: 'short' }).format(new Date(value))
}

function dayText(value: string, language: string): string {
  const time = new Date(value)
  if (Number.isNaN(time.getTime())) return value
  // A day is the same everywhere; a moment is told by the clock of who reads it.
  return value.includes('T')
    ? timeText(value, language)
    : new Intl.DateTimeFormat(language, { dateStyle: 'medium', timeZone: 'UTC' }).format(time)
}
