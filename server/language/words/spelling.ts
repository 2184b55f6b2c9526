import { isFunctionWord, words, type Word } from './text.ts'

const minLength = 4

/** Words that a misspelled one may stand for, by length. */
export type Spelling = Map<number, Set<string>>

/** A text with its misspelled words put right, and the way back. */
export type Respelled = {
  text: string
  /** Where a place of the new text stood in the old one. */
  placeOf: (place: { start: number; end: number }) => { start: number; end: number }
}

/** Months and days of the week: the only words besides names that begin with a capital letter. */
const calendar = (
  'january february march april may june july august september october november december monday tuesday wednesday ' +
  'thursday friday saturday sunday'
).split(' ')
/** Words that people ask with in every project; a month that is not understood would make a whole year of it. */
const everyday = (
  'today tomorrow yesterday week weeks month months monthly quarter quarterly year years yearly ' +
  'daily weekly many much what which where when show list find give number count total average highest lowest biggest ' +
  'smallest largest latest oldest between before after since until without with from last next open closed status search ' +
  'please details overview every each most least more less than without'
).split(' ')

export function newSpelling(): Spelling {
  const spelling: Spelling = new Map()
  for (const word of [...calendar, ...everyday]) if (word.length >= minLength) add(spelling, word)
  return spelling
}

const plainLetters = /^[a-z]+$/

export function addSpelling(spelling: Spelling, word: string): void {
  if (word.length >= minLength && plainLetters.test(word) && !isFunctionWord(word)) add(spelling, word)
}

const calendarSpelling: Spelling = new Map()
for (const word of calendar) add(calendarSpelling, word)

function add(spelling: Spelling, word: string): void {
  const known = spelling.get(word.length)
  if (known === undefined) spelling.set(word.length, new Set([word]))
  else known.add(word)
}

/** So many strange words are no typing errors: it is another language, or noise. */
const maxStrange = 6
// Two errors in a short word leave too little of it.
const minTwoErrors = 7

/**
 * Puts words right that are no words, where one that the project or everyday questions use is a typing error away.
 * Names keep their capital letters and their spelling, and so does what has been read as a value.
 */
export function respell(
  text: string,
  spelling: Spelling,
  { isStrange, isTaken }: { isStrange: (word: string) => boolean; isTaken: (word: Word) => boolean },
): Respelled | null {
  const isPlain = ({ start, end }: Word): boolean => {
    const said = text.slice(start, end)
    return plainLetters.test(start === 0 ? said.toLowerCase() : said)
  }
  const strange = words(text).filter(
    (word) =>
      word.text.length >= minLength && (isPlain(word) || isDated(text, word)) && isStrange(word.text) && !isTaken(word),
  )
  if (strange.length === 0 || strange.length > maxStrange) return null
  const changes = strange.flatMap((word) => {
    // A name is written with a capital letter; beside a day or a year so is a month.
    const meant = nearest(isPlain(word) ? spelling : calendarSpelling, word.text)
    return meant === null ? [] : [{ start: word.start, end: word.end, meant }]
  })
  return changes.length === 0 ? null : apply(text, changes)
}

const datedBefore = /(?:\b(?:in|since|until|till|last|next)|\d(?:st|nd|rd|th)?)\s+$/iu
const datedAfter = /^\.?,?\s+\d/u

/** Whether a word stands where a month does: "in Setpember 2025", "3 Aprl". */
function isDated(text: string, { start, end }: Word): boolean {
  const isCapital = /^\p{Lu}\p{Ll}+$/u.test(text.slice(start, end))
  return isCapital && (datedAfter.test(text.slice(end)) || datedBefore.test(text.slice(0, start)))
}

/**
 * The month that a word beside a year comes near, however it is spelled; null where it comes near none. For words that
 * are too short or too common to be put right.
 */
export function nearestMonth(word: string): string | null {
  const most = word.length >= 5 ? 2 : 1
  return calendar.slice(0, 12).find((month) => errorsBetween(word, month, most) <= most) ?? null
}

type Change = { start: number; end: number; meant: string }

function apply(text: string, changes: Change[]): Respelled {
  let spelled = ''
  let reached = 0
  const moved: Array<{ start: number; end: number; from: Change }> = []
  for (const change of changes) {
    spelled += text.slice(reached, change.start)
    moved.push({ start: spelled.length, end: spelled.length + change.meant.length, from: change })
    spelled += change.meant
    reached = change.end
  }
  const before = (place: number): number => {
    let shift = 0
    for (const { start, end, from } of moved) {
      if (place >= end) shift = from.end - end
      // Inside a word that was changed there is only its beginning and its end.
      else if (place > start) return from.end
      else if (place === start) return from.start
    }
    return place + shift
  }
  return {
    text: spelled + text.slice(reached),
    placeOf: ({ start, end }) => ({ start: before(start), end: before(end) }),
  }
}

/** The one word that is fewest errors away; null where there is none, or more than one. */
function nearest(spelling: Spelling, word: string): string | null {
  const most = word.length >= minTwoErrors ? 2 : 1
  const letters = lettersOf(word)
  let best: { words: string[]; errors: number } = { words: [], errors: most }
  for (let length = word.length - most; length <= word.length + most; length += 1) {
    for (const known of spelling.get(length) ?? []) {
      if (lettersApart(letters, lettersOf(known)) > 2 * best.errors) continue
      const errors = errorsBetween(word, known, best.errors) + (known[0] === word[0] ? 0 : 0.5)
      if (errors < best.errors || (errors === best.errors && best.words.length === 0)) best = { words: [known], errors }
      else if (errors === best.errors) best.words.push(known)
    }
  }
  const [only, ...others] = best.words
  return only !== undefined && others.length === 0 ? only : null
}

/** Which letters a word has, one bit each. */
function lettersOf(word: string): number {
  let letters = 0
  for (let at = 0; at < word.length; at += 1) letters |= 1 << (word.charCodeAt(at) - 97)
  return letters
}

/** How many letters only one of two words has: an error makes it two more at the most, and this costs far less to tell. */
function lettersApart(left: number, right: number): number {
  let count = 0
  for (let apart = left ^ right; apart !== 0; apart &= apart - 1) count += 1
  return count
}

/** Letters too few, too many, wrong or exchanged with their neighbour; more than `most` are not counted. */
function errorsBetween(left: string, right: string, most: number): number {
  if (Math.abs(left.length - right.length) > most) return Infinity
  let [before, above] = [[] as number[], Array.from({ length: right.length + 1 }, (_, at) => at)]
  for (let row = 1; row <= left.length; row += 1) {
    const line = [row]
    for (let column = 1; column <= right.length; column += 1) {
      const isSame = left[row - 1] === right[column - 1]
      let errors = Math.min(
        (above[column] ?? 0) + 1,
        (line[column - 1] ?? 0) + 1,
        (above[column - 1] ?? 0) + (isSame ? 0 : 1),
      )
      const isExchanged =
        row > 1 && column > 1 && left[row - 1] === right[column - 2] && left[row - 2] === right[column - 1]
      if (isExchanged) errors = Math.min(errors, (before[column - 2] ?? 0) + 1)
      line.push(errors)
    }
    if (Math.min(...line) > most) return Infinity
    ;[before, above] = [above, line]
  }
  return above[right.length] ?? Infinity
}
