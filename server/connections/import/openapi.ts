import { resolve } from './document.ts'
import { recognise, type TakenParameter } from '../request/recognise.ts'
import { outlineOf } from '../../rows/index.ts'
import { isRecord, list, methods, record, refusal, text } from './imported.ts'
import type { DocumentReader, Fields, Imported, Operation } from './imported.ts'
import { sampleOf } from './sample.ts'

type OperationEntry = Operation & { operation: Fields; item: Fields; path: string }

/** Reads OpenAPI 3 and Swagger 2. `address` is where the document came from: relative servers are resolved by it. */
export function readOpenapi(document: Fields, address: string | null): DocumentReader {
  const version = text(document['openapi']) || text(document['swagger'])
  if (!/^[23]\./.test(version))
    throw refusal(`The document is OpenAPI ${version || 'of no version'}; 2 and 3 can be read`)
  const operations = Object.entries(record(document['paths'])).flatMap(([path, given]) => {
    const item = record(resolve(document, given))
    return methods.flatMap((method): OperationEntry[] => {
      const operation = item[method]
      if (!isRecord(operation)) return []
      const summary = text(operation['summary']) || text(operation['operationId'])
      return [
        {
          id: `${method.toUpperCase()} ${path}`,
          method: method.toUpperCase(),
          url: path,
          summary,
          operation,
          item,
          path,
        },
      ]
    })
  })
  return {
    operations: operations.map(({ id, method, url, summary }) => ({ id, method, url, summary })),
    take(id) {
      const found = operations.find((each) => each.id === id || each.operation['operationId'] === id)
      return found === undefined ? null : take(document, address, found)
    },
  }
}

function take(
  document: Fields,
  address: string | null,
  { id, method, operation, item, path, summary }: OperationEntry,
): Imported {
  const notes: string[] = []
  const parameters = parametersOf(document, item, operation)
  const url = serverOf(document, address, { item, operation, notes }) + filledPath(path, parameters, notes)
  const query = parameters.filter((each) => each['in'] === 'query')
  const answer = answerOf(document, operation)
  const headers = parameters.flatMap((each): Array<[string, string]> => {
    const name = text(each['name'])
    const value = text(exampleOf(document, each))
    const isOurs = /^(accept|content-type|authorization)$/i.test(name)
    return each['in'] !== 'header' || isOurs || value === '' ? [] : [[name, value]]
  })
  const needed = parameters.filter((each) => each['required'] === true && each['in'] !== 'path')
  const missing = needed.filter((each) => text(exampleOf(document, each)) === '').map((each) => text(each['name']))
  if (missing.length > 0)
    notes.push(`Give a value to ${missing.join(', ')}: the API requires it and the document has none.`)
  const body = bodyOf(document, operation, parameters)
  const { rows, pagination } = recognise(outlineOf(answer.sample), {
    headers: answer.hasLinks ? { link: '<https://api.example/next>; rel="next"' } : {},
    parameters: query.map((each) => pageParameterOf(document, each)),
    graphql: null,
    isSample: true,
  })
  return {
    name: summary || id,
    configuration: {
      url,
      method,
      ...(query.length > 0 && { parameters: Object.fromEntries(query.map((each) => parameterOf(document, each))) }),
      ...(headers.length > 0 && { headers: Object.fromEntries(headers) }),
      ...authOf(document, operation, notes),
      ...(body !== undefined && { body: { type: 'json', content: body } }),
      ...(rows !== null && rows.path !== '' && { responsePathExtractor: rows.path }),
    },
    pagination,
    notes,
  }
}

/** Parameters of the operation and of its path; the operation's override those of the path. */
function parametersOf(document: Fields, item: Fields, operation: Fields): Fields[] {
  const all = [...list(item['parameters']), ...list(operation['parameters'])].map((each) =>
    record(resolve(document, each)),
  )
  return [...new Map(all.map((each) => [`${text(each['in'])} ${text(each['name'])}`, each])).values()]
}

/** The value that a document gives a parameter: its default; if it is required, else an example or the first choice. */
function exampleOf(document: Fields, parameter: Fields): unknown {
  const schema = record(resolve(document, parameter['schema'] ?? parameter))
  const [named] = Object.values(record(parameter['examples']))
  const choices = list(schema['enum'])
  const found = schema['default'] ?? parameter['default']
  if (found !== undefined) return found
  if (parameter['required'] !== true) return undefined
  return (
    parameter['example'] ??
    record(resolve(document, named))['value'] ??
    schema['example'] ??
    list(schema['examples'])[0] ??
    choices[0]
  )
}

function parameterOf(document: Fields, parameter: Fields): [string, Fields] {
  const value = exampleOf(document, parameter)
  const isPlain = ['string', 'number', 'boolean'].includes(typeof value) || Array.isArray(value)
  return [text(parameter['name']), { ...(isPlain && { value }), required: parameter['required'] === true }]
}

function pageParameterOf(document: Fields, parameter: Fields): TakenParameter {
  const schema = record(resolve(document, parameter['schema'] ?? parameter))
  const number = [schema['maximum'], schema['default']].find((each) => typeof each === 'number' && each > 0)
  const first = schema['minimum'] ?? schema['default']
  return {
    name: text(parameter['name']),
    limit: typeof number === 'number' ? Math.min(number, 1_000) : undefined,
    first: typeof first === 'number' ? first : undefined,
  }
}

function filledPath(path: string, parameters: Fields[], notes: string[]): string {
  return path.replaceAll(/\{([^{}]+)\}/g, (whole, name: string) => {
    const parameter = parameters.find((each) => each['in'] === 'path' && each['name'] === name)
    const value =
      parameter === undefined
        ? ''
        : text(record(parameter['schema'])['default'] ?? parameter['example'] ?? record(parameter['schema'])['example'])
    if (value !== '') return encodeURIComponent(value)
    notes.push(`Put a value in the place of ${whole} in the URL, or {{row.${name}}} for each row of another table.`)
    return whole
  })
}

