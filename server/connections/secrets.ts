import { type HttpConfiguration } from '../../api/connections.ts'

/** What stands in the place of a secret in every stored request, answer, error and log line. */
export const hidden = '***'

const secretWords = /authorization|cookie|key|token|secret|password/i

/** Whether a header or parameter of this name carries a secret. The one place that decides it. */
export function isSecretName(name: string): boolean {
  return secretWords.test(name)
}

/** A configuration as it may be stored, shown and logged. Names stay, secret values do not. */
export function redact(configuration: HttpConfiguration): HttpConfiguration {
  const safe: HttpConfiguration = { ...configuration, url: redactUrl(configuration.url) }
  if (safe.headers !== undefined) safe.headers = hideByName(safe.headers, () => hidden)
  if (safe.parameters !== undefined) safe.parameters = hideParameters(safe.parameters)
  if (safe.parameterGroups !== undefined) safe.parameterGroups = safe.parameterGroups.map(hideGroup)
  if (safe.auth !== undefined) safe.auth = hideAuth(safe.auth)
  return safe
}

type Group = NonNullable<HttpConfiguration['parameterGroups']>[number]

function hideGroup(group: Group): Group {
  return Object.assign({}, group, { parameters: hideParameters(group.parameters) })
}

type Parameters = NonNullable<HttpConfiguration['parameters']>

function hideParameters(parameters: Parameters): Parameters {
  return hideByName(parameters, (parameter) => ({ ...parameter, value: hidden }))
}

function hideByName<Value>(record: Record<string, Value>, hide: (value: Value) => Value): Record<string, Value> {
  return Object.fromEntries(
    Object.entries(record).map(([name, value]) => [name, isSecretName(name) ? hide(value) : value]),
  )
}

/** Of `auth` only what says where a secret goes is shown; every value that could be one is not. */
const shownAuth = new Set(['in', 'prefix', 'token_url', 'scope'])

function hideAuth(auth: NonNullable<HttpConfiguration['auth']>): NonNullable<HttpConfiguration['auth']> {
  const isName = (name: string) => name === 'key' && 'value' in auth
  return Object.fromEntries(
    Object.entries(auth).map(([name, value]) => [name, shownAuth.has(name) || isName(name) ? value : hidden]),
  )
}

/** An address without what is secret in it: its user information and the values of secret query parameters. */
export function redactUrl(text: string): string {
  if (!URL.canParse(text)) return text.replace(/\?.*$/s, `?${hidden}`)
  const url = new URL(text)
  const names = [...url.searchParams.keys()].filter(isSecretName)
  if (names.length === 0 && url.username === '' && url.password === '') return text
  url.username = ''
  url.password = ''
  const query = url.search
    .slice(1)
    .split('&')
    .map((part) => {
      const [name = ''] = part.split('=')
      return isSecretName(decodeURIComponentSafely(name)) ? `${name}=${hidden}` : part
    })
    .join('&')
  return `${url.origin}${url.pathname}${query === '' ? '' : `?${query}`}${url.hash}`
}

function decodeURIComponentSafely(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
