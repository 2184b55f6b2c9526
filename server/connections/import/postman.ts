import { graphqlIn, recognise } from '../request/recognise.ts'
import { outlineOf } from '../../rows/index.ts'
import { headersOf, isRecord, list, record, text } from './imported.ts'
import type { DocumentReader, Fields, Imported, Operation } from './imported.ts'

type Found = Operation & { request: Fields; auth: unknown; answers: unknown[] }

const maxDepth = 20

/** A collection of Postman's, version 2. Its own variables are filled in; those of an environment become the project's. */
export function readPostman(document: Fields): DocumentReader {
  const variables = new Map(
    list(document['variable']).map((each) => [text(record(each)['key']), text(record(each)['value'])]),
  )
  const found: Found[] = []
  const visit = (items: unknown[], names: string[], auth: unknown): void => {
    for (const item of items.map(record)) {
      const name = text(item['name'])
      const own = item['auth'] ?? auth
      if (Array.isArray(item['item'])) {
        if (names.length < maxDepth) visit(item['item'], [...names, name], own)
        continue
      }
      const given = item['request']
      const request = typeof given === 'string' ? { method: 'GET', url: given } : record(given)
      const method = (text(request['method']) || 'GET').toUpperCase()
      const url = filled(text(request['url']) || text(record(request['url'])['raw']), variables, [])
      const summary = [...names, name].filter((each) => each !== '').join(' / ')
      const answers = list(item['response'])
      found.push({ id: String(found.length + 1), method, url, summary, request, auth: request['auth'] ?? own, answers })
    }
  }
  visit(list(document['item']), [], document['auth'])
  return {
    operations: found.map(({ id, method, url, summary }) => ({ id, method, url, summary })),
    take(id) {
      const one = found.find((each) => each.id === id)
      return one === undefined ? null : take(one, variables)
    },
  }
}

/** Names without a value become variables of the project. */
function filled(given: string, variables: ReadonlyMap<string, string>, notes: string[]): string {
  return given.replaceAll(/\{\{\s*([^{}]+?)\s*\}\}/g, (_, name: string) => {
    const known = variables.get(name)
    if (known !== undefined && known !== '') return known
    const slug =
      name
        .toLowerCase()
        .replaceAll(/[^a-z0-9_]+/g, '_')
        .replace(/^[^a-z]+/, '') || 'value'
    const note = `Make a variable ${slug} of the project: the collection says {{${name}}} and has no value for it.`
    if (!notes.includes(note)) notes.push(note)
    return `{{var:${slug}}}`
  })
}

function take({ request, auth, method, summary, answers }: Found, variables: ReadonlyMap<string, string>): Imported {
  const notes: string[] = []
  const fill = (value: unknown): string => filled(text(value), variables, notes)
  const address = isRecord(request['url']) ? request['url'] : { raw: request['url'] }
  const raw = fill(address['raw']).replaceAll(/\/:([A-Za-z_]\w*)/g, (whole, name: string) => {
    const own = list(address['variable'])
      .map(record)
      .find((each) => each['key'] === name)
    if (own !== undefined && text(own['value']) !== '') return `/${encodeURIComponent(fill(own['value']))}`
    notes.push(`Put a value in the place of :${name} in the URL.`)
    return whole
  })
  const query = list(address['query'])
    .map(record)
    .filter((each) => each['disabled'] !== true && text(each['key']) !== '')
  const url = /^[a-z][a-z0-9+.-]*:\/\/|^\{\{/i.test(raw) ? raw : `https://${raw}`
  const headers = list(request['header'])
    .map(record)
    .filter((each) => each['disabled'] !== true)
  const body = bodyOf(record(request['body']), fill)
  const example = answers.map((each) => parsed(record(each)['body'])).find((each) => each !== undefined)
  const { rows, pagination } = recognise(outlineOf(example ?? null), {
    headers: {},
    parameters: query.map((each) => ({ name: text(each['key']) })),
    graphql: graphqlIn({ body }),
    isSample: true,
  })
  const sent = headersOf(headers.map((each) => [text(each['key']), fill(each['value'])]))
  return {
    name: summary,
    configuration: {
      url: query.length > 0 ? (url.split('?')[0] ?? url) : url,
      method,
      ...(query.length > 0 && {
        parameters: Object.fromEntries(
          query.map((each) => [text(each['key']), { value: fill(each['value']), required: false }]),
        ),
      }),
      ...(Object.keys(sent).length > 0 && { headers: sent }),
      ...authOf(record(auth), fill, notes),
      ...(body !== undefined && { body }),
      ...(rows !== null && rows.path !== '' && { responsePathExtractor: rows.path }),
    },
    pagination,
    notes,
  }
}

type Fill = (value: unknown) => string

function authOf(auth: Fields, fill: Fill, notes: string[]): Fields {
  const type = text(auth['type'])
  const given = auth[type]
  const pairs = Array.isArray(given)
    ? list(given).map((each) => [text(record(each)['key']), record(each)['value']] as const)
    : Object.entries(record(given))
  const value = (name: string): string => fill(pairs.find(([key]) => key === name)?.[1])
  if (type === '' || type === 'noauth') return {}
  if (type === 'bearer') return { authType: 'Bearer Token', auth: { token: value('token') } }
  if (type === 'basic')
    return { authType: 'Basic Auth', auth: { username: value('username'), password: value('password') } }
  if (type === 'apikey') {
    return { authType: 'API Key', auth: { key: value('key'), value: value('value'), in: value('in') || 'header' } }
  }
  if (type === 'oauth2' && value('accessTokenUrl') !== '') {
    const scope = value('scope')
    const client = { client_id: value('clientId'), client_secret: value('clientSecret') }
    const shared = { token_url: value('accessTokenUrl'), ...client, ...(scope !== '' && { scope }) }
    const isByCode = value('grant_type').startsWith('authorization_code') && value('authUrl') !== ''
    if (!isByCode) return { authType: 'OAuth2 Client Credentials', auth: shared }
    return { authType: 'OAuth2 Authorization Code', auth: { ...shared, authorization_url: value('authUrl') } }
  }
  notes.push(`The collection uses the authentication ${type}, which is to be set up by hand.`)
  return {}
}

function bodyOf(body: Fields, fill: Fill): Fields | undefined {
  const fields = (given: unknown) =>
    Object.fromEntries(
      list(given)
        .map(record)
        .filter((each) => each['disabled'] !== true)
        .map((each) => [text(each['key']), fill(each['value'])]),
    )
  const mode = text(body['mode'])
  if (mode === 'urlencoded') return { type: 'form', content: fields(body['urlencoded']) }
  if (mode === 'formdata') return { type: 'multipart', content: fields(body['formdata']) }
  if (mode === 'graphql') {
    const variables = parsed(fill(record(body['graphql'])['variables']))
    return {
      type: 'graphql',
      content: { query: fill(record(body['graphql'])['query']), ...(isRecord(variables) && { variables }) },
    }
  }
  const raw = fill(body['raw'])
  if (mode !== 'raw' || raw === '') return undefined
  return parsed(raw) === undefined ? { type: 'raw', content: raw } : { type: 'json', content: raw }
}

function parsed(value: unknown): unknown {
  try {
    return typeof value === 'string' ? (JSON.parse(value) as unknown) : undefined
  } catch {
    return undefined
  }
}
