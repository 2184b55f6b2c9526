import type { HttpConfiguration } from '../../api/connections.ts'
import { Failure } from '../failure.ts'
import type { CursorValue } from '../store/index.ts'
import { writtenAs } from './last-value.ts'

/** `{{now}}`, `{{now:unix}}`, `{{date}}`, `{{date:-7d}}`, `{{last_value}}`, `{{last_value:unix}}`. */
const variable = /\{\{\s*([a-z_]+)(?::([^{}]*))?\s*\}\}/g
const known =
  '{{now}}, {{now:unix}}, {{date}} and {{date:-7d}} (or h, w, m, y for another unit), and {{last_value}} (or :unix, :unix_ms, :date, :local of a time)'

type Fill = (text: string, field: string) => string

/**
 * A configuration with its variables filled in for a moment, in address, headers, parameters and body. While there is no
 * last value, headers and parameters that hold it are left out.
 */
export function fillVariables(
  template: HttpConfiguration,
  at: Date,
  lastValue: CursorValue | null = null,
): HttpConfiguration {
  const configuration = lastValue === null ? withoutLastValue(template) : template
  const fill: Fill = (text, field) =>
    text.replaceAll(variable, (_, name: string, argument?: string) =>
      valueOf(name, argument?.trim(), { at, lastValue, field }),
    )
  const { url, headers, parameters, parameterGroups: groups, body } = configuration
  return {
    ...configuration,
    url: fillUrl(url, fill),
    ...(headers !== undefined && { headers: deep(headers, 'headers', fill) }),
    ...(parameters !== undefined && { parameters: deep(parameters, 'parameters', fill) }),
    ...(groups !== undefined && { parameterGroups: deep(groups, 'parameterGroups', fill) }),
    ...(body !== undefined && { body: deep(body, 'body', fill) }),
  }
}

/** What is filled into an address is a value in it, never a part of its structure. */
function fillUrl(url: string, fill: Fill): string {
  return url.replaceAll(variable, (whole) => encodeURIComponent(fill(whole, 'url')))
}

function deep<Value>(value: Value, field: string, fill: Fill): Value {
  if (typeof value === 'string') return fill(value, field) as Value
  if (Array.isArray(value)) return value.map((item: unknown) => deep(item, field, fill)) as Value
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, deep(item as unknown, `${field}.${key}`, fill)]),
  ) as Value
}

/** Whether a request needs to know where the last load ended. */
export const holdsLastValue = (value: unknown): boolean => /\{\{\s*last_value\b/.test(JSON.stringify(value) ?? '')

function withoutLastValue(configuration: HttpConfiguration): HttpConfiguration {
  if (!holdsLastValue(configuration)) return configuration
  const { headers, parameters, parameterGroups: groups } = configuration
  const emptied = (given: NonNullable<typeof parameters>) =>
    Object.fromEntries(
      Object.entries(given).map(([name, each]) => [name, holdsLastValue(each) ? { ...each, value: undefined } : each]),
    )
  return {
    ...configuration,
    ...(headers !== undefined && {
      headers: Object.fromEntries(Object.entries(headers).filter(([, value]) => !holdsLastValue(value))),
    }),
    ...(parameters !== undefined && { parameters: emptied(parameters) }),
    ...(groups !== undefined && {
      parameterGroups: groups.map((group) => ({ ...group, parameters: emptied(group.parameters) })),
    }),
  }
}

type Filling = { at: Date; lastValue: CursorValue | null; field: string }

function valueOf(name: string, argument: string | undefined, { at, lastValue, field }: Filling): string {
  if (name === 'last_value') {
    if (lastValue === null) throw noValueYet(field)
    const written = writtenAs(lastValue, argument)
    if (written !== null) return written
  }
  if (name === 'now' && argument === undefined) return at.toISOString().replace(/\.\d+Z$/, 'Z')
  if (name === 'now' && argument === 'unix') return String(Math.floor(at.getTime() / 1000))
  if (name === 'date') {
    const moved = argument === undefined || argument === '' ? at : shifted(at, argument)
    if (moved !== null) return moved.toISOString().slice(0, 10)
  }
  const written = `{{${name}${argument === undefined ? '' : `:${argument}`}}}`
  const message = `holds ${written}, which is no variable; there are ${known}`
  throw new Failure('invalid_request', {
    reason: 'invalid_field',
    message: `${field} ${message}.`,
    details: [{ field, message }],
  })
}

function noValueYet(field: string): Failure {
  const message = 'holds {{last_value}}, and the first load has none: give load.cursor.initial_value'
  return new Failure('invalid_request', {
    reason: 'invalid_field',
    message: `${field} ${message}.`,
    details: [{ field, message }],
  })
}

const hourMs = 3_600_000
const unitsMs: Record<string, number> = { h: hourMs, d: 24 * hourMs, w: 7 * 24 * hourMs }

/** Months and years go by the calendar; a day that its month has not is the month's last. */
function shifted(at: Date, text: string): Date | null {
  const [, sign, count, unit = ''] = /^([+-])(\d{1,5})([hdwmy])$/.exec(text) ?? []
  if (count === undefined) return null
  const amount = Number(count) * (sign === '-' ? -1 : 1)
  const size = unitsMs[unit]
  if (size !== undefined) return new Date(at.getTime() + amount * size)
  const months = at.getUTCFullYear() * 12 + at.getUTCMonth() + amount * (unit === 'y' ? 12 : 1)
  const [year, month] = [Math.floor(months / 12), ((months % 12) + 12) % 12]
  const last = new Date(Date.UTC(year, month + 1, 0)).getUTCDate()
  return new Date(Date.UTC(year, month, Math.min(at.getUTCDate(), last)))
}
