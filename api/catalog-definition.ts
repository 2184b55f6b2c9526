import type { CatalogEntry } from './catalog.ts'
import type { definition } from './definition.ts'
import type { z } from 'zod'

/** A definition as the service takes it. Types only are imported, so that the web app may use this, too. */
type Given = z.input<typeof definition>
type Part = { [Section in 'variables' | 'apis' | 'connections' | 'queries']: NonNullable<Given[Section]> }

type Connection = NonNullable<Given['connections']>[number]
type Values = Readonly<Record<string, string>>
const everyMorning = '0 5 * * *'

type Fill = (text: string, write?: (value: string) => string) => string

/** How the tables, queries and secrets of an entry begin, unless it is added a second time. */
export function usualPrefix(entryName: string): string {
  return entryName.replaceAll('-', '_')
}

/** The inputs that still need a value. */
export function missingInputs({ inputs = {} }: CatalogEntry, values: Values): string[] {
  return Object.keys(inputs).filter((input) => valueOf(inputs[input], values[input]) === '')
}

/** The API, secrets, connections and queries of an entry, with what whoever adds it has given. */
export function definitionOf(
  entryName: string,
  entry: CatalogEntry,
  { prefix, values }: { prefix: string; values: Values },
): Part {
  const { inputs = {}, queries = {}, api } = entry
  const fill: Fill = (text, write = (value) => value) =>
    text.replaceAll(/(?<!\{)\{(\w+)\}(?!\})/g, (whole, input: string) => {
      const given = inputs[input]
      if (given === undefined) return whole
      return given.secret === true ? `{{secret:${prefix}_${input}}}` : write(valueOf(given, values[input]))
    })
  const config = fillDeep({ ...api, parameters: parametersOf(api.parameters) }, fill)
  const addresses = [config.url, ...addressesIn(config.auth)].filter((each) => URL.canParse(each))
  const origins = [...new Set(addresses.map((each) => new URL(each).origin))]
  const usual = usualPrefix(entryName)
  return {
    variables: Object.entries(inputs).flatMap(([input, { secret }]) =>
      secret === true ? [{ name: `${prefix}_${input}`, secret, value: values[input]?.trim() ?? '', origins }] : [],
    ),
    apis: [{ name: prefix, config }],
    connections: Object.entries(entry.tables).map(([name, table]) =>
      connectionOf(entry, { prefix, name, table, fill }),
    ),
    queries: Object.entries(queries).map(([name, { questions, sql, ...rest }]) => ({
      ...rest,
      name: `${prefix}_${name}`,
      sql: prefix === usual ? sql : sql.replaceAll(new RegExp(`\\b${usual}_`, 'g'), `${prefix}_`),
      slots: prefix === usual ? rest.slots : fillSources(rest.slots, { usual, prefix }),
      examples: questions,
    })),
  }
}

type Table = { prefix: string; name: string; table: CatalogEntry['tables'][string]; fill: Fill }

function connectionOf({ title }: CatalogEntry, { prefix, name, table, fill }: Table): Connection {
  const { operation, path: values = {}, headers = {}, body, rows = '', pagination, for_each: forEach } = table
  const [method = 'GET', path = ''] = operation.split(' ')
  const parameters = parametersOf(table.parameters)
  return {
    table_name: `${prefix}_${name}`,
    name: `${title}: ${table.about}`.slice(0, 100),
    config: {
      api: prefix,
      url: fillPath(path, values, fill),
      method,
      ...(Object.keys(headers).length > 0 && { headers: fillDeep(headers, fill) }),
      ...(parameters !== undefined && { parameters: fillDeep(parameters, fill) }),
      ...(body !== undefined && { body: fillDeep(body, fill) }),
      ...(rows !== '' && { responsePathExtractor: rows }),
    },
    ...(pagination !== undefined && { pagination }),
    ...(forEach !== undefined && { for_each: { ...forEach, table: `${prefix}_${forEach.table}` } }),
    load: fillDeep(table.load ?? { mode: 'replace' }, fill),
    schedule: table.schedule ?? everyMorning,
  }
}

function valueOf(input: { default?: string | undefined } | undefined, given: string | undefined): string {
  return given === undefined || given.trim() === '' ? (input?.default ?? '') : given.trim()
}

function parametersOf(parameters: Record<string, string | number | boolean | Array<string | number | boolean>> = {}) {
  const named = Object.entries(parameters).map(([name, value]) => [name, { value }] as const)
  return named.length === 0 ? undefined : Object.fromEntries(named)
}

/** A path with its parameters; what a row of another table fills stays as it is. */
function fillPath(path: string, values: Values, fill: Fill): string {
  return path.replaceAll(/\{([^{}]+)\}/g, (whole, parameter: string) =>
    fill(values[parameter] ?? whole, encodeURIComponent),
  )
}

function fillDeep<Value>(value: Value, fill: Fill): Value {
  if (typeof value === 'string') return fill(value) as Value
  if (Array.isArray(value)) return value.map((each: unknown) => fillDeep(each, fill)) as Value
  if (typeof value !== 'object' || value === null) return value
  const filled = Object.entries(value).flatMap(([key, each]) =>
    each === undefined ? [] : [[key, fillDeep<unknown>(each, fill)]],
  )
  return Object.fromEntries(filled) as Value
}

/** Where the values of slots come from, in the tables of another prefix. */
function fillSources<Value>(value: Value, names: { usual: string; prefix: string }): Value {
  const rename: Fill = (text) =>
    text.startsWith(`${names.usual}_`) ? names.prefix + text.slice(names.usual.length) : text
  return fillDeep(value, rename)
}

function addressesIn(auth: Readonly<Record<string, unknown>> = {}): string[] {
  return ['token_url', 'authorization_url'].flatMap((field) => (typeof auth[field] === 'string' ? [auth[field]] : []))
}
