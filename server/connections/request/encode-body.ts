import { createHash } from 'node:crypto'
import { bodyTypes, type HttpConfiguration } from '../../../api/connections.ts'
import { Failure, invalidField } from '../../failure.ts'
import { parsePath, type JsonPath } from '../../rows/index.ts'

type Encoded = { bytes: Buffer; contentType: string }

const bodyMethods = new Set(['POST', 'PUT', 'PATCH', 'DELETE'])

/** The bytes of a body: `{type, content, content_type?, secret?}`, or any other object as JSON. `null` when there is none. */
export function encodeBody(method: string, body: HttpConfiguration['body']): Encoded | null {
  if (body === undefined || Object.keys(body).length === 0) return null
  const type = bodyTypes.find((each) => each === body['type'])
  const content = type === undefined ? body : body['content']
  if (content === undefined || content === null || content === '') return null
  if (!bodyMethods.has(method)) {
    throw new Failure('invalid_request', {
      reason: 'body_not_accepted',
      message: `body is not accepted with ${method}; it goes with POST, PUT, PATCH and DELETE.`,
      details: [{ field: 'body', message: `is not accepted with ${method}` }],
    })
  }
  if (type !== undefined) checkSecret(body['secret'])
  const encoded = encoders[type ?? 'json'](content)
  const named = type === undefined ? undefined : body['content_type']
  if (named === undefined || type === 'multipart') return encoded
  if (typeof named !== 'string' || !/^[\w!#$&^.+-]+\/[\w!#$&^.+-][\x20-\x7e]*$/.test(named)) {
    throw invalidField('body.content_type', 'is no media type such as text/plain')
  }
  return { ...encoded, contentType: named }
}

/**
 * The body with values set at paths of it, objects on the way made where there are none. Paths lead into the content
 * where a type is named, and into the body itself where it is JSON without one.
 */
export function withBodyValues(
  body: HttpConfiguration['body'],
  values: Array<{ path: JsonPath; value: unknown }>,
): HttpConfiguration['body'] {
  if (values.length === 0) return body
  const type = bodyTypes.find((each) => each === body?.['type'])
  if (type === 'raw' || type === 'multipart') {
    throw invalidField('pagination.in', `cannot be body where the body is ${type}; use json, graphql or form`)
  }
  const content = type === undefined ? (body ?? {}) : contentOf(type, body?.['content'])
  const set = values.reduce<unknown>((whole, { path, value }) => withValue(whole, path.steps, value), content)
  return type === undefined ? (set as Record<string, unknown>) : { ...body, content: set }
}

function contentOf(type: (typeof bodyTypes)[number], content: unknown): unknown {
  if (typeof content !== 'string') return content ?? {}
  if (type === 'graphql') return { query: content }
  if (type === 'form') return Object.fromEntries(new URLSearchParams(content))
  return JSON.parse(jsonText(content)) as unknown
}

function withValue(whole: unknown, [step, ...rest]: Array<string | number>, value: unknown): unknown {
  if (step === undefined) return value
  if (Array.isArray(whole)) {
    const at = Number(step)
    return (whole as unknown[]).map((item, index) => (index === at ? withValue(item, rest, value) : item))
  }
  const object = typeof whole === 'object' && whole !== null ? (whole as Record<string, unknown>) : {}
  return { ...object, [step]: withValue(object[step], rest, value) }
}

/** The author's mark of secrets in a body: all of it, or the fields at these paths. */
function checkSecret(secret: unknown): void {
  if (secret === undefined || typeof secret === 'boolean') return
  if (!Array.isArray(secret) || !secret.every((path) => typeof path === 'string' && path !== '')) {
    throw invalidField('body.secret', 'must be true, false or a list of paths of fields, such as ["login.pin"]')
  }
  for (const path of secret as string[]) parsePath(path)
}

const encoders: Record<(typeof bodyTypes)[number], (content: unknown) => Encoded> = {
  json: (content) => ({ bytes: Buffer.from(jsonText(content)), contentType: 'application/json' }),
  form: (content) => ({ bytes: Buffer.from(formText(content)), contentType: 'application/x-www-form-urlencoded' }),
  graphql: (content) => ({ bytes: Buffer.from(JSON.stringify(graphql(content))), contentType: 'application/json' }),
  multipart,
  raw(content) {
    if (typeof content !== 'string') throw invalidField('body.content', 'must be text when the type is raw')
    return { bytes: Buffer.from(content), contentType: 'text/plain; charset=utf-8' }
  },
}

function jsonText(content: unknown): string {
  if (typeof content !== 'string') return JSON.stringify(content)
  try {
    JSON.parse(content)
    return content
  } catch {
    throw invalidField('body.content', 'is text that is no JSON; use the type raw to send it as it is')
  }
}

function members(content: unknown, type: string): [string, unknown][] {
  if (typeof content !== 'object' || content === null || Array.isArray(content)) {
    throw invalidField('body.content', `must be an object of names and values when the type is ${type}`)
  }
  return Object.entries(content).flatMap(([name, value]: [string, unknown]) =>
    (Array.isArray(value) ? (value as unknown[]) : [value]).map((each): [string, unknown] => [name, each]),
  )
}

function text(value: unknown): string {
  if (value === null || value === undefined) return ''
  return typeof value === 'string' ? value : JSON.stringify(value)
}

function formText(content: unknown): string {
  if (typeof content === 'string') return content
  return new URLSearchParams(
    members(content, 'form').map(([name, value]): [string, string] => [name, text(value)]),
  ).toString()
}

function graphql(content: unknown): unknown {
  if (typeof content === 'string') return { query: content }
  const query = typeof content === 'object' && content !== null && 'query' in content ? content.query : undefined
  if (typeof query !== 'string')
    throw invalidField('body.content', 'must hold the text of a query when the type is graphql')
  return content
}

/** A part is a value, or `{filename?, content, content_type?}`. */
function multipart(content: unknown): Encoded {
  const parts = members(content, 'multipart').map(([name, value]) => {
    const file = typeof value === 'object' && value !== null && 'content' in value ? value : null
    const field = (key: string) => (file !== null && key in file ? text((file as Record<string, unknown>)[key]) : '')
    const filename = field('filename') === '' ? '' : `; filename="${quoted(field('filename'))}"`
    const type =
      field('content_type') === '' ? '' : `\r\nContent-Type: ${field('content_type').replaceAll(/[\r\n]/g, '')}`
    const head = `Content-Disposition: form-data; name="${quoted(name)}"${filename}${type}`
    return `${head}\r\n\r\n${file === null ? text(value) : field('content')}\r\n`
  })
  // Made from the content, so that the same call is the same bytes; the content cannot hold its own hash.
  const boundary = `sluice-${createHash('sha256').update(parts.join('')).digest('hex').slice(0, 32)}`
  const bytes = Buffer.from(`${parts.map((part) => `--${boundary}\r\n${part}`).join('')}--${boundary}--\r\n`)
  return { bytes, contentType: `multipart/form-data; boundary=${boundary}` }
}

function quoted(name: string): string {
  return name.replaceAll('"', '%22').replaceAll('\r', '%0D').replaceAll('\n', '%0A')
}
