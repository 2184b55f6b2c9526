import { isSecretName } from '../../../api/secret-names.ts'

/** A secret inside a text: which one it is, and where it stands. Spans come in order and do not overlap. */
export type SecretSpan = { name: string; start: number; end: number }

type IsSecret = (name: string) => boolean

/** The secrets of an address: user information, and values by name in its path (`;name=`), query and fragment. */
export function urlSpans(url: string): SecretSpan[] {
  const [, scheme = '', user] = /^([a-z][a-z0-9+.-]*:[/\\]*)(?:([^/\\?#]*)@)?/i.exec(url) ?? []
  const pathEnd = url.search(/[?#]|$/)
  let end = scheme.length + (user?.length ?? 0)
  const found = user === undefined || user === '' ? [] : [{ name: '@', start: scheme.length, end }]
  for (const part of url.matchAll(/[;?&#]([^=;?&#]*)=/g)) {
    const [whole, name = ''] = part
    const start = part.index + whole.length
    if (part.index < end || !isSecretName(decoded(name))) continue
    // A value behind `;` in the path ends where the path goes on; in a query everything up to `&` is the value.
    end = start + url.slice(start).search(start < pathEnd ? /[;&/?#]|$/ : /[&#]|$/)
    if (end > start) found.push({ name: decoded(name), start, end })
  }
  return found
}

/** The secrets of `name=value&name=value`. */
export function formSpans(text: string, isSecret: IsSecret): SecretSpan[] {
  return [...text.matchAll(/(?:^|&)([^=&]*)=([^&]+)/g)].flatMap((part) => {
    const [whole, name = '', value = ''] = part
    const end = part.index + whole.length
    return isSecret(decoded(name)) ? [{ name: decoded(name), start: end - value.length, end }] : []
  })
}

/** The texts that a GraphQL document gives to arguments and fields with a secret name. */
export function graphqlSpans(text: string): SecretSpan[] {
  // Comments and texts without a name are read too, so that nothing inside them is taken for a name. A text without an
  // end reaches as far as it can: to look for another end from each of its quotes would take its length squared.
  const value = String.raw`"""(?:\\"""|[\s\S])*?(?:"""|$)|"[^"\\\n]*(?:\\.[^"\\\n]*)*"?`
  const tokens = new RegExp(String.raw`#[^\n]*|([A-Za-z_]\w*)(?:\s*:\s*(${value}))?|${value}`, 'g')
  return [...text.matchAll(tokens)].flatMap((part) => {
    const [whole, name = '', given = ''] = part
    const end = part.index + whole.length
    const isText = given.length > 1 && given.endsWith('"')
    return isText && isSecretName(name) ? [{ name, start: end - given.length, end }] : []
  })
}

type Container = { isList: boolean; count: number; path: string }

/** Where secret values stand in a text that is known to be JSON: at these JSON Pointers, and by name wherever it is. */
export function jsonSpans(text: string, isSecret: (pointer: string) => boolean): SecretSpan[] {
  const found: SecretSpan[] = []
  const open: Container[] = []
  let path = ''
  let name = ''
  /** Where the secret value that is being read starts, and how many containers were open around it. */
  let secret: { start: number; depth: number } | null = null
  const ended = (end: number) => {
    if (secret === null || open.length !== secret.depth) return
    found.push({ name: path, start: secret.start, end })
    secret = null
  }
  for (const token of text.matchAll(/"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\],:]|[^\s{}[\],:"]+/g)) {
    const [piece] = token
    const inside = open.at(-1)
    if (piece === ',' || piece === ':') {
      if (piece === ',' && inside?.isList === true) inside.count += 1
      continue
    }
    if (piece === '}' || piece === ']') {
      const closed = open.pop()
      if (secret === null || open.length <= secret.depth) path = closed?.path ?? ''
      ended(token.index + 1)
      continue
    }
    const isKey = inside?.isList === false && (inside.count += 1) % 2 === 1
    if (isKey) {
      name = JSON.parse(piece) as string
      if (secret === null) path = `${inside.path}/${pointerPart(name)}`
      continue
    }
    if (secret === null && inside?.isList === true) path = `${inside.path}/${inside.count}`
    // A name that comes twice is in the parsed value once, the last; `key` may be the name of what stands beside it.
    const isNamed = inside?.isList === false && name !== 'key' && isSecretName(name)
    if (secret === null && (isNamed || isSecret(path))) secret = { start: token.index, depth: open.length }
    if (piece === '{' || piece === '[') open.push({ isList: piece === '[', count: 0, path })
    else ended(token.index + piece.length)
  }
  return found
}

/** One step of a JSON Pointer (RFC 6901). */
export function pointerPart(name: string | number): string {
  return String(name).replaceAll('~', '~0').replaceAll('/', '~1')
}

/** A name or value of a query or form as it was meant. */
export function decoded(text: string): string {
  const spaced = text.replaceAll('+', ' ')
  try {
    return decodeURIComponent(spaced)
  } catch {
    return spaced
  }
}
