import { bodyTypes, type HttpConfiguration } from '../../../api/connections.ts'
import { fixedLimits } from '../../../api/limits.ts'
import { type Failure, invalidField } from '../../failure.ts'
import type { CursorValue, LoadRule } from '../../store/index.ts'
import { writtenAs } from './last-value.ts'
import { mapSecrets } from '../secrets/places.ts'
import { holdsSecretReference } from '../secrets/references.ts'

/** `{{now}}`, `{{now:unix}}`, `{{date}}`, `{{date:-7d}}`, `{{var:name}}`, `{{secret:name}}`, `{{last_value}}`. */
type Variable = { name: string; argument: string | undefined }

/** Braces and all between them; the parts are read apart, as one expression for both would try each blank twice. */
const braces = /\{\{([^{}]*)\}\}/g

function variableOf(inner: string): Variable | null {
  const colon = inner.indexOf(':')
  const name = colon === -1 ? inner.trim() : inner.slice(0, colon).trimStart()
  if (name.startsWith('row.') ? name.length === 4 : !/^[a-z_]+$/.test(name)) return null
  return { name, argument: colon === -1 ? undefined : inner.slice(colon + 1).trim() }
}

/** The variables in every text of a value. */
function variablesIn(value: unknown): Variable[] {
  if (typeof value === 'string') return [...value.matchAll(braces)].flatMap(([, inner = '']) => variableOf(inner) ?? [])
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(variablesIn) : []
}

function replaceVariables(text: string, valueFor: (variable: Variable) => string): string {
  return text.replaceAll(braces, (whole, inner: string) => {
    const variable = variableOf(inner)
    return variable === null ? whole : valueFor(variable)
  })
}

const known =
  '{{now}}, {{now:unix}}, {{date}}, {{date:-7d}} (or h, w, m, y), {{var:name}}, {{secret:name}}, {{window_start}}, {{window_end}}, {{window_last}} and {{last_value}} (or :iso, :unix, :unix_ms, :date, :local or a pattern such as :%Y-%m-%d of a time)'

/** The value of a name: a variable that anybody may read, or a secret and where it may be sent. */
export type NamedValue = { value: string; origins: string[] | null }
export type NamedValues = ReadonlyMap<string, NamedValue>

type Fill = (text: string, field: string) => string
/** Where the values of a part of the request go. */
type Sending = { to: string[] }

/** Values of the variables in one request. */
export type Moment = {
  at: Date
  /** Where a load of what is new goes on. While there is none, headers and parameters that hold it are left out. */
  lastValue?: CursorValue | null | undefined
  values?: NamedValues | undefined
  /** The row of another table that the request is about, as text by column. */
  row?: ReadonlyMap<string, string> | undefined
  /** Answers to the requests before this one: only a step has them. */
  answers?: StepAnswers | undefined
}

/** One answer by the paths into its body and the headers, in lower case, that later requests go by. */
export type StepAnswer = { values: Record<string, unknown>; headers: Record<string, string> }
/** Answers to the first request, and to the one before. */
export type StepAnswers = { start: StepAnswer; answer: StepAnswer }

/** Arguments with which a value names a variable: `id` of `{{start:id}}`. */
export function argumentsOf(value: unknown, name: string): string[] {
  const named = variablesIn(value).filter((each) => each.name === name)
  return [...new Set(named.flatMap(({ argument }) => argument ?? []))]
}

/** The columns of the other table that a configuration names: `{{row.id}}`. */
export function rowColumnsIn(configuration: HttpConfiguration): string[] {
  const named = variablesIn(configuration).filter(({ name, argument }) => {
    return argument === undefined && name.startsWith('row.')
  })
  return [...new Set(named.map(({ name }) => name.slice(4)))]
}

type Named = { forEach: object | null; load: Pick<LoadRule, 'windows'> }

/** Every column and window that a request may name, filled with anything: for looking at it before there are rows. */
export function exampleRow(
  configuration: HttpConfiguration,
  { forEach, load }: Named,
): ReadonlyMap<string, string> | undefined {
  if (forEach === null && load.windows === undefined) return undefined
  const columns = forEach === null ? [] : rowColumnsIn(configuration).map((column) => [column, 'x'] as const)
  const days = load.windows === undefined ? [] : windowNames.map((name) => [name, '2026-01-31'] as const)
  return new Map([...columns, ...days])
}

/** The names that a configuration needs. */
export function namesIn(configuration: HttpConfiguration): string[] {
  const named = variablesIn(configuration).filter(({ name }) => name === 'var' || name === 'secret')
  return [...new Set(named.map(({ argument = '' }) => argument))]
}

const oauthAddresses = ['token_url', 'authorization_url'] as const

