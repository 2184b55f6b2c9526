import { createHash } from 'node:crypto'
import { invalidField } from '../../failure.ts'
import type { CursorValue, LoadRule } from '../../store/index.ts'
import type { Parent, Parents } from './fetch-children.ts'

const dayMs = 86_400_000
/** As many spans of one day as there are in 27 years. */
const maxWindows = 10_000

type Standing = {
  lastValue: CursorValue | null
  /** The rule by which the rows that are there were loaded; null without any. */
  before: LoadRule | null
  atMs: number
}

/**
 * The spans of days that a load asks for one by one: from its start, or from the day of the last value, to the end of
 * today, and before them those that a start which was moved back adds. Null where it asks for all at once.
 */
export function windowsOf({ windows, cursor }: LoadRule, { lastValue, before, atMs }: Standing): Parents | null {
  if (windows === undefined) return null
  const { size } = windows
  const lastDay = cursor === undefined ? null : dayOf(lastValue)
  const start = later(windows.start, lastDay)
  const known = lastDay === null ? undefined : before?.windows?.start
  const added = known === undefined ? [] : spans(windows.start, { end: known < start ? known : start, size })
  const end = dayText(Date.parse(dayText(atMs)) + dayMs)
  const rows = [...added, ...spans(start, { end, size })].slice(0, maxWindows)
  const isCut = rows.length === maxWindows
  // Not its end: a load that is resumed tomorrow goes on behind the windows that it has.
  const begun = added.length === 0 ? [start, size] : [start, size, windows.start, known]
  const digest = createHash('sha256').update(JSON.stringify(begun)).digest('base64url')
  return { rows, isCut, digest }
}

function spans(start: string, { end, size }: { end: string; size: string }): Parent[] {
  const rows: Parent[] = []
  for (let from = start, number = 1; from < end && rows.length < maxWindows; number += 1) {
    const next = stepped(start, size, number)
    rows.push(windowFrom(from, next < end ? next : end))
    from = next
  }
  return rows
}

/** For a test of the request: yesterday and today. */
export function exampleWindow(atMs: number): ReadonlyMap<string, string> {
  const window = windowFrom(dayText(atMs - dayMs), dayText(atMs + dayMs))
  return new Map(Object.entries(window).map(([name, { text }]) => [name, text]))
}

function windowFrom(start: string, end: string): Parent {
  const value = (text: string) => ({ text, json: JSON.stringify(text) })
  const last = dayText(Date.parse(end) - dayMs)
  return { window_start: value(start), window_end: value(end), window_last: value(last) }
}

/** Months go by the calendar from the day of the start; a day that a month has not is its last. */
function stepped(start: string, size: string, number: number): string {
  const count = Number(size.slice(0, -1)) * number
  const at = new Date(`${start}T00:00:00Z`)
  if (size.endsWith('d')) return dayText(at.getTime() + count * dayMs)
  const months = at.getUTCFullYear() * 12 + at.getUTCMonth() + count
  const [year, month] = [Math.floor(months / 12), months % 12]
  const days = new Date(Date.UTC(year, month + 1, 0)).getUTCDate()
  return dayText(Date.UTC(year, month, Math.min(at.getUTCDate(), days)))
}

function later(start: string, day: string | null): string {
  return day !== null && day > start ? day : start
}

/** The day of a cursor, in UTC; null where there is none yet. */
function dayOf(last: CursorValue | null): string | null {
  if (last === null) return null
  const [, day] = /^(\d{4}-\d{2}-\d{2})(?:$|[T ])/.exec(last.value) ?? []
  if (day !== undefined) return day
  throw invalidField('load.windows', `needs a cursor of days or times, and this one is ${last.type}`)
}

function dayText(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10)
}
