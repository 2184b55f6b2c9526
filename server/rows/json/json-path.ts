import { Failure, invalidField } from '../../failure.ts'
import { exceedsDepth } from '../../json-depth.ts'
import { withoutLastZeros } from './json-numbers.ts'

/** One step of a path: a key of an object or an index of a list. */
export type PathStep = string | number

/** A `responsePathExtractor` as written and as understood. As written, it may also be one top-level key. */
export type JsonPath = {
  text: string
  steps: PathStep[]
  /** Every member from here on, as often as the path says `*` or `{name}`. */
  each?: EachStep[]
}

/** All members of a list or object, the column that their keys become, and the way on inside each. */
export type EachStep = { key: string | null; steps: PathStep[] }

const stepPattern = /\.?([^.[\]"']+)|\[(\d+|\*)\]|\.?\[("(?:[^"\\]|\\.)*")\]|\.?\['([^']*)'\]/y

/**
 * `data.items`, `data.items[0].rows`, `$.data.items`, `["a.b"].c`. Empty and `$` mean the whole response; `$` reads it
 * once more where it is a string of JSON.
 */
export function parsePath(text: string, field = 'responsePathExtractor'): JsonPath {
  return {
    text: text.trim(),
    steps: readSteps(text, field).map((step) => (typeof step === 'object' ? step.bare : step)),
  }
}

/** An extractor, in which `*` is every member of a list or object, and `{name}` as well with its key as that column. */
export function parseExtractor(text: string): JsonPath {
  const path: JsonPath = { text: text.trim(), steps: [] }
  let steps = path.steps
  for (const step of readSteps(text, 'responsePathExtractor')) {
    if (typeof step !== 'object') steps.push(step)
    else {
      steps = []
      path.each = [...(path.each ?? []), { key: step.bare === '*' ? null : step.bare.slice(1, -1), steps }]
    }
  }
  return path
}

/** Steps as they are written; `bare` is one that means every member in an extractor, and a key elsewhere. */
function readSteps(text: string, field: string): Array<PathStep | { bare: string }> {
  const steps: Array<PathStep | { bare: string }> = []
  const body = text.trim().replace(/^\$(?=$|[.[])/, '')
  let at = 0
  while (at < body.length) {
    stepPattern.lastIndex = at
    const match = stepPattern.exec(body)
    if (match === null || (at === 0 && body.startsWith('.') && !text.trim().startsWith('$')))
      throw unreadable(text, at, field)
    const [whole, key, index, quoted, apostrophed] = match
    if (index === undefined) {
      const name = stepName(text, { key, quoted, apostrophed }, field)
      steps.push(key !== undefined && /^(\*|\{[^{}]{1,200}\})$/.test(key) ? { bare: name } : name)
    } else steps.push(index === '*' ? { bare: '*' } : Number(index))
    at += whole.length
  }
  return steps
}

type StepText = { key: string | undefined; quoted: string | undefined; apostrophed: string | undefined }

function stepName(text: string, { key, quoted, apostrophed }: StepText, field: string): string {
  if (key !== undefined) return key
  if (apostrophed !== undefined) return apostrophed
  try {
    return JSON.parse(quoted ?? '""') as string
  } catch {
    throw unreadable(text, text.indexOf(quoted ?? ''), field)
  }
}

function unreadable(text: string, at: number, field: string): Failure {
  const message = `is not a key path: it cannot be read from character ${at + 1} on; write it like data.items, data.items[0].rows or ["a.b"].c`
  return invalidField(field, `${JSON.stringify(text)} ${message}`, { message: `${field} ${message}.` })
}

/** The value where a path stops matching, for words that help to pick the right key. */
export type PathMiss = { steps: PathStep[]; matched: number; keys?: string[]; length?: number; kind: string }

/** How many keys a miss names; one more is kept to tell that there are more. */
export const keysNamed = 20

export function noMatch(text: string, miss: PathMiss): Failure {
  const place = miss.matched === 0 ? 'The response' : `"${formatSteps(miss.steps.slice(0, miss.matched))}"`
  const wanted = miss.steps[miss.matched]
  const named = miss.keys?.slice(0, keysNamed) ?? []
  const more = (miss.keys?.length ?? 0) > keysNamed ? ', …' : ''
  const there =
    miss.keys === undefined
      ? miss.length === undefined
        ? `is ${miss.kind}, not an object`
        : `is a list of ${miss.length}; an element of it is written ${formatSteps([...miss.steps.slice(0, miss.matched), 0])}`
      : named.length === 0
        ? 'is an object without keys'
        : `has the keys ${named.join(', ')}${more}`
  const wants = typeof wanted === 'number' ? `element ${wanted}` : `"${wanted ?? text}"`
  return new Failure('invalid_request', {
    reason: 'extractor_no_match',
    message: `responsePathExtractor "${text}" matches nothing: ${place} ${there}; there is no ${wants}.`,
    details: [{ field: 'responsePathExtractor', message: `${place} ${there}` }],
  })
}

function formatSteps(steps: PathStep[]): string {
  return steps
    .map((step, index) => {
      if (typeof step === 'number') return `[${step}]`
      if (/[.[\]"']/.test(step) || step === '') return `[${JSON.stringify(step)}]`
      return index === 0 ? step : `.${step}`
    })
    .join('')
}

/** The index a step means in a list: `[0]`, and `0` written as a key. */
export function stepIndex(step: PathStep | undefined): number | undefined {
  if (typeof step === 'number') return step
  return step !== undefined && /^\d{1,9}$/.test(step) ? Number(step) : undefined
}

/** Follows a path through a parsed value, through strings of JSON on the way too. */
export function valueAt(root: unknown, path: JsonPath): unknown {
  if (isKeyed(root) && Object.hasOwn(root, path.text)) return root[path.text]
  const found = follow(root, path.steps, unwrapText)
  if ('value' in found) return found.value
  throw noMatch(path.text, { steps: path.steps, matched: found.matched, ...describe(found.at) })
}

/** Where steps lead in a parsed value, or how many of them match and what stands there. */
export function follow(
  root: unknown,
  steps: PathStep[],
  unwrap: (value: unknown) => unknown = (value) => value,
): { value: unknown } | { matched: number; at: unknown } {
  let value = root
  for (const [matched, step] of steps.entries()) {
    value = unwrap(value)
    const index = stepIndex(step)
    if (Array.isArray(value) && index !== undefined && index < value.length) value = value[index]
    else if (isKeyed(value) && typeof step === 'string' && Object.hasOwn(value, step)) value = value[step]
    else return { matched, at: value }
  }
  return { value }
}

export function describe(value: unknown): Pick<PathMiss, 'keys' | 'length' | 'kind'> {
  if (Array.isArray(value)) return { length: value.length, kind: 'a list' }
  if (isKeyed(value)) return { keys: Object.keys(value), kind: 'an object' }
  return { kind: value === null ? 'null' : `a ${typeof value}` }
}

export function isKeyed(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** A string of JSON as what it says, anything else as it is. */
export function unwrapText(value: unknown): unknown {
  if (typeof value !== 'string') return value
  try {
    return parseExact(value)
  } catch {
    return value
  }
}

/** As deep as any answer may be: what walks a parsed value does so by recursion. */
const maxDepth = 64

/**
 * `JSON.parse` that loses no digit: an integer beyond 2^53 − 1 and a decimal of more than 15 digits become strings.
 */
export function parseExact(text: string): unknown {
  const plain = text.codePointAt(0) === 0xfe_ff ? text.slice(1) : text
  if (exceedsDepth(plain, maxDepth)) throw new SyntaxError(`JSON nested deeper than ${maxDepth} levels`)
  return JSON.parse(withLongNumbersQuoted(plain))
}

const longNumber = /\d[\d.]{15}|[eE][+-]?\d{3}/g
const numberToken = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.+-])(?!\s*:)/y

/** Numbers whose digits a double cannot hold, as strings. In one pass: a reviver takes ten times as long as the parse. */
function withLongNumbersQuoted(text: string): string {
  const pieces: string[] = []
  let copied = 0
  let quote = text.indexOf('"')
  longNumber.lastIndex = 0
  for (let match = longNumber.exec(text); match !== null; match = longNumber.exec(text)) {
    let afterText = 0
    while (quote !== -1 && quote < match.index) {
      afterText = endOfText(text, quote) + 1
      quote = text.indexOf('"', afterText)
    }
    if (afterText > match.index) {
      longNumber.lastIndex = afterText
      continue
    }
    let start = match.index
    while (start > copied && isOfNumber(text.charCodeAt(start - 1))) start -= 1
    numberToken.lastIndex = start
    // It is no JSON, as its parser will say.
    if (!numberToken.test(text)) return text
    const end = numberToken.lastIndex
    const source = text.slice(start, end)
    longNumber.lastIndex = end
    if (holdsAllDigits(source, Number(source))) continue
    pieces.push(text.slice(copied, start), source)
    copied = end
  }
  pieces.push(text.slice(copied))
  return pieces.join('"')
}

/** A digit, a sign, a point or an exponent's letter. */
function isOfNumber(code: number): boolean {
  return (code >= 0x30 && code <= 0x39) || (code >= 0x2b && code <= 0x2e && code !== 0x2c) || (code | 0x20) === 0x65
}

/** Where the quote stands that ends a text, or the end of what there is. */
export function endOfText(text: string, from: number): number {
  for (let at = text.indexOf('"', from + 1); at !== -1; at = text.indexOf('"', at + 1)) {
    let slashes = at
    while (text[slashes - 1] === '\\') slashes -= 1
    if ((at - slashes) % 2 === 0) return at
  }
  return text.length
}

function holdsAllDigits(source: string, value: number): boolean {
  if (source.length <= 15) return Number.isFinite(value)
  if (/^-?\d+$/.test(source)) return Number.isSafeInteger(value)
  const digits = source
    .replace(/[eE].*$/, '')
    .replaceAll(/[-.]/g, '')
    .replace(/^0+/, '')
  return Number.isFinite(value) && withoutLastZeros(digits).length <= 15
}
