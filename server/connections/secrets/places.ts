import { bodyTypes, type HttpConfiguration } from '../../../api/connections.ts'
import { isSecretName } from '../../../api/secret-names.ts'
import { exceedsDepth } from '../../json-depth.ts'
import { parsePath } from '../../rows/index.ts'
import { isReference } from './references.ts'
import { formSpans, graphqlSpans, jsonSpans, pointerPart, urlSpans, type SecretSpan } from './texts.ts'

/** One place of a configuration that holds a secret. */
export type SecretPlace = {
  /** The same for the same place of another configuration, whatever the order of names in it. */
  key: string
  /** For words: `headers.X-Auth`. */
  field: string
  /** Which address of the configuration it is sent to. What a token is asked for with leads to both. */
  goesTo: 'url' | 'token_url' | 'both'
  /** How the value is written there: as it is, encoded as in a query, or as JSON within a text. */
  written: 'plain' | 'encoded' | 'json'
}

/** Called for every secret with its value as it is written there; what it answers takes the value's place. */
type Visit = (place: SecretPlace, value: unknown) => unknown

/**
 * A configuration with every secret passed through `visit`. The one place that decides what of a configuration is secret:
 * masking, restoring and sending all ask it.
 */
export function mapSecrets(configuration: HttpConfiguration, visit: Visit): HttpConfiguration {
  const seen = new Map<string, number>()
  const found: Visit = (place, value) => {
    if (value === undefined || value === null || value === '' || isReference(value)) return value
    const count = seen.get(place.key) ?? 0
    seen.set(place.key, count + 1)
    return visit({ ...place, key: `${place.key}#${count}` }, value)
  }
  const { headers, parameters, parameterGroups: groups, auth, body } = configuration
  return {
    ...configuration,
    url: mapUrl(configuration.url, 'url', found),
    ...(headers !== undefined && { headers: mapHeaders(headers, found) }),
    ...(parameters !== undefined && { parameters: mapParameters(parameters, 'parameters', found) }),
    ...(groups !== undefined && {
      parameterGroups: groups.map((group) => ({
        ...group,
        parameters: mapParameters(group.parameters, `parameterGroups.${group.name}`, found),
      })),
    }),
    ...(auth !== undefined && { auth: mapAuth(configuration.authType ?? 'None', auth, found) }),
    ...(body !== undefined && { body: mapBody(body, found) }),
  }
}

/** Whether what is sent as the body holds a secret. */
export function hasSecretBody(body: HttpConfiguration['body']): boolean {
  let isFound = false
  if (body !== undefined) mapBody(body, (_place, value) => ((isFound = true), value))
  return isFound
}

/** Whether a header is secret: by its name, or because its author says so. */
export function isSecretHeader(name: string, header: NonNullable<HttpConfiguration['headers']>[string]): boolean {
  return isSecretName(name) || (typeof header === 'object' && header.secret === true)
}

function mapUrl(url: string, field: 'url' | 'auth.token_url' | 'auth.authorization_url', visit: Visit): string {
  const goesTo = field === 'url' ? 'url' : 'token_url'
  return mapText(url, urlSpans(url), { key: field, field, goesTo, written: 'encoded' }, visit)
}

function mapText(text: string, spans: SecretSpan[], place: SecretPlace, visit: Visit): string {
  let at = 0
  const pieces = spans.map(({ name, start, end }) => {
    const value = visit({ ...place, key: `${place.key} ${name}` }, text.slice(start, end))
    const piece = text.slice(at, start) + String(value)
    at = end
    return piece
  })
  return pieces.join('') + text.slice(at)
}

function mapHeaders(headers: NonNullable<HttpConfiguration['headers']>, visit: Visit) {
  return mapRecord(headers, (name, header) => {
    if (!isSecretHeader(name, header)) return header
    const place: SecretPlace = {
      key: `headers ${name.toLowerCase()}`,
      field: `headers.${name}`,
      goesTo: 'url',
      written: 'plain',
    }
    if (typeof header === 'string') return visit(place, header) as string
    return { ...header, value: visit(place, header.value) as string }
  })
}

type Parameters = NonNullable<HttpConfiguration['parameters']>

function mapParameters(parameters: Parameters, within: string, visit: Visit): Parameters {
  return mapRecord(parameters, (name, parameter) => {
    if (parameter.value === undefined || !(isSecretName(name) || parameter.secret === true)) return parameter
    const field = `${within}.${name}`
    const value = visit({ key: field, field, goesTo: 'url', written: 'plain' }, parameter.value)
    return { ...parameter, value: value as Parameters[string]['value'] }
  })
}

/** Fields of `auth` that are shown: they say where a secret goes, and cannot be one. */
const openAuth = new Set(
  (
    'in prefix scope audience client_auth body_type token_from token_path expires_path expires_unit lifetime_seconds ' +
    'algorithm key_id issuer subject region service secret_encoding encoding template header timestamp ' +
    'timestamp_header nonce_header format'
  ).split(' '),
)
const isOAuthAddress = (name: string): name is 'token_url' | 'authorization_url' =>
  name === 'token_url' || name === 'authorization_url'

