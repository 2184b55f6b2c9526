import { unitOf, type Unit } from './units.ts'

/** A number that is said in words, or in more than one piece: "half an", "1 hour 15", "minus eighteen". */
export type Quantity = {
  start: number
  end: number
  value: number
  /** Unit, where it is said inside the quantity: "an hour and a half". */
  unit: Unit | null
}

type Token = { start: number; end: number; text: string; digits: number | null }
type Parsed = { value: number; next: number }

const names = (words: string, first: number, step = 1): Array<[string, number]> =>
  words.split(' ').map((word, at) => [word, first + at * step])

const ones = new Map(names('one two three four five six seven eight nine', 1))
const teens = new Map([
  ['zero', 0] as const,
  ...names('ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen', 10),
])
const tens = new Map(names('twenty thirty forty fifty sixty seventy eighty ninety', 20, 10))
const scales = new Map(Object.entries({ thousand: 1e3, grand: 1e3, million: 1e6, billion: 1e9 }))
const parts = new Map(Object.entries({ half: 1 / 2, third: 1 / 3, quarter: 1 / 4 }))

/** The number words as one pattern, for whoever reads a count inside something else. */
export const anyCount = [...ones.keys(), ...teens.keys(), ...tens.keys(), 'hundred', 'dozen'].join('|')

/** A number said in words alone; null where it is none. */
export function spokenNumber(text: string): number | null {
  const tokens = tokensOf(text.toLowerCase(), [])
  const parsed = cardinal(tokens, 0)
  return parsed !== null && parsed.next === tokens.length ? parsed.value : null
}

/**
 * Every number of a text that is said in words or put together from pieces. `digits` are the numbers written in digits:
 * one that a phrase takes in is a part of it.
 */
export function recogniseQuantities(
  text: string,
  digits: Array<{ start: number; end: number; value: unknown }>,
): Quantity[] {
  const tokens = tokensOf(text, digits)
  const found: Quantity[] = [...clockDurations(text)]
  for (let at = 0; at < tokens.length; at += 1) {
    const read = quantity(tokens, at)
    const [first, last] = [tokens[at], read === null ? undefined : tokens[read.next - 1]]
    if (read === null || first === undefined || last === undefined) continue
    const { value, unit, next } = read
    // Plain digits have been read already.
    if (next - at > 1 || first.digits === null) found.push({ start: first.start, end: last.end, value, unit })
    at = next - 1
  }
  return found
}