/** A configuration with its variables filled in for a moment, in address, headers, parameters, authentication and body. */
export function fillVariables(
  template: HttpConfiguration,
  { at, lastValue = null, values = new Map(), row, answers }: Moment,
): HttpConfiguration {
  const configuration = lastValue === null ? withoutLastValue(template) : template
  let filledChars = 0
  const filler =
    ({ to }: Sending, write = (value: string) => value): Fill =>
    (text, field) =>
      replaceVariables(text, (variable) => {
        const value = write(valueOf(variable, { at, lastValue, field, values, row, answers, to }))
        filledChars += value.length
        if (filledChars > fixedLimits.filledChars.value) throw tooLong(field)
        return value
      })
  const { headers, parameters, parameterGroups: groups, auth, body } = configuration
  const given = oauthAddresses.flatMap((name) => {
    const address = auth?.[name]
    return typeof address === 'string' ? [[name, address] as const] : []
  })
  if (![configuration.url, ...given.map(([, address]) => address)].every(hasFixedOrigin)) {
    refuseOwnSecrets(configuration)
  }
  const url = fillUrl(configuration.url, 'url', filler)
  const filled = given.map(([name, address]) => [name, fillUrl(address, `auth.${name}`, filler)] as const)
  const fill = filler({ to: [originOf(url)] })
  const ofAuth = filler({ to: [originOf(url), ...filled.map(([, address]) => originOf(address))] })
  return {
    ...configuration,
    url,
    ...(headers !== undefined && { headers: fillHeaders(headers, fill) }),
    ...(parameters !== undefined && { parameters: fillParameters(parameters, 'parameters', fill) }),
    ...(groups !== undefined && {
      parameterGroups: groups.map((group) => ({
        ...group,
        parameters: fillParameters(group.parameters, `parameterGroups.${group.name}`, fill),
      })),
    }),
    ...(auth !== undefined && {
      auth: { ...deep(auth, 'auth', ofAuth), ...Object.fromEntries(filled) },
    }),
    ...(body !== undefined && {
      body: fillBody(body, { plain: fill, inText: (write) => filler({ to: [originOf(url)] }, write) }),
    }),
  }
}

type Filler = (sending: Sending, write?: (value: string) => string) => Fill

/**
 * A value that is filled into an address is never a part of its structure. Only before its path may a variable be
 * the address itself (`{{var:base}}/orders`); a secret never is, it would be looked up by name and shown in errors.
 */
