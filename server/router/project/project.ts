import { RE2JS } from 're2js'
import type { SlotSchema, SlotsSchema } from '../../../api/slots.ts'
import {
  isFunctionWord,
  rootOf,
  stem,
  unitBeside,
  unitNamed,
  words,
  type Unit,
  type ValueKind,
  type ValueType,
} from '../../language/index.ts'

/** A project as the router sees it: plain values, so that an index can be built from a snapshot, a test or a file. */
export type RoutableProject = {
  queries: RoutableQuery[]
  /** Distinct values by `table.column`. A pair gives what people say and what the column holds. */
  values: Record<string, ListedValue[]>
  /** Answers that are right less surely than this share are not given; the share of most projects without it. */
  leastConfidence?: number
  /** Reports by people about wrong answers. */
  counterExamples?: CounterExample[]
  /** Evaluation cases: what a question must be routed to; null where it must be refused. */
  cases?: Array<{ question: string; query: string | null }>
}

/** A question that a query must not answer, or that another one must. */
export type CounterExample = { question: string; notQuery: string | null; meantQuery: string | null }

export type RoutableQuery = {
  name: string
  description: string
  examples: Example[]
  slots: Pick<SlotsSchema, 'properties'> & Partial<Pick<SlotsSchema, 'required'>>
  /** How slots that hold days bound its rows, where that is known. */
  bounds?: Record<string, SlotBound>
}

/** How a slot that holds a day bounds the rows, as the SQL or the slot itself says it. */
type SlotBound = {
  side: Role | null
  bound: 'inclusive' | 'exclusive'
  /** Days that the SQL adds to the slot's moment. */
  shiftDays: number
  /** Only the day of a moment counts, as it is in UTC. */
  isUtcDay: boolean
  /** The part lost of any period that is bound to it; null where nothing is. */
  loses: string | null
}

type Example = { question: string; parameters: Record<string, unknown> }
export type ListedValue = string | number | { label: string; value: string | number }

/** Rules of a slot's schema for a value; for a list, for each of its values. */
export type ValueRules = {
  type: 'string' | 'integer' | 'number' | 'boolean'
  /** `month`: a text that its pattern makes a month as `2026-11`. */
  format: 'date' | 'date-time' | 'time' | 'month' | null
  title: string | null
  description: string
  choices: readonly unknown[]
  minimum: number | null
  maximum: number | null
  pattern: string | null
  /** The column whose values it takes: `table.column`. */
  valuesFrom: string | null
  /** Other words for a value: `{ "CA": ["california"] }`. */
  synonyms: Record<string, string[]>
}

export type Slot = {
  name: string
  type: ValueType
  rules: ValueRules
  required: boolean
  list: boolean
  /** Which end of a range or a journey its name speaks of. */
  role: Role | null
  /** Words that speak for it when they stand beside a value. */
  cues: Set<string>
  /** Words that speak for the other end: right before a value they say that it is not this slot's. */
  otherEnd: Set<string>
  /** The unit of its number, where its name or description says so. */
  unit: Unit | null
  /** Null where nobody says it: its own day then belongs to the range. */
  bound: SlotBound | null
}

type Role = 'start' | 'end'

const known = new WeakMap<RoutableQuery, Slot[]>()

/** The slots of a query in the order of its schema. Many ask for them while an index is built; they are read once. */
export function slotsOf(query: RoutableQuery): Slot[] {
  const slots = known.get(query) ?? readSlots(query)
  known.set(query, slots)
  return slots
}

function readSlots(query: RoutableQuery): Slot[] {
  const required = new Set(query.slots.required ?? [])
  return Object.entries(query.slots.properties).map(([name, schema]) => {
    const rules = rulesOf(name, schema)
    const needed = required.has(name) && (schema.default ?? null) === null
    const said = query.examples.flatMap(({ parameters }) => parameters[name] ?? [])
    const type = typeOf(name, rules, said)
    const bound = query.bounds?.[name] ?? saidBound(schema)
    const role = rangeEndOf(name) ?? bound?.side ?? null
    const cues = cueWords(name, type, role)
    if (type.kind === 'boolean')
      for (const sign of [...signsOf(query, name, rules), ...rootsOf(query, name)]) cues.add(sign)
    const others = role === null ? [] : roleWords[role === 'start' ? 'end' : 'start']
    const otherEnd = new Set(others.filter((word) => !cues.has(word)))
    const unit =
      type.kind === 'number' ? unitOf(query, name, { label: type.label, description: rules.description }) : null
    return {
      name,
      type,
      rules,
      required: needed,
      list: schema.type === 'array',
      role,
      cues,
      otherEnd,
      unit,
      bound: bound?.side === otherRole(role) ? null : bound,
    }
  })
}

