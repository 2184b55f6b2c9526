import type { ScalarSlotSchema, SlotSchema } from '../../../api/slots.ts'
import { schemaOfColumn, type JsonSchema } from '../slots/column-schema.ts'
import { saidBound, type SlotBound } from '../slots/bounds.ts'
import type { LiveVersion } from './deployment-index.ts'
import { listedSlots } from './listed-values.ts'

/** The contract of a deployed query, in words that every face of it uses: tools, OpenAPI, snippets, typed clients. */
export type QueryContract = {
  name: string
  title: string
  description: string
  version: number
  /** A JSON Schema object with a property for each slot. */
  input: JsonSchema & { properties: Record<string, JsonSchema>; required: string[] }
  /** A JSON Schema object: one row of the result. */
  output: JsonSchema & { properties: Record<string, JsonSchema>; required: string[] }
  /** Slots that take their values from columns, named `table.column`. */
  listed: ReadonlyArray<{ name: string; column: string }>
  /** Questions that it answers, with the parameters that answer them. */
  examples: ReadonlyArray<{ question: string; parameters: Readonly<Record<string, unknown>> }>
}

type Deployed = { name: string; version: LiveVersion }

/** A version never changes, so its contract is written once. */
const contracts = new WeakMap<LiveVersion, Map<string, QueryContract>>()

export function contractOf({ name, version }: Deployed): QueryContract {
  let known = contracts.get(version)
  if (known === undefined) contracts.set(version, (known = new Map()))
  let contract = known.get(name)
  if (contract === undefined) known.set(name, (contract = writeContract({ name, version })))
  return contract
}

function writeContract({ name, version }: Deployed): QueryContract {
  const { list } = version.compiled()
  const { properties: slots } = version.slots
  return {
    name,
    title: titleOf(name),
    description: version.description,
    version: version.number,
    input: {
      type: 'object',
      properties: Object.fromEntries(Object.entries(slots).map(([slot, schema]) => [slot, inputSchema(schema)])),
      required: list.filter((slot) => slot.required).map((slot) => slot.name),
      additionalProperties: false,
    },
    output: {
      type: 'object',
      properties: Object.fromEntries(version.columns.map((column) => [column.name, schemaOfColumn(column)])),
      required: version.columns.map((column) => column.name),
    },
    listed: listedSlots(version.slots),
    examples: version.examples.map(({ question, parameters }) => ({ question, parameters })),
  }
}

/** The same for a caller whose key fixes some of the slots: they are not to be sent. */
export function withoutSlots(contract: QueryContract, fixed: ReadonlySet<string>): QueryContract {
  const { input, examples } = contract
  if (!Object.keys(input.properties).some((name) => fixed.has(name))) return contract
  const others = (values: Readonly<Record<string, unknown>>) =>
    Object.fromEntries(Object.entries(values).filter(([name]) => !fixed.has(name)))
  return {
    ...contract,
    input: {
      ...input,
      properties: others(input.properties) as QueryContract['input']['properties'],
      required: input.required.filter((name) => !fixed.has(name)),
    },
    examples: examples.map(({ question, parameters }) => ({ question, parameters: others(parameters) })),
  }
}

/** The same with what each slot of a range makes of its own day: a caller, or a model, has no SQL to read it in. */
export function withBounds(contract: QueryContract, bounds: readonly SlotBound[]): QueryContract {
  const bounded = bounds.filter(({ side, slot }) => side !== null && slot in contract.input.properties)
  if (bounded.length === 0) return contract
  const properties = { ...contract.input.properties }
  for (const bound of bounded) {
    const { description, ...schema } = properties[bound.slot] ?? {}
    const described = typeof description === 'string' && description !== '' ? [description] : []
    properties[bound.slot] = { ...schema, description: [...described, boundHint(bound)].join(' ') }
  }
  return { ...contract, input: { ...contract.input, properties } }
}

function boundHint(bound: SlotBound): string {
  const end = bound.side === 'start' ? 'Start' : 'End'
  const own = bound.side === 'start' ? 'first' : 'last'
  if (saidBound(bound) === 'inclusive') return `${end} of a range, inclusive: its ${own} day.`
  return `${end} of a range, exclusive: the day ${bound.side === 'start' ? 'before its first' : 'after its last'}.`
}

/** `orders_by_region` is read as “Orders by region”. */
function titleOf(name: string): string {
  const words = name.replaceAll(/_+/g, ' ').trim()
  return words.charAt(0).toUpperCase() + words.slice(1)
}

/** A slot as others read it: without the words that only this service knows, and with nothing that a validator trips over. */
function inputSchema(slot: SlotSchema): JsonSchema {
  const { title, description } = slot
  const fallback = slot.default ?? undefined
  const about = {
    ...(title !== undefined && { title }),
    ...(description !== undefined && { description }),
    ...(fallback !== undefined && { default: fallback }),
  }
  if (slot.type !== 'array') return withHints(about, valueSchema(slot))
  const { hints, ...items } = valueSchema(slot.items)
  return withHints(about, { type: 'array', items, hints })
}

function withHints(about: JsonSchema, { hints, ...schema }: JsonSchema & { hints: string[] }): JsonSchema {
  if (hints.length === 0) return { ...schema, ...about }
  const { description: described } = about
  const description = [...(typeof described === 'string' ? [described] : []), ...hints].join(' ')
  return { ...schema, ...about, description }
}

/** `hints`: what holds and a JSON Schema cannot say. */
function valueSchema(slot: ScalarSlotSchema): JsonSchema & { hints: string[] } {
  if (slot.type === 'boolean') return { type: 'boolean', hints: [] }
  if (slot.type === 'string') return textSchema(slot)
  const { type, minimum, maximum } = slot
  const choices: readonly unknown[] | undefined = slot.enum
  const hasTexts = choices?.some((choice) => typeof choice === 'string') === true
  return {
    type: hasTexts ? [type, 'string'] : type,
    ...(choices !== undefined && { enum: choices }),
    ...(typeof minimum === 'number' && { minimum }),
    ...(typeof maximum === 'number' && { maximum }),
    hints: [
      ...(typeof minimum === 'string' ? [`At least ${minimum}.`] : []),
      ...(typeof maximum === 'string' ? [`At most ${maximum}.`] : []),
    ],
  }
}

/** In a JSON Schema a time of day has an offset; ours has none. */
const timeOfDay = String.raw`^([01]\d|2[0-3]):[0-5]\d(:[0-5]\d(\.\d{1,9})?)?$`

function textSchema(slot: Extract<ScalarSlotSchema, { type: 'string' }>): JsonSchema & { hints: string[] } {
  const { format, pattern } = slot
  const isShared = pattern !== undefined && isKnownEverywhere(pattern)
  return {
    type: 'string',
    ...(slot.enum !== undefined && { enum: slot.enum }),
    ...(format === 'time' ? { pattern: timeOfDay } : format !== undefined && { format }),
    ...(isShared && { pattern }),
    hints: pattern === undefined || isShared ? [] : [`Matches ${pattern} (RE2).`],
  }
}

/** Patterns are RE2's; a schema's are ECMAScript's, and a validator refuses a whole schema for one that it cannot read. */
function isKnownEverywhere(pattern: string): boolean {
  try {
    return new RegExp(pattern, 'u').source !== ''
  } catch {
    return false
  }
}
