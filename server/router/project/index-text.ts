import {
  link,
  newContexts,
  overlaps,
  sameValue,
  shape,
  words,
  type CallerTime,
  type Contexts,
  type Linked,
  type Linker,
  type TextShape,
  type Span,
  type ValueType,
} from '../../language/index.ts'
import { spoken, type Slot } from './project.ts'

/** A description or an example as the router compares it, with the slot that each of its spans fills. */
export type IndexedText = {
  query: number
  kind: 'description' | 'example'
  text: string
  linked: Linked
  shape: TextShape
  roles: { slot: string; mark: number }[]
}

export const placeholder = /<([^<>]{1,60})>|\{\{?([^{}]{1,60})\}?\}|\$([a-z]\w{0,62})/gu
// Texts are read once, when they are indexed; relative dates in them need some day to stand on.
const anyDay: CallerTime = { now: new Date(0), timeZone: 'UTC' }

type Source = { kind: IndexedText['kind']; text: string; parameters: Record<string, unknown> }

export function indexText(
  linker: Linker,
  slots: Slot[],
  query: number,
  { kind, text, parameters }: Source,
): IndexedText {
  const linked = link(linker, text, anyDay)
  const decided = new Map<Span, ValueType>()
  const filled: { slot: string; span: Span }[] = []
  const claim = (slot: Slot, span: Span): void => {
    decided.set(span, slot.type)
    filled.push({ slot: slot.name, span })
  }
  const own = placeholders(linked, slots)
  for (const { slot, span } of own) claim(slot, span)
  for (const slot of slots) {
    const value = parameters[slot.name]
    if (value === undefined || value === null) continue
    const span = spanOfValue(linked, slot, value, decided) ?? literalSpan(linked, slot, value)
    if (span !== undefined) claim(slot, span)
  }
  const taken = filled.map(({ span }) => span)
  const spans = [...taken, ...linked.spans.filter((span) => !taken.some((other) => overlaps(span, other)))]
  const shaped = shape({ ...linked, spans }, newContexts(), decided)
  const roles = filled.map(({ slot, span }) => ({ slot, mark: shaped.marks.findIndex((mark) => mark.span === span) }))
  return { query, kind, text, linked: { ...linked, spans }, shape: shaped, roles }
}

/** Reads spans again whose type no role gives, once the surroundings of every type are known. */
export function reread(text: IndexedText, contexts: Contexts): void {
  const decided = new Map(
    text.roles.flatMap(({ mark }) => {
      const at = text.shape.marks[mark]
      return at === undefined ? [] : [[at.span, at.type] as const]
    }),
  )
  const spans = text.roles.map(({ mark }) => text.shape.marks[mark]?.span)
  text.shape = shape(text.linked, contexts, decided)
  text.roles = text.roles.map(({ slot }, at) => ({
    slot,
    mark: text.shape.marks.findIndex(({ span }) => span === spans[at]),
  }))
}

/** `<customer>`, `{customer}` and `$customer` in a description stand for the slot of that name or label. */
function placeholders(linked: Linked, slots: Slot[]): { slot: Slot; span: Span }[] {
  const free = [...slots].sort(
    (a, b) => stemmed(a.name).localeCompare(stemmed(b.name)) || a.name.localeCompare(b.name, 'en', { numeric: true }),
  )
  const found: { slot: Slot; span: Span }[] = []
  for (const match of linked.text.matchAll(placeholder)) {
    const name = spoken(match[1] ?? match[2] ?? match[3] ?? '')
    const fits = (slot: Slot): boolean => spoken(slot.name) === name || slot.type.label === name
    const slot = free.find(fits) ?? slots.find(fits)
    const [start, end] = [match.index, match.index + match[0].length]
    const from = linked.words.findIndex((word) => word.end > start)
    const to = linked.words.findLastIndex((word) => word.start < end) + 1
    if (slot === undefined || from < 0 || to <= from) continue
    if (free.includes(slot)) free.splice(free.indexOf(slot), 1)
    found.push({
      slot,
      span: { from, to, start, end, readings: [{ type: slot.type, value: null, quality: 1, days: null }], weak: false },
    })
  }
  return found
}

function stemmed(name: string): string {
  return name.replace(/_?\d+$/, '')
}

function spanOfValue(linked: Linked, slot: Slot, value: unknown, taken: Map<Span, ValueType>): Span | undefined {
  return [...linked.spans, ...linked.weak].find(
    (span) =>
      !taken.has(span) &&
      span.readings.some((reading) => reading.type.key === slot.type.key && sameValue(reading.value, value)),
  )
}

function literalSpan(linked: Linked, slot: Slot, value: unknown): Span | undefined {
  const wanted = words(String(value)).map(({ text }) => text)
  if (wanted.length === 0) return undefined
  const from = linked.words.findIndex((_, at) =>
    wanted.every((word, offset) => linked.words[at + offset]?.text === word),
  )
  const [first, last] = [linked.words[from], linked.words[from + wanted.length - 1]]
  if (from < 0 || first === undefined || last === undefined) return undefined
  const readings = [{ type: slot.type, value, quality: 1, days: null }]
  return { from, to: from + wanted.length, start: first.start, end: last.end, readings, weak: false }
}
