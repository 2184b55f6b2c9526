import type { SlotSchema } from '../../../api/slots.ts'
import type { Piece } from '../encoder/tokenizer.ts'
import { isFunctionWord, words } from '../../language/index.ts'
import { spoken, type ListedValue, type RoutableProject, type RoutableQuery } from './project.ts'
import type { ReaderConstants } from '../learned/reader-constants.ts'
import type { Reader, ReaderInput } from '../encoder/reader.ts'

/** A query as the reader sees it, in tokens: made once, when the project is indexed. */
export type Card = {
  description: number[]
  slots: number[][]
  /** The place of each slot by name, which is also its mark. */
  places: Map<string, number>
  examples: number[][]
  /** It says nothing but its name: there is nothing to read a question beside. */
  isBare: boolean
}

/** Words of a text that a slot has taken. */
export type Bound = { start: number; end: number; slot: string }

export function boundIn(sources: Record<string, { start: number; end: number }>): Bound[] {
  return Object.entries(sources).map(([slot, { start, end }]) => ({ slot, start, end }))
}

export function cardOf(reader: Reader, query: RoutableQuery, values: RoutableProject['values']): Card {
  const { constants, tokenizer } = reader
  const idsOf = (text: string): number[] => tokenizer.pieces(text).map(({ id }) => id)
  const named = Object.entries(query.slots.properties).slice(0, constants.most_slots)
  const places = new Map(named.map(([name], place) => [name, place]))
  const shown = query.examples
    .slice(0, constants.most_examples)
    .map(({ question, parameters }) => ({ question, bound: literalValues(question, parameters) }))
  const exemplified = new Set(shown.flatMap(({ bound }) => bound.map(({ slot }) => slot)))
  const required = new Set(query.slots.required ?? [])
  const slots = named.map(([name, schema], place) => {
    const isOptional = !required.has(name) || 'default' in schema
    const described: SlotCard = { name, schema, place, isOptional, isExemplified: exemplified.has(name) }
    return slotTokens(constants, idsOf, { ...described, listed: values[valuesFrom(schema) ?? ''] ?? [] })
  })
  const examples = shown.map(({ question, bound }) => {
    const marked = withMarks(constants, tokenizer.pieces(question), { bound, places })
    return [constants.token.example, ...marked.slice(0, constants.example_tokens).map(({ id }) => id)]
  })
  const description = query.description.replaceAll(/[<>_]/g, ' ').replaceAll(/\s+/g, ' ').trim()
  return {
    description: idsOf(description).slice(0, constants.description_tokens),
    slots,
    places,
    examples,
    isBare: isBare(query),
  }
}

function isBare({ name, description, slots }: RoutableQuery): boolean {
  if (Object.keys(slots.properties).length > 0) return false
  const named = new Set(words(spoken(name)).map(({ stem }) => stem))
  return words(description).every(({ text, stem }) => isFunctionWord(text) || named.has(stem))
}

type SlotCard = { name: string; schema: SlotSchema; place: number; isOptional: boolean; isExemplified: boolean }

function slotTokens(
  constants: ReaderConstants,
  idsOf: (text: string) => number[],
  { name, schema, place, isOptional, isExemplified, listed }: SlotCard & { listed: ListedValue[] },
): number[] {
  const { token } = constants
  const item = schema.type === 'array' ? schema.items : schema
  const spokenName = name
    .replace(/\d+$/, '')
    .replaceAll(/[_\s]+/g, ' ')
    .trim()
    .toLowerCase()
  const about = schema.description === undefined || schema.description === '' ? '' : `: ${schema.description}`
  const kind = kindOf(item.type, 'format' in item ? item.format : undefined)
  const choices: readonly unknown[] = ('enum' in item ? item.enum : undefined) ?? []
  const isShort = choices.length > 0 && choices.length <= constants.most_choices
  const some = choices.length > 0 ? choices.slice(0, 3).map(String) : listed.slice(0, 2).map(labelOf)
  return [
    token.slot_first + place,
    ...(isOptional ? [token.optional] : []),
    ...idsOf(spokenName).slice(0, constants.slot_name_tokens),
    ...idsOf(about).slice(0, constants.slot_description_tokens),
    ...(kind === null ? [] : idsOf(`(${kind})`)),
    ...(isShort
      ? choices.flatMap((choice) => [
          token.choice,
          ...idsOf(String(choice).toLowerCase()).slice(0, constants.choice_tokens),
        ])
      : isExemplified || some.length === 0
        ? []
        : idsOf(`e.g. ${some.join(', ')}`).slice(0, constants.values_tokens)),
  ]
}

