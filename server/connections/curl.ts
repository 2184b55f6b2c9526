import { type HttpConfiguration, httpConfiguration } from '../../api/connections.ts'
import { Failure } from '../failure.ts'
import { splitCommand } from './shell-words.ts'

/** What a pasted `curl` command asks for, as a configuration; `notes` say what was left out or changed, and why. */
export type CurlImport = { configuration: HttpConfiguration; notes: string[] }

type Draft = {
  url: string | null
  method: string | null
  headers: [string, string][]
  data: string[]
  form: [string, string][]
  user: string | null
  isGet: boolean
  isHead: boolean
  isJson: boolean
  notes: string[]
}
type Option = { takes: boolean; apply: (draft: Draft, value: string) => void }

function refuse(message: string): Failure {
  return new Failure('invalid_request', { reason: 'invalid_field', message, details: [{ field: 'command', message }] })
}

const flag = (apply: (draft: Draft) => void): Option => ({ takes: false, apply })
const valued = (apply: (draft: Draft, value: string) => void): Option => ({ takes: true, apply })
const ignored = flag(() => {})
const ignoredValue = valued(() => {})
const refused = (words: string): Option => flag(() => void throwing(words))

function throwing(words: string): never {
  throw refuse(words)
}

function addData(draft: Draft, value: string): void {
  if (value.startsWith('@'))
    throw refuse('The command sends a file (@…), which is on your machine; paste its content instead.')
  draft.data.push(value)
}

function addHeader(draft: Draft, value: string): void {
  const at = value.indexOf(':')
  if (at <= 0) return void draft.notes.push(`The header ${JSON.stringify(value)} has no value and was left out.`)
  draft.headers.push([value.slice(0, at).trim(), value.slice(at + 1).trim()])
}

/** `name=value` with the value encoded; `value` alone and `=value` encode without a name. */
function encodeData(draft: Draft, value: string): void {
  const at = value.indexOf('=')
  if (/^[^=]*@/.test(value) && at < 0)
    throw refuse('The command sends a file (name@…), which is on your machine; paste its content instead.')
  const encode = (text: string) => encodeURIComponent(text).replaceAll('%20', '+')
  draft.data.push(at > 0 ? `${value.slice(0, at)}=${encode(value.slice(at + 1))}` : encode(value.slice(at + 1)))
}

function addForm(draft: Draft, value: string): void {
  const at = value.indexOf('=')
  const content = value.slice(at + 1)
  if (at <= 0) throw refuse(`The form field ${JSON.stringify(value)} has no name.`)
  if (/^[@<]/.test(content))
    throw refuse('The command sends a file (-F name=@…), which is on your machine; paste its content instead.')
  draft.form.push([value.slice(0, at), content])
}

const insecure = refused(
  'The command switches certificate checks off (-k); Sluice does not do that. Give the API a certificate that can be checked.',
)
const proxy = refused('The command goes through a proxy; Sluice calls the API directly.')
const clientCertificate = refused('The command uses a client certificate, which is not supported.')

const url = valued((draft, value) => void (draft.url = value))
const method = valued((draft, value) => void (draft.method = value.toUpperCase()))
const header = valued(addHeader)
const data = valued(addData)
const raw = valued((draft, value) => void draft.data.push(value))
const user = valued((draft, value) => void (draft.user = value))

