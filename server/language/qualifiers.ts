import type { Linked, Reading, Span } from './span.ts'
import { isFunctionWord, type Word } from './words/text.ts'
import { isUnit, unitOf } from './words/units.ts'

/** A text read for what it says about its values, rather than which ones it names. */
type Said = Pick<Linked, 'text' | 'words'>

const set = (words: string): Set<string> => new Set(words.split(' '))

const negators = set(
  'not no non never neither nor without except excepting excluding exclude excludes besides outside minus omit ' +
    'omitting skip skipping cannot dont doesnt didnt isnt arent wasnt werent havent hasnt hadnt wont cant',
)
// Two words that leave something out together.
const pairs = new Map([
  ['other', 'than'],
  ['rather', 'than'],
  ['apart', 'from'],
  ['aside', 'from'],
  ['instead', 'of'],
  ['leave', 'out'],
  ['leaving', 'out'],
])
const contracted = set(
  'isn aren wasn weren don doesn didn haven hasn hadn won wouldn can couldn shouldn mustn needn ain',
)
// Not "nothing but the north": that is the north alone.
const universal = /^(?:all|any\w*|every\w*|each)$/
const leftOutAfter = set('excluded omitted excepted aside')
const askers = set('i we you they he she it there any the our a an this that these those people')
const boundary = /[.?!;:,()]/
const unequal = /!=|<>|≠/

const reachWords = 6
// "did not come from the north": one word of its own may stand between.
const maxBetween = 1

type Placed = Pick<Span, 'from' | 'to'> & { readings: Array<Pick<Reading, 'days'>> }

/** Whether the words around a span leave it out; a day only right before it: "without a prescription in May" is of May. */
export function isLeftOut(said: Said, { from, to, readings }: Placed): boolean {
  return isExcluded(said, from, to, readings.some(({ days }) => days !== null) ? 0 : maxBetween)
}

/** Whether the words around the place say that what stands there is left out. */
export function isExcluded(said: Said, from: number, to: number = from + 1, between = maxBetween): boolean {
  const { words } = said
  const first = words[from]
  if (first === undefined) return false
  if (unequal.test(said.text.slice(words[from - 1]?.end ?? 0, first.start))) return true
  const [after, afterNext] = [words[to]?.text ?? '', words[to + 1]?.text]
  if (leftOutAfter.has(after) || (after === 'left' && afterNext === 'out')) return true
  if (lasts(words, from)) return false
  let others = 0
  for (let at = from - 1; at >= Math.max(0, from - reachWords); at -= 1) {
    const word = words[at] as Word
    if (boundary.test(said.text.slice(word.end, words[at + 1]?.start))) return false
    if (lasts(words, at)) return false
    // "no more than 3" is a number, and so is "minus 3".
    const isMeasure = wayOf(words, at + 1) !== null || wayOf(words, at + 2) !== null
    if (isNegator(words, at)) return !isMeasure && !(word.text === 'minus' && /^\d/.test(first.text))
    if (word.text === 'but') return words.slice(0, at).some(({ text }) => universal.test(text))
    if (word.text === 'and') return false
    const isOwn = isFunctionWord(word.text) || durations.has(unitOf(word.text)?.dimension ?? '')
    if (!isOwn && (others += 1) > between) return false
  }
  return false
}

const durations = new Set(['time', 'calendar'])
const reachOfDuration = 5

/** The "for 3 weeks" of "no order for at least 3 weeks": how long something was not, which leaves out no time. */
function lasts(words: Word[], at: number): boolean {
  if (words[at]?.text !== 'for') return false
  return words.slice(at + 2, at + 1 + reachOfDuration).some(({ text }) => durations.has(unitOf(text)?.dimension ?? ''))
}

/** Whether a text leaves out anything at all. */
export function hasNegation({ words }: Pick<Said, 'words'>): boolean {
  return words.some((_, at) => isNegator(words, at))
}

function isNegator(words: Word[], at: number): boolean {
  const [before, word, next] = [words[at - 1]?.text ?? '', words[at]?.text ?? '', words[at + 1]?.text ?? '']
  // "isn't the north …?" asks and "I can't find the north" complains; "don't show the north" tells.
  if (word === 't' && contracted.has(before)) {
    if (words[at - 2]?.text === 'i') return false
    const opens = at === 1 || (at === 2 && /^(?:why|what|who|which|where|when|how)$/.test(words[0]?.text ?? ''))
    return !opens || (before === 'don' && !askers.has(next))
  }
  if (word === 'not') return next !== 'only' && next !== 'just' && before !== 'or'
  // A no-show is somebody.
  if (word === 'no' && /^shows?$/.test(next)) return false
  return negators.has(word) || pairs.get(word) === next
}

/** Which way a text goes from a number or a day: "over 5", "at most 5", "5 or more". */
export type Direction = 'up' | 'down'

const directions = new Map<string, Direction>([
  ...Array.from(
    set(
      'over above exceeding exceed exceeds beyond more greater higher larger bigger longer older later heavier taller ' +
        'least min minimum since after upwards upward',
    ),
    (word): [string, Direction] => [word, 'up'],
  ),
  ...Array.from(
    set(
      'under below beneath less fewer lower smaller shorter younger earlier lighter cheaper most max maximum until till before',
    ),
    (word): [string, Direction] => [word, 'down'],
  ),
])
const reachOfDirection = 4

export function directionAt(said: Said, from: number, upTo: number = from + 1): Direction | null {
  const { words, text } = said
  if (text[words[upTo - 1]?.end ?? -1] === '+') return 'up'
  // "30 kg or more"
  const to = isUnit(words[upTo]?.text ?? '') ? upTo + 1 : upTo
  const joined = words[to]?.text === 'or' || words[to]?.text === 'and'
  const after = joined ? words[to + 1]?.text : undefined
  if (after !== undefined && after !== 'most' && after !== 'least') {
    const way = after === 'up' ? 'up' : directions.get(after)
    // "5 and over 3" begins something new.
    if (way !== undefined && !/\d/.test(words[to + 2]?.text ?? '') && words[to + 2]?.text !== 'than') return way
  }
  for (let at = from - 1; at >= Math.max(0, from - reachOfDirection); at -= 1) {
    const word = words[at] as Word
    if (boundary.test(text.slice(word.end, words[at + 1]?.start))) return null
    const way = wayOf(words, at)
    if (way !== null) {
      const isFlipped = isNegator(words, at - 1) || (words[at - 1]?.text === 'at' && isNegator(words, at - 2))
      return isFlipped ? (way === 'up' ? 'down' : 'up') : way
    }
    if (!isFunctionWord(word.text) || word.text === 'and') return null
  }
  return null
}

function wayOf(words: Word[], at: number): Direction | null {
  const word = words[at]?.text ?? ''
  if (word === 'up') return words[at + 1]?.text === 'to' ? 'down' : null
  if (word === 'most' || word === 'least') {
    return words[at - 1]?.text === 'at' ? (word === 'most' ? 'down' : 'up') : null
  }
  return directions.get(word) ?? null
}

/** Every way that a text speaks of, wherever. */
export function directionsIn({ words }: Pick<Said, 'words'>): Set<Direction> {
  return new Set(words.flatMap((_, at) => wayOf(words, at) ?? []))
}

const command =
  /(?:^|[;.!?]|\band then\b|\bplease\b|\bcan you\b)\s*(?:please\s+)?(delete|drop|remove|erase|truncate|insert|update|overwrite|cancel)\s/iu

/** The word with which a text asks for something to be changed. */
export function writeCommandIn(text: string): string | null {
  return command.exec(text)?.[1]?.toLowerCase() ?? null
}