function kindOf(type: string, format: unknown): 'number' | 'boolean' | 'date' | null {
  if (type === 'integer' || type === 'number') return 'number'
  if (type === 'boolean') return 'boolean'
  return format === undefined ? null : 'date'
}

function valuesFrom(schema: SlotSchema): string | undefined {
  return schema['x-values-from'] ?? (schema.type === 'array' ? schema.items['x-values-from'] : undefined)
}

function labelOf(value: ListedValue): string {
  return typeof value === 'object' ? value.label : String(value)
}

/** Where an example names its values word for word. */
function literalValues(question: string, parameters: Record<string, unknown>): Bound[] {
  return Object.entries(parameters).flatMap(([slot, value]): Bound[] => {
    if (typeof value !== 'string' && typeof value !== 'number') return []
    const literal = String(value).replaceAll(/[.*+?^${}()|[\]\\/]/g, String.raw`\$&`)
    const found = new RegExp(String.raw`(?<![\p{L}\p{N}_])${literal}(?![\p{L}\p{N}_])`, 'iu').exec(question)
    return found === null ? [] : [{ slot, start: found.index, end: found.index + found[0].length }]
  })
}

/** A token of a text, or a mark around some of them, which has no place of its own. */
export type MarkedToken = { id: number; place: { start: number; end: number } | null }

/**
 * The tokens of a text, with what a slot has taken between the slot's mark and the closing one. While one is open no
 * other opens; one that ends by then is left out.
 */
export function withMarks(
  { token }: ReaderConstants,
  pieces: Piece[],
  { bound, places }: { bound: Bound[]; places: Card['places'] },
): MarkedToken[] {
  const waiting = bound
    .flatMap(({ start, end, slot }) => {
      const place = places.get(slot)
      return place === undefined ? [] : [{ start, end, place }]
    })
    .sort((a, b) => a.start - b.start || a.end - b.end || a.place - b.place)
  const marked: MarkedToken[] = []
  let openUntil: number | null = null
  let next = waiting.shift()
  for (const { id, start, end } of pieces) {
    if (openUntil !== null && start >= openUntil) {
      marked.push({ id: token.end, place: null })
      openUntil = null
    }
    while (next !== undefined && next.start <= start && openUntil === null) {
      if (next.end > start) {
        marked.push({ id: token.slot_first + next.place, place: null })
        openUntil = next.end
      }
      next = waiting.shift()
    }
    marked.push({ id, place: { start, end } })
  }
  if (openUntil !== null) marked.push({ id: token.end, place: null })
  return marked
}

/** A question beside a card: as much of the card as there is room for. */
export function inputOf(constants: ReaderConstants, question: MarkedToken[], card: Card): ReaderInput {
  const { token } = constants
  const ids = [token.cls, ...question.map(({ id }) => id), token.sep]
  const questionTokens = ids.length
  // One token is left for the end.
  const room = constants.max_tokens - 1
  ids.push(...card.description)
  for (const slot of card.slots) {
    if (ids.length + slot.length > room) break
    ids.push(...slot)
  }
  for (const example of card.examples) {
    const fitting = example.slice(0, Math.max(0, room - ids.length))
    if (fitting.length < minExampleTokens) break
    ids.push(...fitting)
  }
  return { ids: [...ids, token.sep].slice(0, constants.max_tokens), questionTokens }
}

/** Less of an example says nothing. */
const minExampleTokens = 4