type OperationContext = { item: Fields; operation: Fields; notes: string[] }

function serverOf(document: Fields, address: string | null, { item, operation, notes }: OperationContext): string {
  const servers = [operation, item, document].map((each) => list(each['servers'])).find((each) => each.length > 0) ?? []
  const [scheme = 'https'] = list(document['schemes']).map(text)
  const host = text(document['host'])
  const swaggerUrl = host === '' ? text(document['basePath']) : `${scheme}://${host}${text(document['basePath'])}`
  const server = record(servers[0])
  const written = servers.length > 0 ? withVariables(server) : swaggerUrl
  const base = written.replace(/\/+$/, '')
  if (/^https?:\/\//i.test(base)) return base
  if (address !== null && URL.canParse(base || '/', address))
    return new URL(base || '/', address).href.replace(/\/+$/, '')
  notes.push('The document does not say where its API is; complete the URL.')
  return `https://api.example${base.startsWith('/') || base === '' ? base : `/${base}`}`
}

function withVariables(server: Fields): string {
  const variables = record(server['variables'])
  return text(server['url']).replaceAll(
    /\{([^{}]+)\}/g,
    (whole, name: string) => text(record(variables[name])['default']) || whole,
  )
}

/** The first security scheme that can be configured here, with empty credentials. */
function authOf(document: Fields, operation: Fields, notes: string[]): Fields {
  const wanted = list(operation['security'] ?? document['security']).flatMap((each) => Object.entries(record(each)))
  const schemes = {
    ...record(document['securityDefinitions']),
    ...record(record(document['components'])['securitySchemes']),
  }
  for (const [name, scopes] of wanted) {
    const scheme = record(resolve(document, schemes[name]))
    const found = schemeOf(scheme, list(scopes).map(text))
    if (found === null) continue
    notes.push(`Fill in the credentials: the API uses ${text(found['authType'])}.`)
    return found
  }
  if (wanted.length > 0) notes.push('Set up the authentication by hand: its type cannot be imported.')
  return {}
}

function schemeOf(scheme: Fields, scopes: string[]): Fields | null {
  const type = text(scheme['type']).toLowerCase()
  if (type === 'apikey')
    return { authType: 'API Key', auth: { key: text(scheme['name']), value: '', in: text(scheme['in']) || 'header' } }
  if (type === 'basic' || (type === 'http' && /^basic$/i.test(text(scheme['scheme'])))) {
    return { authType: 'Basic Auth', auth: { username: '', password: '' } }
  }
  if (type === 'http' && /^bearer$/i.test(text(scheme['scheme'])))
    return { authType: 'Bearer Token', auth: { token: '' } }
  if (type !== 'oauth2') return null
  const flows = record(scheme['flows'])
  const swaggerFlow = text(scheme['flow']) === 'application' ? scheme : undefined
  const flow = record(flows['clientCredentials'] ?? swaggerFlow)
  const tokenUrl = text(flow['tokenUrl'])
  const scope = scopes.join(' ')
  if (tokenUrl === '') return codeFlow(record(flows['authorizationCode'] ?? swaggerCodeFlow(scheme)), scope)
  const auth = { token_url: tokenUrl, client_id: '', client_secret: '', ...(scope !== '' && { scope }) }
  return { authType: 'OAuth2 Client Credentials', auth }
}

function swaggerCodeFlow(scheme: Fields): Fields | undefined {
  return text(scheme['flow']) === 'accessCode' ? scheme : undefined
}

function codeFlow(flow: Fields, scope: string): Fields | null {
  const [authorizationUrl, tokenUrl] = [text(flow['authorizationUrl']), text(flow['tokenUrl'])]
  if (authorizationUrl === '' || tokenUrl === '') return null
  const addresses = { authorization_url: authorizationUrl, token_url: tokenUrl }
  const auth = { ...addresses, client_id: '', client_secret: '', ...(scope !== '' && { scope }) }
  return { authType: 'OAuth2 Authorization Code', auth }
}

function contentOf(document: Fields, holder: Fields): Fields {
  const content = record(holder['content'])
  const [, media] = Object.entries(content).find(([type]) => /[/+]json\b/i.test(type)) ?? []
  return record(resolve(document, media))
}

function bodyOf(document: Fields, operation: Fields, parameters: Fields[]): unknown {
  const swaggerBody = parameters.find((each) => each['in'] === 'body')
  const media = contentOf(document, record(resolve(document, operation['requestBody'])))
  const schema = media['schema'] ?? swaggerBody?.['schema']
  if (schema === undefined) return undefined
  const [named] = Object.values(record(media['examples']))
  const example =
    media['example'] ?? record(resolve(document, named))['value'] ?? record(resolve(document, schema))['example']
  const found = example ?? sampleOf(document, schema)
  return isRecord(found) || Array.isArray(found) ? found : undefined
}

/** A sample of the successful answer, by its schema or else its example. */
function answerOf(document: Fields, operation: Fields): { sample: unknown; hasLinks: boolean } {
  const responses = record(operation['responses'])
  const success = ['200', '2XX', '201', 'default'].map((status) => responses[status]).find((each) => each !== undefined)
  const response = record(resolve(document, success))
  const media = contentOf(document, response)
  const schema = media['schema'] ?? response['schema']
  const hasLinks = Object.keys(record(response['headers'])).some((name) => name.toLowerCase() === 'link')
  return { sample: schema === undefined ? (media['example'] ?? null) : sampleOf(document, schema), hasLinks }
}
