import { parse } from 'yaml'
import { exceedsDepth } from '../../json-depth.ts'
import { parseExact } from '../../rows/index.ts'
import { isRecord, notImportable, refusal, type Fields } from './imported.ts'

const maxDepth = 64
/** A document repeats itself by references of its own format; YAML's aliases are for bombs. */
const maxAliases = 100

/** A document from its text: JSON, or YAML, which OpenAPI documents are often written in. */
export function readDocument(source: string): Fields {
  const plain = source.replace(/^\uFEFF/, '').trimStart()
  if (/^[{[]/.test(plain)) {
    if (exceedsDepth(plain, maxDepth)) throw refusal(`The document nests deeper than ${maxDepth} levels`)
    return object(() => parseExact(plain))
  }
  // Looking for keys that come twice takes the square of their number.
  return object(
    () => parse(plain, { maxAliasCount: maxAliases, logLevel: 'silent', schema: 'core', uniqueKeys: false }) as unknown,
  )
}

function object(read: () => unknown): Fields {
  let found: unknown
  try {
    found = read()
  } catch {
    throw refusal('The document is neither JSON nor YAML that can be read')
  }
  if (!isRecord(found)) throw refusal(notImportable)
  return found
}

const maxSteps = 50

/** Resolves a `$ref` within the document; one that leads elsewhere, or in a circle, leads to nothing. */
export function resolve(document: Fields, value: unknown): unknown {
  let found = value
  for (let steps = 0; isRecord(found) && typeof found['$ref'] === 'string'; steps += 1) {
    const pointer = found['$ref']
    if (!pointer.startsWith('#/') || steps > maxSteps) return undefined
    found = pointer
      .slice(2)
      .split('/')
      .map((part) => decoded(part).replaceAll('~1', '/').replaceAll('~0', '~'))
      .reduce<unknown>((at, key) => (isRecord(at) && Object.hasOwn(at, key) ? at[key] : undefined), document)
  }
  return found
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}
