import { fitting, isFunctionWord, type Linked, type Span } from '../../language/index.ts'
import type { IndexedText } from './index-text.ts'
import type { Slot } from './project.ts'

type Place = { start: number; end: number }
type Found = Place & { value: unknown }

const maxWords = 8
const introducing = new Set([
  'named',
  'called',
  'titled',
  'containing',
  'contains',
  'like',
  'matching',
  'about',
  'saying',
  'labelled',
  'labeled',
  'tagged',
])

/** A value that no list or recogniser knows: the words that stand where the examples have the slot's value. */
export function openText(linked: Linked, slot: Slot, references: IndexedText[], taken: Place[]): Found | null {
  if (slot.type.kind === 'boolean') return yesOrNo(linked, slot)
  const frames = references.flatMap(({ shape: { tokens, marks }, roles }) => {
    const mark = marks[roles.find((role) => role.slot === slot.name)?.mark ?? -1]
    return mark === undefined
      ? []
      : [{ before: tokens[mark.token - 1], before2: tokens[mark.token - 2], after: tokens[mark.token + 1] }]
  })
  const { words } = linked
  const cue = slot.cues
  const free = (at: number): boolean => {
    const word = words[at]
    return word !== undefined && !taken.some(({ start, end }) => word.start < end && start < word.end)
  }
  let best: { score: number; from: number; to: number } | null = null
  for (let from = 0; from < words.length; from += 1) {
    const [before, before2] = [words[from - 1]?.stem, words[from - 2]?.stem]
    if (isFunctionWord(words[from]?.text ?? '')) continue
    for (let to = from + 1; to <= Math.min(words.length, from + maxWords) && free(to - 1); to += 1) {
      if (isFunctionWord(words[to - 1]?.text ?? '')) continue
      const after = words[to]?.stem
      const framed = Math.max(0, ...frames.map((frame) => fit(frame, { before, before2, after })))
      const cued =
        before !== undefined && (cue.has(before) || introducing.has(before)) ? 1.2 + (after === undefined ? 0.5 : 0) : 0
      const ended = after === undefined || isFunctionWord(after) || !free(to) ? 0.3 : 0
      const score = Math.max(framed, cued) + ended - 0.05 * (to - from)
      if (Math.max(framed, cued) >= 1 && (best === null || score > best.score)) best = { score, from, to }
    }
  }
  const [first, last] = best === null ? [] : [words[best.from], words[best.to - 1]]
  if (first === undefined || last === undefined) return null
  const value = fitting(slot.type, linked.text.slice(first.start, last.end))
  if (value === undefined) return null
  return { value, start: first.start, end: last.end }
}

/** The words found as a span that the slot's type reads. */
export function textSpan({ words }: Linked, slot: Slot, { start, end, value }: Found): Span | null {
  const from = words.findIndex((word) => word.end > start)
  const to = words.findLastIndex((word) => word.start < end) + 1
  if (from < 0 || to <= from) return null
  return { from, to, start, end, readings: [{ type: slot.type, value, quality: 1, days: null }], weak: false }
}

type Frame = { before: string | undefined; before2: string | undefined; after: string | undefined }

function fit(frame: Frame, here: Frame): number {
  const before = frame.before === here.before ? (frame.before === undefined ? 0.6 : 1) : 0
  if (before === 0) return 0
  return before + (frame.before2 === here.before2 ? 0.4 : 0) + (frame.after === here.after ? 0.6 : 0)
}

const negations = new Set(['not', 'no', 'non', 'without', 'never', 'un'])

function yesOrNo({ words, text }: Linked, slot: Slot): Found | null {
  const cue = slot.cues
  const at = words.findIndex(({ stem }) => cue.has(stem) && !isFunctionWord(stem))
  const word = words[at]
  if (word === undefined) return null
  const negated = [words[at - 1], words[at - 2]].some((each) => each !== undefined && negations.has(each.text))
  return {
    value: !negated && !/n['’]t\b/.test(text.slice(Math.max(0, word.start - 12), word.start)),
    start: word.start,
    end: word.end,
  }
}