const options: Record<string, Option> = {
  '-X': method,
  '--request': method,
  '-H': header,
  '--header': header,
  '-d': data,
  '--data': data,
  '--data-ascii': data,
  '--data-binary': data,
  '--data-raw': raw,
  '--data-urlencode': valued(encodeData),
  '--json': valued((draft, value) => {
    draft.isJson = true
    addData(draft, value)
  }),
  '-F': valued(addForm),
  '--form': valued(addForm),
  '--form-string': valued((draft, value) => addForm(draft, value.replace(/=([@<])/, '=\u0000$1'))),
  '-u': user,
  '--user': user,
  '--oauth2-bearer': valued((draft, value) => addHeader(draft, `Authorization: Bearer ${value}`)),
  '-b': valued((draft, value) => addHeader(draft, `Cookie: ${value}`)),
  '--cookie': valued((draft, value) => addHeader(draft, `Cookie: ${value}`)),
  '-A': valued((draft, value) => addHeader(draft, `User-Agent: ${value}`)),
  '--user-agent': valued((draft, value) => addHeader(draft, `User-Agent: ${value}`)),
  '-e': valued((draft, value) => addHeader(draft, `Referer: ${value}`)),
  '--referer': valued((draft, value) => addHeader(draft, `Referer: ${value}`)),
  '--url': url,
  '-G': flag((draft) => void (draft.isGet = true)),
  '--get': flag((draft) => void (draft.isGet = true)),
  '-I': flag((draft) => void (draft.isHead = true)),
  '--head': flag((draft) => void (draft.isHead = true)),
  '-k': insecure,
  '--insecure': insecure,
  '-x': proxy,
  '--proxy': proxy,
  '-E': clientCertificate,
  '--cert': clientCertificate,
  ...Object.fromEntries(
    // Redirects and compression are always on here; the rest concerns the terminal of the person who ran it.
    [
      '-L',
      '--location',
      '--compressed',
      '-s',
      '--silent',
      '-S',
      '--show-error',
      '-v',
      '--verbose',
      '-i',
      '--include',
    ].map((name) => [name, ignored]),
  ),
  ...Object.fromEntries(
    [
      '-f',
      '--fail',
      '--fail-with-body',
      '-#',
      '--progress-bar',
      '-N',
      '--no-buffer',
      '-g',
      '--globoff',
      '--http1.1',
      '--http2',
      '--http1.0',
      '-4',
      '-6',
      '--path-as-is',
      '--no-progress-meter',
      '--tcp-nodelay',
    ].map((name) => [name, ignored]),
  ),
  ...Object.fromEntries(
    [
      '-o',
      '--output',
      '-w',
      '--write-out',
      '-m',
      '--max-time',
      '--connect-timeout',
      '--retry',
      '--retry-delay',
      '--retry-max-time',
      '--max-redirs',
      '-c',
      '--cookie-jar',
      '-D',
      '--dump-header',
    ].map((name) => [name, ignoredValue]),
  ),
}

/** Reads a pasted `curl` command. What it cannot carry over is refused or noted, never dropped in silence. */
export function importCurl(command: string): CurlImport {
  const [program, ...words] = splitCommand(command)
  if (program === undefined || !/(^|[/\\])curl(\.exe)?$/.test(program))
    throw refuse('The command must start with curl.')
  const draft: Draft = {
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
  readOptions(draft, words)
  if (draft.url === null) throw refuse('The command names no URL.')
  const configuration = httpConfiguration.safeParse(assemble(draft, draft.url))
  if (!configuration.success) {
    const [issue] = configuration.error.issues
    throw refuse(
      `The command asks for something that cannot be sent: ${issue?.path.join('.') ?? ''} ${issue?.message ?? ''}.`,
    )
  }
  return { configuration: configuration.data, notes: draft.notes }
}

function readOptions(draft: Draft, words: string[]): void {
  const rest = [...words]
  for (let word = rest.shift(); word !== undefined; word = rest.shift()) {
    if (!word.startsWith('-') || word === '-') {
      if (draft.url !== null) throw refuse('The command calls more than one URL; import them one by one.')
      draft.url = word
      continue
    }
    const [name = '', ...equal] = word.startsWith('--') ? word.split('=') : [word.slice(0, 2)]
    const option = Object.hasOwn(options, name) ? options[name] : undefined
    if (option === undefined) throw refuse(`The option ${name} of curl is not known here; remove it and try again.`)
    const joined = word.startsWith('--') ? equal.join('=') : word.slice(2)
    if (!option.takes) {
      option.apply(draft, '')
      // Short flags may stand together: -sSL.
      if (!word.startsWith('--') && joined !== '') rest.unshift(`-${joined}`)
      continue
    }
    const value = joined === '' ? rest.shift() : joined
    if (value === undefined) throw refuse(`The option ${name} of curl needs a value.`)
    option.apply(draft, value)
  }
}

function assemble(draft: Draft, given: string): Record<string, unknown> {
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
  return `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`
}

function withoutUser(address: string, url: URL | null, query: string): string {
  const plain = url === null ? address : address.replace(/^([a-z]+:\/\/)[^/@]*@/i, '$1')
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

function bodyOf(draft: Draft, headers: Map<string, string>): Record<string, unknown> {
  if (draft.form.length > 0) {
    const content: Record<string, string[]> = {}
    for (const [name, value] of draft.form) (content[name] ??= []).push(value.replace('\u0000', ''))
    return { type: 'multipart', content }
  }
  const text = draft.isJson ? draft.data.join('') : draft.data.join('&')
  const [, named = ''] = takeHeader(headers, /^content-type$/i) ?? []
  const type = named.split(';')[0]?.trim().toLowerCase() ?? ''
  if ((draft.isJson || type === 'application/json') && isJson(text))
    return { type: 'json', content: JSON.parse(text) as unknown }
  if (type === '' || type === 'application/x-www-form-urlencoded') return { type: 'form', content: text }
  return { type: 'raw', content: text, content_type: named }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