function fillUrl(url: string, field: string, filler: Filler): string {
  const encoded = (text: string, origin: string) => filler({ to: [origin] }, encodeURIComponent)(text, field)
  if (hasFixedOrigin(url)) return encoded(url, originOf(replaceVariables(url, () => 'x')))
  const [head = ''] = /^(?:[^:/\\?#{}]*:[/\\]*)?(?:\{\{[^{}]*\}\}|[^/\\?#])*/.exec(url) ?? []
  if (/\{\{\s*row\./.test(head))
    throw invalidField(field, 'holds a value of a row before its path; rows do not say whom to call')
  if (holdsSecretReference(head)) throw invalidField(field, 'holds a secret before its path, where it would be shown')
  const start = filler({ to: [] })(head, field)
  const rest = url.slice(head.length)
  return start + encoded(rest, originOf(start + replaceVariables(rest, () => 'x')))
}

/** Whether scheme, host and port are the same whatever the variables are. */
function hasFixedOrigin(url: string): boolean {
  const [one, other] = ['x', 'y.z'].map((value) => replaceVariables(url, () => value))
  if (one === undefined || other === undefined || one === other) return true
  // Schemes that are not the web's have no origin of their own: "null" is nobody's.
  return URL.canParse(one) && originOf(one) !== 'null' && originOf(one) === originOf(other)
}

function originOf(url: string): string {
  return URL.canParse(url) ? new URL(url).origin : url
}

/** A secret in the configuration is bound to its address, which a variable could change behind its back. */
function refuseOwnSecrets(configuration: HttpConfiguration): void {
  mapSecrets(configuration, ({ field }) => {
    throw invalidField(
      field,
      'is a secret, and the address is a variable: keep it as a secret of the project that names its origins, and write {{secret:name}}',
    )
  })
}

function fillHeaders(headers: NonNullable<HttpConfiguration['headers']>, fill: Fill) {
  return Object.fromEntries(
    Object.entries(headers).map(([name, header]) => {
      const filled = deep(header, `headers.${name}`, fill)
      if (!holdsSecretReference(header)) return [name, filled]
      return [name, { value: typeof filled === 'string' ? filled : filled.value, secret: true }]
    }),
  )
}

type Parameters = NonNullable<HttpConfiguration['parameters']>

function fillParameters(parameters: Parameters, field: string, fill: Fill): Parameters {
  return Object.fromEntries(
    Object.entries(parameters).map(([name, parameter]) => {
      const filled = deep(parameter, `${field}.${name}`, fill)
      return [name, holdsSecretReference(parameter) ? { ...filled, secret: true } : filled]
    }),
  )
}

type Body = NonNullable<HttpConfiguration['body']>
type BodyFills = { plain: Fill; inText: (write: (value: string) => string) => Fill }

/** In texts of JSON, GraphQL and forms a value is written as one, so that it cannot end the text that it stands in. */
const writers: Partial<Record<string, (value: string) => string>> = {
  json: (value) => JSON.stringify(value).slice(1, -1),
  graphql: (value) => JSON.stringify(value).slice(1, -1),
  form: encodeURIComponent,
}

function fillBody(body: Body, { plain, inText }: BodyFills): Body {
  const type = bodyTypes.find((each) => each === body['type'])
  const { content } = body
  const writer = type === undefined ? undefined : writers[type]
  const query = type === 'graphql' && isRecord(content) ? content['query'] : undefined
  const filled = deep(body, 'body', plain)
  if (typeof content === 'string' && writer !== undefined) filled['content'] = inText(writer)(content, 'body.content')
  if (typeof query === 'string' && writer !== undefined) {
    const text = inText(writer)(query, 'body.content.query')
    filled['content'] = { ...(filled['content'] as object), query: text }
  }
  if (!holdsSecretReference(body)) return filled
  return type === undefined ? { type: 'json', content: filled, secret: true } : { ...filled, secret: true }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
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

type Reading = Sending & {
  at: Date
  lastValue: CursorValue | null
  field: string
  values: NamedValues
  row: Moment['row']
  answers: Moment['answers']
}

function valueOf({ name, argument }: Variable, reading: Reading): string {
  const { at, lastValue, field } = reading
  if (name.startsWith('row.')) return rowValue(name.slice(4), reading)
  if (windowNames.some((each) => each === name)) {
    const written = windowDay(name, argument, reading)
    if (written !== null) return written
  }
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
  if ((name === 'var' || name === 'secret') && argument !== undefined) return namedValue(name, argument, reading)
  const written = `{{${name}${argument === undefined ? '' : `:${argument}`}}}`
  const [, which, header] = /^(start|answer)(_header)?$/.exec(name) ?? []
  if (which !== undefined && argument !== undefined) {
    return answerValue(written, argument, { answer: reading.answers?.[which as 'start' | 'answer'], header, field })
  }
  throw invalidField(field, `holds ${written}, which is no variable; there are ${known}`)
}

function rowValue(column: string, { field, row }: Reading): string {
  if (row === undefined) {
    throw invalidField(
      field,
      `holds {{row.${column}}}, which only a connection with for_each knows; write a value instead`,
    )
  }
  const value = row.get(column)
  if (value === undefined) throw invalidField(field, `holds {{row.${column}}}, and the other table has no such column`)
  refusePart(value, ['', '.', '..'], { field, written: `{{row.${column}}}`, where: 'a row' })
  return value
}

type Filled = { field: string; written: string; where: string }

/** These values alone would change which address it is. */
function refusePart(value: string, parts: string[], { field, written, where }: Filled): void {
  if (field !== 'url' || !parts.includes(value)) return
  const message = `holds ${written}, which is ${JSON.stringify(value)} in ${where}; no address has such a part`
  throw invalidField(field, message)
}

type Answered = { answer: StepAnswer | undefined; header: string | undefined; field: string }

function answerValue(written: string, name: string, { answer, header, field }: Answered): string {
  if (answer === undefined) throw invalidField(field, `holds ${written}, which only the steps behind it know`)
  const [found] = header === undefined ? [answer.values[name]] : [answer.headers[name.toLowerCase()]]
  if (typeof found === 'string' || typeof found === 'number' || typeof found === 'boolean') {
    refusePart(String(found), ['.', '..'], { field, written, where: 'the answer' })
    return String(found)
  }
  const where = header === undefined ? '' : 'header of the '
  throw invalidField(field, `holds ${written}, and the ${where}answer has no such value`)
}

/** The first day of a window, the day behind it, and its last day. */
export const windowNames = ['window_start', 'window_end', 'window_last'] as const

function windowDay(name: string, argument: string | undefined, { field, row }: Reading): string | null {
  const day = row?.get(name)
  if (day === undefined) {
    throw invalidField(field, `holds {{${name}}}, which only a load with windows knows: give load.windows`)
  }
  return writtenAs({ type: 'DATE', value: day }, argument)
}

function namedValue(kind: 'var' | 'secret', name: string, { field, values, to }: Reading): string {
  const found = values.get(name)
  const word = kind === 'var' ? 'variable' : 'secret'
  if (found === undefined) {
    throw invalidField(field, `holds {{${kind}:${name}}}, and the project has no ${word} of this name`)
  }
  const { value, origins } = found
  if ((origins === null) !== (kind === 'var')) {
    const other = kind === 'var' ? 'secret' : 'var'
    throw invalidField(field, `holds {{${kind}:${name}}}, but ${name} is no ${word}; write {{${other}:${name}}}`)
  }
  const foreign = origins === null ? undefined : to.find((origin) => !origins.includes(origin))
  if (foreign !== undefined) {
    throw invalidField(
      field,
      `holds {{secret:${name}}}, which may not be sent to ${foreign}; its origins do not name it`,
    )
  }
  return value
}

/** A short name may stand for a long value, and stand there a hundred thousand times. */
function tooLong(field: string): Failure {
  return invalidField(field, `holds variables of more than ${fixedLimits.filledChars.value} characters together`)
}

function noValueYet(field: string): Failure {
  const message = 'holds {{last_value}}, and the first load has none: give load.cursor.initial_value'
  return invalidField(field, message)
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
