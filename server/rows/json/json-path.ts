import { Failure } from '../../failure.ts'
import { exceedsDepth } from '../../json-depth.ts'

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
  return new Failure('invalid_request', {
    reason: 'invalid_field',
    message: `${field} ${message}.`,
    details: [{ field, message: `${JSON.stringify(text)} ${message}` }],
  })
}

/** What stands where a path stops matching, for words that help to pick the right key. */
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

/** What an extractor takes from a parsed value: a string found there is read as JSON where it is JSON. */
export function pick(root: unknown, path: JsonPath): unknown {
  if (path.text === '') return root
  const { each, ...start } = path
  if (each !== undefined) return pickEach(start.steps.length === 0 ? root : valueAt(root, start), path, each)
  return unwrapText(path.steps.length === 0 ? root : valueAt(root, path))
}

type Keys = Record<string, unknown>
type Member = { value: unknown; keys: Keys }

/** The rows under every member, found stage by stage as a load finds them. */
function pickEach(whole: unknown, path: JsonPath, each: EachStep[]): unknown[] {
  let members: Member[] = [{ value: whole, keys: {} }]
  for (const [index, step] of each.entries()) {
    members = stage(members, path, each[index - 1]?.steps ?? [], (found) => membersOf(found, path, step))
  }
  const rows = stage(members, path, each.at(-1)?.steps ?? [], ({ value, keys }) =>
    (Array.isArray(value) ? (value as unknown[]) : [value]).map((row) => ({ value: row, keys })),
  )
  return rows.map(({ value, keys }) => withKeys(value, keys))
}

/** A key that some members lack is nothing unusual; one that none has is a mistake. Null has no members and no rows. */
function stage(members: Member[], path: JsonPath, steps: PathStep[], read: (found: Member) => Member[]): Member[] {
  const missed: Failure[] = []
  let isFound = false
  const found = members.flatMap(({ value, keys }) => {
    if (steps.length > 0 && value === null) return []
    try {
      const inner = valueAt(value, { text: path.text, steps }, (text) => text)
      const rows = inner === null && steps.length > 0 ? [] : read({ value: inner, keys })
      isFound = true
      return rows
    } catch (error) {
      if (!(error instanceof Failure)) throw error
      missed.push(error)
      return []
    }
  })
  const [first] = missed
  if (!isFound && first !== undefined) throw first
  return found
}

function membersOf({ value, keys }: Member, path: JsonPath, { key }: EachStep): Member[] {
  if (value === null) return []
  if (typeof value !== 'object') throw noMatch(path.text, { steps: [], matched: 0, ...describe(value) })
  return Object.entries(value).map(([name, member]: [string, unknown]) => {
    const own = key === null ? {} : { [key]: Array.isArray(value) ? null : name }
    return { value: member, keys: { ...keys, ...own } }
  })
}

function withKeys(row: unknown, keys: Keys): unknown {
  if (Object.keys(keys).length === 0) return row
  return isObject(row) ? { ...keys, ...row } : { ...keys, value: row }
}

/** Follows a path through a parsed value, through strings of JSON on the way too. */
export function valueAt(root: unknown, path: JsonPath, unwrap = unwrapText): unknown {
  if (isObject(root) && Object.hasOwn(root, path.text)) return root[path.text]
  let value = root
  for (const [matched, step] of path.steps.entries()) {
    value = unwrap(value)
    const index = stepIndex(step)
    if (Array.isArray(value) && index !== undefined && index < value.length) value = value[index]
    else if (isObject(value) && typeof step === 'string' && Object.hasOwn(value, step)) value = value[step]
    else throw noMatch(path.text, { steps: path.steps, matched, ...describe(value) })
  }
  return value
}

function describe(value: unknown): Pick<PathMiss, 'keys' | 'length' | 'kind'> {
  if (Array.isArray(value)) return { length: value.length, kind: 'a list' }
  if (isObject(value)) return { keys: Object.keys(value), kind: 'an object' }
  return { kind: value === null ? 'null' : `a ${typeof value}` }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function unwrapText(value: unknown): unknown {
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
  // The reviver costs several times the parse, so it runs only where a long number can be.
  if (!/\d[\d.]{15}|[eE][+-]?\d{3}/.test(plain)) return JSON.parse(plain)
  return JSON.parse(plain, function exact(_key, value: unknown, context?: { source?: string }) {
    if (typeof value !== 'number' || context?.source === undefined) return value
    return holdsAllDigits(context.source, value) ? value : context.source
  })
}

function holdsAllDigits(source: string, value: number): boolean {
  if (source.length <= 15) return Number.isFinite(value)
  if (/^-?\d+$/.test(source)) return Number.isSafeInteger(value)
  const digits = source
    .replace(/[eE].*$/, '')
    .replaceAll(/[-.]/g, '')
    .replace(/^0+/, '')
  return Number.isFinite(value) && digits.replace(/0+$/, '').length <= 15
}
