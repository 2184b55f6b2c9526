import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import type { CatalogEntry } from '../../api/catalog.ts'
import { operationOf, rowFields, type Contract, type Operation, type Parameter } from './contract.ts'
import { answerAround, rowsFor, windowOf } from './paging.ts'
import { valueOf } from './values.ts'

/**
 * An API made of a contract. It answers what the document names and refuses the rest: unknown paths and parameters, values
 * of another type, pages that are too large, calls without the credential. It pages as the names in the document say, so
 * that an entry which says otherwise gets too few rows.
 */
export type MockApi = {
  origin: string
  /** What was asked, as method and path with its query. */
  requests: string[]
  /** What the document does not allow of it. */
  problems: string[]
  /** `expired` refuses every credential, `empty` has no rows, `limited` answers every other call with 429. */
  state: 'usual' | 'expired' | 'empty' | 'limited'
  /** Rows that a table has, of which an answer brought any. */
  rowsOf(table: string): number | undefined
  close(): Promise<void>
}

type Good = { secrets: string[]; entry: CatalogEntry; contract: Contract }
type Match = { table: string; operation: Operation; rows: string }

export async function openMockApi({ secrets, entry, contract }: Good): Promise<MockApi> {
  const issued: string[] = []
  const totals = new Map<string, number>()
  let calls = 0
  const mock: MockApi = {
    origin: '',
    requests: [],
    problems: [],
    state: 'usual',
    rowsOf: (table) => totals.get(table),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
  const routes = routesOf(entry, contract)
  const server = createServer((request, response) => void serve(request, response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  mock.origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return mock

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', mock.origin)
    const body = (await buffer(request)).toString()
    const answer = (status: number, value: unknown, headers: Record<string, string> = {}): void =>
      void response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(value))
    if (isTokenPath(contract, url.pathname) && request.method === 'POST') {
      const isKnown = mock.state !== 'expired' && secrets.some((secret) => givenSecrets(request, body).includes(secret))
      if (!isKnown) return answer(401, { error: 'invalid_client' })
      issued.push(`issued-${issued.length}`)
      return answer(200, { access_token: issued.at(-1), token_type: 'bearer', expires_in: 3_600 })
    }
    mock.requests.push(`${request.method} ${url.pathname}${url.search}`)
    calls += 1
    const refuse = (status: number, message: string): void => {
      mock.problems.push(`${request.method} ${url.pathname}${url.search}: ${message}`)
      answer(status, { message })
    }
    const matches = routes.filter(({ method, pattern }) => method === request.method && pattern.test(url.pathname))
    const [first] = matches
    if (first === undefined) return refuse(404, 'the document has no such operation')
    // Two tables of one operation differ by their parameters.
    const match =
      matches.find(({ parameters }) => Object.keys(parameters).every((name) => url.searchParams.has(name))) ?? first
    const credentials = credentialsOf(request, url)
    const isKnown = isAllowed(match.operation, contract, credentials, [...secrets, ...issued], secrets.length > 0)
    if (!isKnown || mock.state === 'expired') {
      if (mock.state !== 'expired')
        mock.problems.push(`${request.method} ${url.pathname}: no credential where the document has it`)
      return answer(401, { message: 'the credential is not good' })
    }
    if (mock.state === 'limited' && calls % 2 === 1) return answer(429, { message: 'too many' }, { 'retry-after': '0' })
    const sent = body === '' ? {} : (JSON.parse(body) as Record<string, unknown>)
    const wrong = wrongIn(match.operation, { url, request, body: sent, auth: authNames(contract) })
    if (wrong !== undefined) return refuse(400, wrong)
    const query = new Map([
      ...url.searchParams,
      ...Object.entries(sent).map(([name, value]) => [name, String(value)] as const),
    ])
    const found = answerOf(match, query, url)
    if (typeof found === 'string') return refuse(400, found)
    answer(200, found.body, found.headers)
  }

  function answerOf({ table, operation, rows }: Match, query: Map<string, string>, url: URL) {
    const row = rowFields(operation, rows)
    if (row === undefined) return 'the document has no rows there'
    const total = mock.state === 'empty' ? 0 : row.isList ? rowsFor(operation, query) : 1
    totals.set(table, Math.max(total, totals.get(table) ?? 0))
    const all = Array.from({ length: total }, (_, index) => index)
    const find = (value: string): number | undefined => {
      const mark = /^(?:c|9000)(\d+)$/.exec(value)?.[1]
      if (mark !== undefined) return Number(mark)
      const at = all.findIndex((index) =>
        Object.entries(fieldsOfRow(row.fields)).some(
          ([name, fields]) => typeof fields === 'string' && String(valueOf(name, fields, index)) === value,
        ),
      )
      return at === -1 ? undefined : at + 1
    }
    const window = windowOf(operation, query, { total, find })
    if (typeof window === 'string') return window
    const names = (query.get('properties') ?? '').split(',').filter((name) => name !== '')
    const chosen = chosenFields(operation, query)
    const objects = all.slice(window.from, window.to).map((index) => {
      const value = valueOf('row', row.fields, index, names)
      return typeof value === 'object' && value !== null && !Array.isArray(value)
        ? withProperties(
            {
              ...value,
              ...Object.fromEntries(
                chosen.map((name) => [
                  name,
                  valueOf(name, /^(completed|liked|starred)$/.test(name) ? 'boolean' : 'string', index),
                ]),
              ),
            },
            row.fields,
            { index, names },
          )
        : value
    })
    const link = new URL(url)
    link.searchParams.set('__from', String(window.to))
    const isNumeric = [...query.keys()].length >= 0 && JSON.stringify(operation.answer).includes('"next":"number')
    const cursor = isNumeric ? `9000${window.to}` : `c${window.to}`
    const size = Math.max(1, window.to - window.from)
    const placed = placedRows(rows, objects)
    const body = row.isList
      ? answerAround(operation.answer ?? 'any', placed, { total, window, next: { link: link.href, cursor }, size })
      : (objects[0] ?? {})
    const headers: Record<string, string> = {}
    if (operation.headers?.includes('link') === true && window.more) headers['link'] = `<${link.href}>; rel="next"`
    return { body, headers }
  }
}

function fieldsOfRow(fields: unknown): Record<string, string> {
  return typeof fields === 'object' && fields !== null && !Array.isArray(fields)
    ? (fields as Record<string, string>)
    : {}
}

/** An object with any names has those that the request asks for. */
function withProperties(
  value: Record<string, unknown>,
  fields: unknown,
  { index, names }: { index: number; names: string[] },
) {
  const properties = fieldsOfRow(fields)['properties'] as unknown
  if (names.length === 0 || typeof properties !== 'object') return value
  return { ...value, properties: Object.fromEntries(names.map((name) => [name, valueOf(name, 'string', index)])) }
}

/** Fields that the request asks for by name, as far as the document lists them. */
function chosenFields({ parameters }: Operation, query: Map<string, string>): string[] {
  return Object.entries(parameters).flatMap(([name, { values = [] }]) =>
    name.endsWith('fields')
      ? (query.get(name) ?? '').split(',').filter((field) => values.includes(field) && !field.includes('.'))
      : [],
  )
}

function placedRows(path: string, rows: unknown[]): { path: string[]; value: unknown } {
  const names = path === '' ? [] : path.split('.')
  const star = names.indexOf('*')
  if (star !== -1) {
    const inner = names.slice(star + 1)
    const wrapped = rows.map((row) => inner.toReversed().reduce((value, name) => ({ [name]: value }), row))
    return { path: names.slice(0, star), value: wrapped }
  }
  const named = names.findIndex((name) => /^\{\w+\}$/.test(name))
  if (named !== -1) {
    const keys = 'USD EUR GBP JPY CHF CAD AUD CNY SEK NOK DKK PLN'.split(' ')
    return {
      path: names.slice(0, named),
      value: Object.fromEntries(rows.map((row, index) => [keys[index] ?? `K${index}`, row])),
    }
  }
  return { path: names, value: rows }
}

type Route = Match & { method: string; pattern: RegExp; parameters: Record<string, unknown> }

/** Which tables an entry has at which paths, with the paths that the servers of the document begin with. */
function routesOf(entry: CatalogEntry, contract: Contract): Route[] {
  return Object.entries(entry.tables).flatMap(([table, given]) => {
    const found = operationOf(contract, given)
    if (found === undefined) return []
    const [method = '', path = ''] = given.operation.split(' ')
    const starts = (found.operation.servers ?? found.document.servers).map((server) =>
      server.replace(/^\w+:\/\/[^/]*/, '').replace(/\/$/, ''),
    )
    const alternatives = [...new Set(starts.length === 0 ? [''] : starts)].map((start) =>
      path.startsWith(`${start}/`) ? '' : start,
    )
    const escaped = path.replaceAll(/[.*+?^$()|[\]\\]/g, '\\$&').replaceAll(/\{[^{}]+\}/g, '[^/]+')
    const pattern = new RegExp(`^(?:${alternatives.map((each) => each.replaceAll('.', '\\.')).join('|')})${escaped}$`)
    return [
      {
        table,
        operation: found.operation,
        rows: given.rows ?? '',
        method,
        pattern,
        parameters: given.parameters ?? {},
      },
    ]
  })
}

function isTokenPath({ documents }: Contract, path: string): boolean {
  const flows = documents.flatMap(({ authentication }) =>
    Object.values(authentication).flatMap((scheme) => Object.values(scheme.flows ?? {})),
  )
  return flows.some(
    ({ tokenUrl = '' }) => tokenUrl !== '' && new URL(tokenUrl, 'https://api.example').pathname === path,
  )
}

function givenSecrets({ headers }: IncomingMessage, body: string): string {
  const [, basic = ''] = /^Basic (.*)$/.exec(headers.authorization ?? '') ?? []
  return decodeURIComponent(`${body} ${Buffer.from(basic, 'base64').toString()}`)
}

type Credentials = { headers: IncomingMessage['headers']; query: URLSearchParams }

function credentialsOf({ headers }: IncomingMessage, url: URL): Credentials {
  return { headers, query: url.searchParams }
}

/** Whether a call shows what one of the alternatives of the document asks for. */
function isAllowed(
  { security }: Operation,
  { documents }: Contract,
  { headers, query }: Credentials,
  good: string[],
  needsOne: boolean,
): boolean {
  const schemes = Object.assign({}, ...documents.map(({ authentication }) => authentication)) as Record<
    string,
    ContractScheme
  >
  const holds = (text: string | null | undefined): boolean => good.some((secret) => text?.includes(secret) === true)
  const authorization = headers.authorization ?? ''
  if (security === undefined || security.length === 0) {
    // The document does not say where it goes.
    return (
      !needsOne ||
      security?.length === 0 ||
      [...Object.values(headers).flat(), ...query.values()].some((text) => holds(text))
    )
  }
  const shows = (name: string): boolean => {
    const scheme = schemes[name]
    if (scheme === undefined) return false
    if (scheme.type === 'http' && scheme.scheme === 'basic') {
      return authorization.startsWith('Basic ') && holds(Buffer.from(authorization.slice(6), 'base64').toString())
    }
    if (scheme.type !== 'apiKey') return authorization.startsWith('Bearer ') && holds(authorization)
    const key = scheme.name ?? ''
    const value = scheme.in === 'query' ? query.get(key) : headers[key.toLowerCase()]
    return typeof value === 'string' && value !== '' && (holds(value) || /id|version/i.test(key))
  }
  return security.some((names) => {
    // The same key in several places is meant as a choice.
    const keys = new Set(
      names.map((name) =>
        (schemes[name]?.name ?? name)
          .toLowerCase()
          .replace(/^x-/, '')
          .replaceAll(/[^a-z]/g, ''),
      ),
    )
    return names.length > 0 && keys.size === 1 ? names.some((name) => shows(name)) : names.every((name) => shows(name))
  })
}

type ContractScheme = Contract['documents'][number]['authentication'][string]

function authNames({ documents }: Contract): string[] {
  return documents.flatMap(({ authentication }) =>
    Object.values(authentication).flatMap(({ name }) => (name === undefined ? [] : [name])),
  )
}

type Sent = { url: URL; request: IncomingMessage; body: Record<string, unknown>; auth: string[] }

/** What of a call the document does not allow. */
function wrongIn({ parameters, body: fields }: Operation, { url, request, body, auth }: Sent): string | undefined {
  const known = Object.entries(parameters)
  const queryNames = new Set(url.searchParams.keys())
  for (const [name, { in: place, required }] of known) {
    if (required !== true) continue
    const isThere =
      place === 'query' ? queryNames.has(name) : place !== 'header' || request.headers[name.toLowerCase()] !== undefined
    if (!isThere) return `the document requires ${name}`
  }
  for (const name of queryNames) {
    if (name === '__from' || auth.includes(name)) continue
    const [, outer = '', inner = ''] = /^([^[]+)\[([^\]]*)\]$/.exec(name) ?? []
    const parameter =
      parameters[name] ?? (parameters[outer]?.fields?.includes(inner) === true ? { ...parameters[outer] } : undefined)
    if (parameter?.in !== 'query') return `the document has no parameter ${name}`
    for (const value of url.searchParams.getAll(name)) {
      const wrong = wrongValue(parameter, value)
      if (wrong !== undefined) return `${name} ${wrong}: ${value}`
    }
  }
  if (typeof fields === 'object' && !Array.isArray(fields)) {
    const unknown = Object.keys(body).find((name) => !Object.hasOwn(fields, name))
    if (unknown !== undefined) return `the document has no field ${unknown} in the body`
  }
  return undefined
}

function wrongValue({ type, list, minimum, maximum, values, fields }: Parameter, value: string): string | undefined {
  const [, base = '', format = ''] = /^(\w+)(?::([\w-]+))?/.exec(type) ?? []
  const parts = list === true || values !== undefined ? value.split(',') : [value]
  if (values !== undefined && !parts.every((part) => values.map(String).includes(part))) return 'is none of the values'
  if (base === 'integer' && !parts.every((part) => /^-?\d+$/.test(part))) return 'is no whole number'
  if (base === 'number' && Number.isNaN(Number(value))) return 'is no number'
  if (base === 'boolean' && !/^(true|false)$/.test(value)) return 'is neither true nor false'
  if (format === 'date' && !/^\d{4}-\d{2}-\d{2}$/.test(value)) return 'is no date'
  if (format === 'date-time' && !/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}/.test(value)) return 'is no time'
  if (fields === undefined && minimum !== undefined && Number(value) < minimum) return `is less than ${minimum}`
  if (fields === undefined && maximum !== undefined && Number(value) > maximum) return `is more than ${maximum}`
  return undefined
}