const piece = /\p{L}+(?:['’]\p{L}+)?/gu

/** Words and numbers in their order, each running on from the one before only over spaces or a hyphen. */
function tokensOf(text: string, digits: Array<{ start: number; end: number; value: unknown }>): Token[] {
  const numbers = digits.flatMap(({ start, end, value }): Token[] =>
    typeof value === 'number' ? [{ start, end, text: '', digits: value }] : [],
  )
  const said = Array.from(text.matchAll(piece), ({ 0: word, index: start }): Token => {
    return { start, end: start + word.length, text: word.toLowerCase(), digits: null }
  }).filter((word) => !digits.some(({ start, end }) => word.start < end && start < word.end))
  const tokens = [...numbers, ...said].sort((a, b) => a.start - b.start)
  // A break between two tokens ends every phrase.
  return tokens.flatMap((token, at): Token[] => {
    const before = tokens[at - 1]
    const isApart = before !== undefined && !/^[\s-]*$/u.test(text.slice(before.end, token.start))
    return isApart ? [{ start: before.end, end: before.end, text: '\n', digits: null }, token] : [token]
  })
}

function wordAt(tokens: Token[], at: number): string {
  return tokens[at]?.text ?? ''
}

function isArticle(word: string): boolean {
  return word === 'a' || word === 'an'
}

/** "forty-two", "two hundred and five", "a hundred", "a dozen", "a couple of"; digits with a word behind: "3 grand". */
function cardinal(tokens: Token[], at: number): Parsed | null {
  const digits = tokens[at]?.digits ?? null
  if (digits !== null) return scaled(tokens, { value: digits, next: at + 1 })
  const word = wordAt(tokens, at)
  const second = wordAt(tokens, at + 1)
  if (isArticle(word) && second === 'couple') return couple(tokens, at + 1)
  if (word === 'couple') return couple(tokens, at)
  if (word === 'dozen') return { value: 12, next: at + 1 }
  if (word === 'hundred' || scales.has(word)) return compound(tokens, at, 1)
  const small = belowHundred(tokens, at)
  if (small === null) return null
  if (wordAt(tokens, small.next) === 'dozen') return { value: small.value * 12, next: small.next + 1 }
  return compound(tokens, small.next, small.value)
}

/** Only "a couple of hours": a couple by itself is two people. */
function couple(tokens: Token[], at: number): Parsed | null {
  const isOf = wordAt(tokens, at + 1) === 'of'
  const counted = wordAt(tokens, at + (isOf ? 2 : 1))
  return counted !== '' && counted !== '\n' && (isOf || scaleOf(counted) !== null)
    ? scaled(tokens, { value: 2, next: at + (isOf ? 2 : 1) })
    : null
}

function belowHundred(tokens: Token[], at: number): Parsed | null {
  const word = wordAt(tokens, at)
  const ten = tens.get(word)
  if (ten !== undefined) {
    const one = ones.get(wordAt(tokens, at + 1))
    return one === undefined ? { value: ten, next: at + 1 } : { value: ten + one, next: at + 2 }
  }
  const small = ones.get(word) ?? teens.get(word)
  return small === undefined ? null : { value: small, next: at + 1 }
}

/** Hundreds, thousands and more behind a first number, each scale smaller than the one before. */
function compound(tokens: Token[], from: number, first: number): Parsed {
  let [total, part, next, least] = [0, first, from, Infinity]
  for (;;) {
    const word = wordAt(tokens, next)
    const scale = scales.get(word)
    if (word === 'hundred' && part < 100) part *= 100
    else if (scale !== undefined && scale < least) {
      total += part * scale
      ;[part, least] = [0, scale]
    } else return { value: total + part, next }
    next += 1
    const after = belowHundred(tokens, wordAt(tokens, next) === 'and' ? next + 1 : next)
    if (after !== null && after.value > 0 && tokens[next]?.digits === null) {
      part += after.value
      next = after.next
    }
  }
}

function scaleOf(word: string): number | null {
  return scales.get(word) ?? (word === 'hundred' ? 100 : word === 'dozen' ? 12 : null)
}

function scaled(tokens: Token[], { value, next }: Parsed): Parsed {
  const scale = scaleOf(wordAt(tokens, next))
  return scale === null ? { value, next } : { value: value * scale, next: next + 1 }
}

type Read = Parsed & { unit: Unit | null }

function quantity(tokens: Token[], at: number): Read | null {
  const word = wordAt(tokens, at)
  if (word === 'minus' || word === 'negative') {
    const read = cardinal(tokens, at + 1)
    return read === null ? null : { value: -read.value, next: read.next, unit: null }
  }
  const number = fraction(tokens, at) ?? withPart(tokens, at) ?? single(tokens, at)
  if (number === null) return share(tokens, at) ?? fortnight(tokens, at)
  return belowZero(tokens, number) ?? withUnits(tokens, number)
}

/** "two and a half", "one and a half thousand". */
function withPart(tokens: Token[], at: number): Parsed | null {
  const whole = cardinal(tokens, at)
  if (whole === null) return null
  const more = andPart(tokens, whole.next)
  return more === null ? whole : scaled(tokens, { value: whole.value + more.value, next: more.next })
}

function andPart(tokens: Token[], at: number): Parsed | null {
  if (wordAt(tokens, at) !== 'and' || !/^(?:an?|one)$/.test(wordAt(tokens, at + 1))) return null
  const part = parts.get(wordAt(tokens, at + 2))
  return part === undefined ? null : { value: part, next: at + 3 }
}

const shortened = /^(?:half|quarter)$/

/** "half a million", "half an hour", "three quarters of an hour": only of something that is counted. */
function fraction(tokens: Token[], from: number): Parsed | null {
  const word = wordAt(tokens, from)
  const counted = belowHundred(tokens, from)
  const named = counted === null ? (isArticle(word) ? from + 1 : from) : counted.next
  const part = parts.get(wordAt(tokens, named).replace(/s$/, '').replace('halve', 'half'))
  if (part === undefined || (counted !== null && counted.value > 3)) return null
  const isOf = wordAt(tokens, named + 1) === 'of'
  const article = named + (isOf ? 2 : 1)
  const next = isArticle(wordAt(tokens, article)) ? article + 1 : article
  const unit = unitOf(wordAt(tokens, next))
  // A quarter is three months, too: it is a part only of what "of" names, or of an hour, and never of a year.
  if (wordAt(tokens, named) !== 'half' && unit?.dimension === 'calendar') return null
  const isPart = isOf ? next > article : word === 'half' || isArticle(word) || wordAt(tokens, named) === 'half'
  const isHour = shortened.test(wordAt(tokens, named)) && /^hours?$/.test(wordAt(tokens, next))
  const value = part * (counted?.value ?? 1)
  const scale = scaleOf(wordAt(tokens, next))
  if (scale !== null && isPart) return { value: value * scale, next: next + 1 }
  if (wordAt(tokens, named) === 'quarter' && !isOf && !isHour) return null
  return (isPart || isHour) && unit !== null ? { value, next } : null
}

const measuring = /^(?:than|over|under|below|above|within|least|most|exceeding|beyond)$/
const endOfBound = /^(?:more|less|longer|over|under|older|worse)$/
const isLate = /^(?:late|overdue|old|long|ago|past)$/
const lasting = /^(?:by|for|after)$/

/** "Over the past fortnight": no calendar says when one begins, so it is fourteen days to who counts them. */
function fortnight(tokens: Token[], at: number): Read | null {
  if (wordAt(tokens, at) !== 'fortnight' || !/^(?:past|last|previous|next|coming)$/.test(wordAt(tokens, at - 1)))
    return null
  return { value: 1, next: at + 1, unit: unitOf('fortnight') }
}

const shares = new Map([...parts, ['fifth', 1 / 5] as const, ['tenth', 1 / 10] as const])

/** "Under half", "at least a fifth": fifty and twenty, to who counts percent. */
function share(tokens: Token[], at: number): Read | null {
  const named = isArticle(wordAt(tokens, at)) ? at + 1 : at
  const part = shares.get(wordAt(tokens, named))
  // A quarter is three months as well.
  const isTold = measuring.test(wordAt(tokens, at - 1)) && wordAt(tokens, named) !== 'quarter'
  if (part === undefined || !isTold || unitOf(wordAt(tokens, named + 1)) !== null) return null
  return { value: Math.round(part * 100), next: named + 1, unit: unitOf('%') }
}

/** "More than a week", "a week or more": elsewhere an "a" counts nothing. */
function single(tokens: Token[], at: number): Parsed | null {
  const unit = unitOf(wordAt(tokens, at + 1))
  if (!isArticle(wordAt(tokens, at)) || unit === null) return null
  const [before, joined, after] = [at - 1, at + 2, at + 3].map((place) => wordAt(tokens, place))
  const isBound =
    joined === 'or' ? endOfBound.test(after ?? '') : isLate.test(joined ?? '') && wordAt(tokens, at + 3) === 'or'
  const isTime = unit.dimension === 'time' || unit.dimension === 'calendar'
  const isMore = andPart(tokens, at + 2) !== null
  const isCounted = isMore || isBound || measuring.test(before ?? '') || (isTime && lasting.test(before ?? ''))
  return isCounted ? { value: 1, next: at + 1 } : null
}

/** "18 degrees below zero". */
function belowZero(tokens: Token[], { value, next }: Parsed): Read | null {
  const below = /^degrees?$/.test(wordAt(tokens, next)) ? next + 1 : next
  const isBelow = wordAt(tokens, below) === 'below' && wordAt(tokens, below + 1) === 'zero'
  return isBelow ? { value: -value, next: below + 2, unit: null } : null
}

/** "an hour and a half" and "1 hour 15 minutes": what follows the unit belongs to the number. */
function withUnits(tokens: Token[], number: Parsed): Read {
  const plain = { ...number, unit: null }
  const unit = unitOf(wordAt(tokens, number.next))
  if (unit === null) return plain
  const part = andPart(tokens, number.next + 1)
  if (part !== null) return { value: number.value + part.value, next: part.next, unit }
  const second = number.next + (wordAt(tokens, number.next + 1) === 'and' ? 2 : 1)
  const more = cardinal(tokens, second)
  const smaller = more === null ? null : unitOf(wordAt(tokens, more.next))
  if (more === null || smaller === null || smaller.dimension !== unit.dimension || smaller.size >= unit.size)
    return plain
  return { value: (number.value * unit.size) / smaller.size + more.value, next: more.next, unit: smaller }
}

const glued = /(?<![\p{L}\p{N}.,-])(?<hours>\d{1,3})\s?h\s?(?<minutes>[0-5]\d)(?:\s?min(?:utes)?)?(?![\p{L}\p{N}])/giu

/** "1h30" */
function clockDurations(text: string): Quantity[] {
  return Array.from(text.matchAll(glued), (match) => {
    const { hours = '0', minutes = '0' } = match.groups ?? {}
    const value = Number(hours) * 60 + Number(minutes)
    return { start: match.index, end: match.index + match[0].length, value, unit: unitOf('minutes') }
  })
}