/** The slot's own words, where no SQL is read. */
function saidBound(schema: SlotSchema): SlotBound | null {
  const bound = schema.type === 'string' ? schema['x-bound'] : undefined
  return bound === undefined ? null : { side: null, bound, shiftDays: 0, isUtcDay: false, loses: null }
}

function otherRole(role: Role | null): Role | undefined {
  return role === null ? undefined : role === 'start' ? 'end' : 'start'
}

// Other words of such a description: "true = only those that …, otherwise all".
const generic =
  /^(?:true|false|yes|no|only|also|all|any|show|list|include|includ|count|exclude|exclud|set|choose|see|want|whether|flag|please|default|just|keep|return|well|too|one|those|these|price|item|row|result|order|day|month|year|time|number|with)/u
const otherCase =
  /[;,:.(]?\s*\b(?:or [^;,]*\(false\)|(?:otherwise|else|false|by default|default|if (?:not|left))\b).*$/isu

const takingAway = /\b(?:leav(?:e|es|ing)|without|exclud(?:e|es|ing)|hid(?:e|es|ing)|skip(?:s|ping)?|except)\b/iu

/** Words by which the description of a yes or no names what "yes" picks, and which its query says nowhere else. */
function signsOf({ name, description, slots }: RoutableQuery, slot: string, rules: ValueRules): string[] {
  // Words that "yes" takes away stand where it stays, too: neither sets it.
  if (takingAway.test(rules.description)) return []
  const others = Object.entries(slots.properties).flatMap(([other, schema]) =>
    other === slot ? [] : [spoken(other), schema.description ?? ''],
  )
  const texts = [spoken(name), description, ...others].join(' ; ')
  const said = new Set([...words(texts).map(({ stem }) => stem), ...compoundsIn(texts)])
  const own = rules.description.replace(otherCase, '')
  const signs = words(own.replaceAll(compound, ' ')).flatMap(({ text, stem }) =>
    text.length < 3 || isFunctionWord(text) || /\d/u.test(text) || generic.test(text) ? [] : [stem],
  )
  return [...signs, ...compoundsIn(own)].filter((sign) => !said.has(sign))
}

/** Mark of a root among the words that set a yes or no; and of one that sets it where it is denied. */
export const rootMark = '~'
export const deniedMark = '!'

/** Roots of a name: "gave consent" and "can skip" set `consented` and `skippable`, "not planned" sets `unplanned`. */
function rootsOf({ name, slots }: RoutableQuery, slot: string): string[] {
  const others = Object.keys(slots.properties).flatMap((other) => (other === slot ? [] : spoken(other)))
  const said = new Set(words([spoken(name), ...others].join(' ; ')).map(({ text }) => rootOf(text)))
  const parts = spoken(slot).split(' ')
  return [...parts, parts.join('')].flatMap((part) => {
    if (part.length < minNamed || generic.test(part) || isFunctionWord(part)) return []
    const marked = part.startsWith('un') ? [`${deniedMark}${rootOf(part.slice(2))}`] : []
    return said.has(rootOf(part)) ? [] : [`${rootMark}${rootOf(part)}`, ...marked]
  })
}

/** Shorter words share their beginning with too many. */
const minNamed = 5

const compound = /(?<![\p{L}-])(\p{L}+)-(\p{L}+)(?![\p{L}-])/gu

/** "e-bikes", of which neither half says what both do. */
function compoundsIn(text: string): string[] {
  return Array.from(text.matchAll(compound), ([said]) => {
    return words(said)
      .map(({ stem }) => stem)
      .join('-')
  })
}

/** The unit of a slot, by its own texts, or by the word that stands behind its value in every example. */
function unitOf(
  { examples }: RoutableQuery,
  name: string,
  { label, description }: { label: string; description: string },
): Unit | null {
  const named = unitNamed(`${spoken(name)} ${label}`, description)
  if (named !== null) return named
  const counted = examples.flatMap(({ question, parameters }) => {
    const value = parameters[name]
    return typeof value === 'number' ? [unitBeside(question, value)] : []
  })
  const [first = null] = counted
  return counted.every((unit) => unit === first) ? first : null
}

type ValueSchema = Exclude<SlotSchema, { type: 'array' }> | Extract<SlotSchema, { type: 'array' }>['items']

function rulesOf(name: string, schema: SlotSchema): ValueRules {
  const value: ValueSchema = schema.type === 'array' ? schema.items : schema
  const pattern = ('pattern' in value ? value.pattern : undefined) ?? null
  const format = ('format' in value ? value.format : undefined) ?? null
  const isMonth =
    pattern !== null &&
    format === null &&
    takesMonth(pattern, `${name} ${value.description ?? schema.description ?? ''}`)
  // Integers beyond 2^53 are near enough as numbers to read a question.
  const bound = (limit: unknown): number | null => (limit === undefined ? null : Number(limit))
  return {
    type: value.type,
    format: isMonth ? 'month' : format,
    title: value.title ?? schema.title ?? null,
    description: value.description ?? schema.description ?? '',
    choices: ('enum' in value ? value.enum : undefined) ?? [],
    minimum: bound('minimum' in value ? value.minimum : undefined),
    maximum: bound('maximum' in value ? value.maximum : undefined),
    pattern,
    valuesFrom: value['x-values-from'] ?? schema['x-values-from'] ?? null,
    synonyms: ('x-synonyms' in value ? value['x-synonyms'] : undefined) ?? {},
  }
}

function typeOf(name: string, rules: ValueRules, said: unknown[]): ValueType {
  const { valuesFrom: from, choices } = rules
  const label = spoken(rules.title ?? (from === null ? name.replace(/_?\d+$/, '') : columnLabel(from)))
  const declared = kindOf(rules)
  // A text that is a number in every example (a year, a room) is looked for as a number.
  const numeric = said.length > 0 && said.every((value) => /^\d+(?:\.\d+)?$/.test(String(value)))
  const kind = declared === 'text' && numeric ? 'number' : declared
  const pattern = rules.pattern === null ? null : compile(rules.pattern)
  const labelStems = new Set(words(label).map((word) => word.stem))
  const isInstant = kind === 'date' && rules.format === 'date-time'
  const isMonth = rules.format === 'month'
  const common = { label, labelStems, pattern, isInstant, isMonth }
  if (from !== null) return { key: `values:${from}`, kind: 'values', ...common }
  if (kind === 'values') return { key: `enum:${label}:${JSON.stringify(choices)}`, kind, ...common }
  return { key: `${isInstant ? 'date-time' : isMonth ? 'month' : kind}:${label}`, kind, ...common }
}

const monthWords = /month|period|yyyy-?mm/iu

/** Whether a pattern takes months as `2026-11`, and its own months or the slot's words say that it means them. */
function takesMonth(pattern: string, said: string): boolean {
  const form = compile(pattern)
  if (form === null || !form.test('2026-11') || form.test('2026-11-01') || form.test('26-11')) return false
  return !form.test('2026-13') || monthWords.test(said)
}

const namelessColumns = new Set(['name', 'code', 'id', 'title', 'value', 'label', 'key', 'slug', 'number'])

/** `orders.status` is a status; `customers.name` is a customer name. */
function columnLabel(from: string): string {
  const [column = '', table] = from.split('.').toReversed()
  if (table === undefined || !namelessColumns.has(column)) return column
  return `${spoken(table).split(' ').map(stem).join(' ')} ${column}`
}

function kindOf({ type, format, choices }: ValueRules): ValueKind {
  if (choices.length > 0) return 'values'
  if (type === 'integer' || type === 'number') return 'number'
  if (type === 'boolean') return 'boolean'
  if (format === 'date' || format === 'date-time' || format === 'month') return 'date'
  return format === 'time' ? 'time' : 'text'
}

/** `customer_name` and `customerName` as people write it. */
export function spoken(name: string): string {
  return name
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replaceAll(/[_\-.]+/g, ' ')
    .trim()
    .toLowerCase()
}

/** In time linear to the text (RE2), as calls are checked: a question must not stall the process with an author's pattern. */
function compile(pattern: string): ValueType['pattern'] {
  try {
    return RE2JS.compile(pattern)
  } catch {
    return null
  }
}

const roleWords: Record<Role, string[]> = {
  start: [
    'from',
    'start',
    'since',
    'after',
    'begin',
    'beginning',
    'starting',
    'first',
    'min',
    'minimum',
    'least',
    'between',
    'above',
    'over',
    'more',
    'greater',
    'lower',
    'departure',
    'source',
    'origin',
  ],
  end: [
    'to',
    'end',
    'finish',
    'until',
    'till',
    'before',
    'ending',
    'last',
    'max',
    'maximum',
    'most',
    'below',
    'under',
    'less',
    'fewer',
    'upper',
    'through',
    'by',
    'destination',
    'arrival',
    'target',
    'and',
  ],
}

/** Which end of a range a name speaks of: `since` of its start. */
export function rangeEndOf(name: string): Role | null {
  const parts = spoken(name).split(' ')
  // `not_before` is where something begins.
  const denied = parts[parts.indexOf('not') + 1]
  if (parts.includes('not') && (denied === 'before' || denied === 'after')) return denied === 'before' ? 'start' : 'end'
  if (parts.some((part) => roleWords.start.includes(part))) return 'start'
  return parts.some((part) => part !== 'and' && part !== 'by' && roleWords.end.includes(part)) ? 'end' : null
}

function cueWords(name: string, { label }: ValueType, role: Role | null): Set<string> {
  const said = [...spoken(name).split(' '), ...label.split(' '), ...(role === null ? [] : roleWords[role])]
  return new Set(said.flatMap((word) => (/^\d+$/.test(word) ? [] : [word, stem(word.replace(/\d+$/, ''))])))
}
