import { type HttpConfiguration, httpConfiguration } from '../../../api/connections.ts'
import { exceedsDepth } from '../../json-depth.ts'
import { type CurlDraft, readCurlOptions } from './curl-options.ts'
import { refuseCommand, splitCommand } from './shell-words.ts'

/** A pasted `curl` command as a configuration; `notes` say what was left out or changed, and why. */
export type CurlImport = { configuration: HttpConfiguration; notes: string[] }

/** Reads a pasted `curl` command. What it cannot carry over is refused or noted, never dropped in silence. */
export function importCurl(command: string): CurlImport {
  const [program, ...words] = splitCommand(command)
  if (program === undefined || !/(^|[/\\])curl(\.exe)?$/.test(program))
    throw refuseCommand('The command must start with curl.')
  const draft: CurlDraft = {
    url: null,
    method: null,
    headers: [],
    data: [],
    form: [],
    user: null,
    isGet: false,
    isHead: false,
    isJson: false,
    notes: [],
  }
  readCurlOptions(draft, words)
  if (draft.url === null) throw refuseCommand('The command names no URL.')
  const configuration = httpConfiguration.safeParse(assemble(draft, draft.url))
  if (!configuration.success) {
    const [issue] = configuration.error.issues
    throw refuseCommand(
      `The command asks for something that cannot be sent: ${issue?.path.join('.') ?? ''} ${issue?.message ?? ''}.`,
    )
  }
  return { configuration: configuration.data, notes: draft.notes }
}

function assemble(draft: CurlDraft, given: string): Record<string, unknown> {
  const address = /^[a-z][a-z0-9+.-]*:\/\//i.test(given) ? given : `http://${given}`
  const parts = URL.canParse(address) ? new URL(address) : null
  const user = draft.user ?? userOf(parts)
  const sendsBody = !draft.isGet && (draft.data.length > 0 || draft.form.length > 0)
  const query = draft.isGet && draft.data.length > 0 ? draft.data.join('&') : ''
  const method = draft.method ?? (draft.isHead ? 'HEAD' : sendsBody ? 'POST' : 'GET')
  const headers = new Map(draft.headers)
  if (draft.isJson && !hasHeader(headers, 'accept')) headers.set('Accept', 'application/json')
  const auth = authOf(headers, user)
  const body = sendsBody ? bodyOf(draft, headers) : undefined
  return {
    url: withoutUser(address, parts, query),
    method,
    ...(headers.size === 0 ? {} : { headers: Object.fromEntries(headers) }),
    ...auth,
    ...(body === undefined ? {} : { body }),
  }
}

function userOf(url: URL | null): string | null {
  if (url === null || (url.username === '' && url.password === '')) return null
  return `${decoded(url.username)}:${decoded(url.password)}`
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

function withoutUser(address: string, url: URL | null, query: string): string {
  // The last @ before the path ends it, as in a URL; one in the query is none.
  const plain = url === null ? address : address.replace(/^([a-z][a-z0-9+.-]*:\/\/)[^/\\?#]*@/i, '$1')
  return query === '' ? plain : `${plain}${plain.includes('?') ? '&' : '?'}${query}`
}

function hasHeader(headers: Map<string, string>, name: string): boolean {
  return [...headers.keys()].some((each) => each.toLowerCase() === name)
}

function takeHeader(headers: Map<string, string>, pattern: RegExp): [name: string, value: string] | null {
  const found = [...headers].find(([name]) => pattern.test(name)) ?? null
  if (found !== null) headers.delete(found[0])
  return found
}

/** Credentials move from headers to `auth`, where they are kept encrypted and never shown again. */
function authOf(headers: Map<string, string>, user: string | null): Record<string, unknown> {
  if (user !== null) {
    const [username = '', ...password] = user.split(':')
    return { authType: 'Basic Auth', auth: { username, password: password.join(':') } }
  }
  const [, authorization = ''] = takeHeader(headers, /^authorization$/i) ?? []
  const basic = /^Basic\s+([A-Za-z0-9+/=]+)$/i.exec(authorization)?.[1]
  if (basic !== undefined) return authOf(headers, Buffer.from(basic, 'base64').toString())
  const bearer = /^(\S+)\s+(\S.*)$/.exec(authorization)
  if (bearer !== null) {
    const [, prefix = '', token = ''] = bearer
    return { authType: 'Bearer Token', auth: { token, ...(/^bearer$/i.test(prefix) ? {} : { prefix }) } }
  }
  if (authorization !== '') return { authType: 'API Key', auth: { key: 'Authorization', value: authorization } }
  const key = takeHeader(headers, /^(x-)?(api[-_]?key|auth[-_]?token|access[-_]?token)$/i)
  return key === null ? {} : { authType: 'API Key', auth: { key: key[0], value: key[1], in: 'header' } }
}

function bodyOf(draft: CurlDraft, headers: Map<string, string>): Record<string, unknown> {
  if (draft.form.length > 0) {
    const content = Map.groupBy(draft.form, ([name]) => name)
    const values = [...content].map(([name, fields]) => [name, fields.map(([, value]) => value)] as const)
    return { type: 'multipart', content: Object.fromEntries(values) }
  }
  const text = draft.isJson ? draft.data.join('') : draft.data.join('&')
  const [, named = ''] = takeHeader(headers, /^content-type$/i) ?? []
  const type = named.split(';')[0]?.trim().toLowerCase() ?? ''
  const isMeantAsJson = draft.isJson || type === 'application/json'
  if (isMeantAsJson && exceedsDepth(text, maxDepth)) {
    throw refuseCommand(`The JSON of the command is nested deeper than ${maxDepth} levels.`)
  }
  if (isMeantAsJson && isJson(text)) return { type: 'json', content: JSON.parse(text) as unknown }
  if (type === '' || type === 'application/x-www-form-urlencoded') return { type: 'form', content: text }
  return { type: 'raw', content: text, content_type: named }
}

/** As deep as the body of a request may be. */
const maxDepth = 64

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
