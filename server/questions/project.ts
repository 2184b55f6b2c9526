import { RE2JS } from 're2js'
import { stem, words } from './reading/text.ts'
import { unitOfSlot, type Unit } from './reading/units.ts'

/** What the router knows of a project: plain values, so that an index can be built from a snapshot, a test or a file. */
export type RoutableProject = {
  queries: RoutableQuery[]
  /** Distinct values by `table.column`. A pair gives what people say and what the column holds. */
  values: Record<string, ListedValue[]>
}

export type RoutableQuery = {
  name: string
  description: string
  examples: Example[]
  slots: SlotSchema
}

type Example = { question: string; parameters: Record<string, unknown> }
export type ListedValue = string | number | { label: string; value: string | number }

type SlotSchema = { properties?: Record<string, SlotProperty>; required?: string[] }

export type SlotProperty = {
  type?: string | string[]
  format?: string
  title?: string
  description?: string
  enum?: unknown[]
  default?: unknown
  minimum?: number
  maximum?: number
  pattern?: string
  items?: SlotProperty
  'x-values-from'?: string
  /** What people say for a value of the enum: `{ "CA": ["california"] }`. */
  'x-synonyms'?: Record<string, string[]>
}

/** What kind of thing fills a slot. Spans and slots meet through it. */
export type SlotKind = 'values' | 'number' | 'date' | 'time' | 'boolean' | 'text'

/** The type of one or more slots: slots over the same column share it, and so their words and their mask. */
export type SlotType = {
  key: string
  kind: SlotKind
  /** The words that stand for a value in a masked text: `<customer name>`. */
  label: string
  /** Its words, as texts are compared. */
  labelStems: Set<string>
  /** Shape of a matching identifier, where the schema gives one. */
  pattern: { test(text: string): boolean } | null
  /** A day that has an hour, too. */
  isInstant: boolean
}

export type Slot = {
  name: string
  type: SlotType
  property: SlotProperty
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
  return Object.entries(query.slots.properties ?? {}).map(([name, given]) => {
    const list = given.type === 'array' && given.items !== undefined
    const property = list ? { ...given, ...given.items } : given
    const needed = required.has(name) && given.default === undefined
    const said = query.examples.flatMap(({ parameters }) => parameters[name] ?? [])
    const type = typeOf(name, property, said)
    const role = roleOf(name)
    const cues = cueWords(name, type, role)
    const others = role === null ? [] : roleWords[role === 'start' ? 'end' : 'start']
    const otherEnd = new Set(others.filter((word) => !cues.has(word)))
    const unit = type.kind === 'number' ? unitOfSlot(`${spoken(name)} ${type.label}`, property.description ?? '') : null
    return { name, type, property: given, required: needed, list, role, cues, otherEnd, unit }
  })
}

function typeOf(name: string, property: SlotProperty, said: unknown[]): SlotType {
  const from = property['x-values-from']
  const label = spoken(property.title ?? (from === undefined ? name.replace(/_?\d+$/, '') : columnLabel(from)))
  const declared = kindOf(property)
  // A text that is a number in every example (a year, a room) is looked for as a number.
  const numeric = said.length > 0 && said.every((value) => /^\d+(?:\.\d+)?$/.test(String(value)))
  const kind = declared === 'text' && numeric ? 'number' : declared
  const pattern = property.pattern === undefined ? null : compile(property.pattern)
  const labelStems = new Set(words(label).map((word) => word.stem))
  const isInstant = kind === 'date' && property.format === 'date-time'
  const common = { label, labelStems, pattern, isInstant }
  if (from !== undefined) return { key: `values:${from}`, kind: 'values', ...common }
  if (kind === 'values') return { key: `enum:${label}:${JSON.stringify(property.enum)}`, kind, ...common }
  return { key: `${isInstant ? 'date-time' : kind}:${label}`, kind, ...common }
}

const namelessColumns = new Set(['name', 'code', 'id', 'title', 'value', 'label', 'key', 'slug', 'number'])

/** `orders.status` is a status; `customers.name` is a customer name. */
function columnLabel(from: string): string {
  const [column = '', table] = from.split('.').toReversed()
  if (table === undefined || !namelessColumns.has(column)) return column
  return `${spoken(table).split(' ').map(stem).join(' ')} ${column}`
}

function kindOf(property: SlotProperty): SlotKind {
  if (property.enum !== undefined && property.enum.length > 0) return 'values'
  const type = Array.isArray(property.type) ? property.type.find((name) => name !== 'null') : property.type
  if (type === 'integer' || type === 'number') return 'number'
  if (type === 'boolean') return 'boolean'
  if (property.format === 'date' || property.format === 'date-time') return 'date'
  return property.format === 'time' ? 'time' : 'text'
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
function compile(pattern: string): SlotType['pattern'] {
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

function cueWords(name: string, { label }: SlotType, role: Role | null): Set<string> {
  const said = [...spoken(name).split(' '), ...label.split(' '), ...(role === null ? [] : roleWords[role])]
  return new Set(said.flatMap((word) => (/^\d+$/.test(word) ? [] : [word, stem(word.replace(/\d+$/, ''))])))
}