function mapAuth(type: string, auth: Record<string, unknown>, visit: Visit): Record<string, unknown> {
  const isLogin = type === 'Login Request'
  const goesTo = isLogin || type === 'Signed JWT' || type.startsWith('OAuth2 ') ? 'both' : 'url'
  return mapRecord(auth, (name, value) => {
    if (isOAuthAddress(name) && typeof value === 'string') return mapUrl(value, `auth.${name}`, visit)
    if (openAuth.has(name) || (name === 'key' && (isLogin || 'value' in auth))) return value
    const place: SecretPlace = { key: `auth ${type} ${name}`, field: `auth.${name}`, goesTo, written: 'plain' }
    if (name === 'body' && isLogin) return mapFields(value, isSecretField(value, []), { place, visit })
    if (name === 'parameters' && isRecord(value)) return mapAuthParameters(value, place, visit)
    return visit(place, value)
  })
}

/** Further parameters for an authorization server: secret by name, as those of a request are. */
function mapAuthParameters(parameters: Record<string, unknown>, place: SecretPlace, visit: Visit) {
  return mapRecord(parameters, (name, value) => {
    if (!isSecretName(name)) return value
    return visit({ ...place, key: `${place.key} ${name}`, field: `${place.field}.${name}` }, value)
  })
}

type Body = NonNullable<HttpConfiguration['body']>

function mapBody(body: Body, visit: Visit): Body {
  const type = bodyTypes.find((each) => each === body['type'])
  const place: SecretPlace = { key: 'body', field: 'body', goesTo: 'url', written: 'plain' }
  if (type === undefined) {
    const asJson = { ...place, key: 'body json' }
    return mapFields(body, isSecretField(body, []), { place: asJson, visit }) as Body
  }
  const { content, secret } = body
  const inside: SecretPlace = { ...place, key: `body ${type}`, field: 'body.content' }
  const chosen = Array.isArray(secret) ? secret.filter((each) => typeof each === 'string') : []
  const mapped = content === undefined ? {} : { content: mapContent(content, { type, secret, chosen }, inside, visit) }
  return { ...body, ...mapped }
}

type Marked = { type: (typeof bodyTypes)[number]; secret: unknown; chosen: string[] }

/** Texts that are no list of named values are secret as a whole: nothing tells which part of them is one. */
function mapContent(content: unknown, { type, secret, chosen }: Marked, place: SecretPlace, visit: Visit): unknown {
  if (secret === true || type === 'raw') return visit(place, content)
  if (typeof content !== 'string') return mapFields(content, isSecretField(content, chosen), { place, visit })
  if (type === 'form') {
    const spans = formSpans(content, (name) => isSecretName(name) || chosen.includes(name))
    return mapText(content, spans, { ...place, written: 'encoded' }, visit)
  }
  if (type === 'graphql') return mapText(content, graphqlSpans(content), { ...place, written: 'json' }, visit)
  const value = type === 'json' ? parsed(content) : undefined
  if (value === undefined) return visit(place, content)
  return mapText(content, jsonSpans(content, isSecretField(value, chosen)), { ...place, written: 'json' }, visit)
}

const deepestBody = 64

function parsed(text: string): unknown {
  if (exceedsDepth(text, deepestBody)) return undefined
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

type Fields = { place: SecretPlace; visit: Visit }

function mapFields(root: unknown, isSecret: (pointer: string) => boolean, { place, visit }: Fields): unknown {
  const map = (value: unknown, pointer: string): unknown => {
    if (isSecret(pointer)) {
      const field = `${place.field}${pointer.replaceAll('/', '.')}`
      return visit({ ...place, key: `${place.key} ${pointer}`, field }, value)
    }
    if (Array.isArray(value)) return value.map((item, index) => map(item, `${pointer}/${index}`))
    if (!isRecord(value)) return value
    return mapRecord(value, (name, inner) => map(inner, `${pointer}/${pointerPart(name)}`))
  }
  return map(root, '')
}

/** Which fields of a body are secret: by name, by being the `value` of something with such a name, or as its author says. */
function isSecretField(root: unknown, chosen: string[]): (pointer: string) => boolean {
  const secret = new Set(chosen.map((path) => pointerOf(parsePath(path).steps)))
  const visit = (value: unknown, pointer: string): void => {
    if (Array.isArray(value)) return value.forEach((item, index) => visit(item, `${pointer}/${index}`))
    if (!isRecord(value)) return
    const names = ['name', 'key'].filter((name) => !secret.has(`${pointer}/${name}`) && 'value' in value)
    const isNamed = names.some((name) => typeof value[name] === 'string' && isSecretName(value[name]))
    for (const [name, inner] of Object.entries(value)) {
      const at = `${pointer}/${pointerPart(name)}`
      if (name === 'value' ? isNamed : isSecretName(name) && !names.includes(name)) secret.add(at)
      else visit(inner, at)
    }
  }
  visit(root, '')
  return (pointer) => secret.has(pointer)
}

function pointerOf(steps: Array<string | number>): string {
  return steps.map((step) => `/${pointerPart(step)}`).join('')
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function mapRecord<Value>(record: Record<string, Value>, map: (name: string, value: Value) => Value) {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, map(name, value)]))
}
