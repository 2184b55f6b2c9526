import { fitting, isFunctionWord, rootOf, type Linked, type Span } from '../../language/index.ts'
import type { IndexedText } from './index-text.ts'
import { deniedMark, rootMark, type Slot } from './project.ts'

type Stretch = { start: number; end: number }
type Found = Stretch & { value: unknown }

const maxWords = 8
const introducing = new Set([
  'named',
  'called',
  'titled',
  'containing',
  'mentioning',
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
export function openText(linked: Linked, slot: Slot, references: IndexedText[], taken: Stretch[]): Found | null {
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
  const named = best === null ? null : nameAt(linked, best)
  const [first, last] = named === null ? [] : [words[named.from], words[named.to - 1]]
  if (first === undefined || last === undefined) return null
  const value = fitting(slot.type, linked.text.slice(first.start, last.end))
  if (value === undefined) return null
  return { value, start: first.start, end: last.end }
}

const capital = /^\p{Lu}/u

/** The name that opens what was found, where more goes on behind it: "Terry Pratchett in the catalogue". */
function nameAt({ text, words }: Linked, { from, to }: { from: number; to: number }): { from: number; to: number } {
  const isName = (at: number): boolean => capital.test(text.slice(words[at]?.start))
  let end = from
  while (end < to && isName(end)) end += 1
  const goesOn = words[end]?.text ?? ''
  return end > from && end < to && leading.test(goesOn) ? { from, to: end } : { from, to }
}

const leading = /^(?:in|at|on|from|by|with|for|since|until|during|please)$/

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

const negations = new Set(['not', 'no', 'non', 'without', 'never', 'un', 'cannot', 'except'])

function yesOrNo({ words, text }: Linked, slot: Slot): Found | null {
  const cue = slot.cues
  // "e-bikes", and "over due" of `overdue`
  const isCompound = (at: number): boolean => {
    const [first, second] = [words[at], words[at + 1]]
    if (first === undefined || second === undefined) return false
    return cue.has(`${first.stem}-${second.stem}`) || cue.has(`${rootMark}${rootOf(first.text + second.text)}`)
  }
  const isDenied = (at: number): boolean =>
    [words[at - 1], words[at - 2]].some((each) => each !== undefined && negations.has(each.text)) ||
    /n['’]t\b/.test(text.slice(Math.max(0, (words[at]?.start ?? 0) - 12), words[at]?.start))
  const exact = words.findIndex(({ stem }, at) => (cue.has(stem) && !isFunctionWord(stem)) || isCompound(at))
  const at = exact >= 0 ? exact : words.findIndex((word) => cue.has(`${rootMark}${rootOf(word.text)}`))
  const word = words[at]
  if (word !== undefined) {
    const end = isCompound(at) ? (words[at + 1]?.end ?? word.end) : word.end
    return { value: !isDenied(at), start: word.start, end }
  }
  const other = words.find((each, place) => cue.has(`${deniedMark}${rootOf(each.text)}`) && isDenied(place))
  return other === undefined ? null : { value: true, start: other.start, end: other.end }
}
