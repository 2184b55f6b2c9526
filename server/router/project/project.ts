import { RE2JS } from 're2js'
import type { SlotSchema, SlotsSchema } from '../../../api/slots.ts'
import { stem, unitBeside, unitNamed, words, type Unit, type ValueKind, type ValueType } from '../../language/index.ts'

/** What the router knows of a project: plain values, so that an index can be built from a snapshot, a test or a file. */
export type RoutableProject = {
  queries: RoutableQuery[]
  /** Distinct values by `table.column`. A pair gives what people say and what the column holds. */
  values: Record<string, ListedValue[]>
  /** Answers that are right less surely than this share are not given; without it all are that the router finds. */
  leastConfidence?: number
  /** What people have said of wrong answers. */
  counterExamples?: CounterExample[]
}

/** A question that a query must not answer, or that another one must. */
export type CounterExample = { question: string; notQuery: string | null; meantQuery: string | null }

export type RoutableQuery = {
  name: string
  description: string
  examples: Example[]
  slots: Pick<SlotsSchema, 'properties'> & Partial<Pick<SlotsSchema, 'required'>>
}

type Example = { question: string; parameters: Record<string, unknown> }
export type ListedValue = string | number | { label: string; value: string | number }

/** What a slot's schema says of a value of it; of a list, of each of its values. */
export type ValueRules = {
  type: 'string' | 'integer' | 'number' | 'boolean'
  format: 'date' | 'date-time' | 'time' | null
  title: string | null
  description: string
  choices: readonly unknown[]
  minimum: number | null
  maximum: number | null
  pattern: string | null
  /** The column whose values it takes: `table.column`. */
  valuesFrom: string | null
  /** What people say for a value: `{ "CA": ["california"] }`. */
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
  /** What its number counts, where its name or description says so. */
  unit: Unit | null
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
    const rules = rulesOf(schema)
    const needed = required.has(name) && (schema.default ?? null) === null
    const said = query.examples.flatMap(({ parameters }) => parameters[name] ?? [])
    const type = typeOf(name, rules, said)
    const role = roleOf(name)
    const cues = cueWords(name, type, role)
    const others = role === null ? [] : roleWords[role === 'start' ? 'end' : 'start']
    const otherEnd = new Set(others.filter((word) => !cues.has(word)))
    const unit =
      type.kind === 'number' ? unitOf(query, name, { label: type.label, description: rules.description }) : null
    return { name, type, rules, required: needed, list: schema.type === 'array', role, cues, otherEnd, unit }
  })
}

/** What a slot counts, by its own texts, or by the word that stands behind its value in every example. */
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

function rulesOf(schema: SlotSchema): ValueRules {
  const value: ValueSchema = schema.type === 'array' ? schema.items : schema
  // Integers beyond 2^53 are near enough as numbers to read a question.
  const bound = (limit: unknown): number | null => (limit === undefined ? null : Number(limit))
  return {
    type: value.type,
    format: ('format' in value ? value.format : undefined) ?? null,
    title: value.title ?? schema.title ?? null,
    description: value.description ?? schema.description ?? '',
    choices: ('enum' in value ? value.enum : undefined) ?? [],
    minimum: bound('minimum' in value ? value.minimum : undefined),
    maximum: bound('maximum' in value ? value.maximum : undefined),
    pattern: ('pattern' in value ? value.pattern : undefined) ?? null,
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
  const common = { label, labelStems, pattern, isInstant }
  if (from !== null) return { key: `values:${from}`, kind: 'values', ...common }
  if (kind === 'values') return { key: `enum:${label}:${JSON.stringify(choices)}`, kind, ...common }
  return { key: `${isInstant ? 'date-time' : kind}:${label}`, kind, ...common }
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
  if (format === 'date' || format === 'date-time') return 'date'
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

function roleOf(name: string): Role | null {
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
