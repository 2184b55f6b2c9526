import { anyMonth } from './days/calendar.ts'
import { fold } from './words/text.ts'
import { recogniseQuantities } from './words/quantities.ts'
import { gluedUnits, type Unit } from './words/units.ts'

/** Something a recogniser saw in a text, with the value it stands for. */
export type Recognised = {
  kind: 'number' | 'text' | 'boolean' | 'time'
  start: number
  end: number
  value: unknown
  /** Sign around the digits: only a slot about money or shares should prefer it. */
  unit: 'money' | 'percent' | 'ordinal' | null
  /** Unit of the number, where it is said inside it: "an hour and a half". */
  counts?: Unit
}

const suffixes = new Map(
  Object.entries({
    k: 1e3,
    m: 1e6,
    mn: 1e6,
    million: 1e6,
    b: 1e9,
    bn: 1e9,
    billion: 1e9,
    thousand: 1e3,
    hundred: 100,
    dozen: 12,
    grand: 1e3,
  }),
)

// "1.000,50" and "99,50" as much of the world writes them; "1,000" and "1.5" are read in English.
const withComma = String.raw`\d{1,3}(?:\.\d{3})+,\d{1,2}(?![\d,])|\d{1,3}(?:\.\d{3}){2,}(?![\d.])|(?<!\d,)\d+,\d{1,2}(?![\d,])`
// Signs beyond Latin are written as escapes in these: one of them as it is would double what the program takes in memory.
const digits = new RegExp(
  String.raw`(?<![\p{L}\p{N}_.-])(?:(?<sign>[-\u2212]|(?<!\d\s?)\u2013))?(?<money>[$\u20ac£¥]\s?)?(?:(?<comma>${withComma})|(?<whole>\d{1,3}(?:,\d{3})+|\d{1,3}(?:['\u2019\u00a0\u202f]\d{3})+|\d{1,3}(?: \d{3})+(?=\s?(?:\u20ac|£|dollars?\b|euros?\b|pounds?\b|usd\b|eur\b|gbp\b))|\d+)(?<fraction>\.\d+)?(?<exponent>e\+?\d{1,3})?)` +
    String.raw`(?:\s?(?<scale>k|mn|m|bn|b|million|billion|thousand|hundred|dozen|grand)\b(?!/))?(?<ordinal>st|nd|rd|th)?(?<percent>\s?(?:%|percent\b|per cent\b))?` +
    String.raw`(?<currency>\s?(?:\u20ac|£|dollars?\b|euros?\b|pounds?\b|quid\b|usd\b|eur\b|gbp\b))?(?=(?:${gluedUnits})?(?![\p{L}\p{N}_]|\.\d))`,
  'giu',
)
// The "40" of "20-40": what stands behind a dash is part of a name or a day, unless it is the larger of two numbers.
const upTo = new RegExp(
  String.raw`(?<![\p{L}\p{N}_.,/-])[$\u20ac£]?(?<low>\d+(?:\.\d+)?)-[$\u20ac£]?(?<high>\d+(?:\.\d+)?)(?:\s?%)?(?=(?:${gluedUnits})?(?![\p{L}\p{N}_-]|[.,]\d))`,
  'giu',
)

export function recogniseNumbers(text: string): Recognised[] {
  const found: Recognised[] = []
  for (const match of text.matchAll(digits)) {
    const {
      sign,
      money,
      comma,
      whole = comma?.replaceAll('.', '').replace(',', '.') ?? '',
      fraction = '',
      exponent = '',
      scale,
      ordinal,
      percent,
      currency,
    } = match.groups ?? {}
    const plain = Number(whole.replaceAll(/[^\d.]/g, '') + fraction + exponent)
    const near = plain * (suffixes.get(scale?.toLowerCase() ?? '') ?? 1) * (sign === undefined ? 1 : -1)
    // Another number would be near enough for a sum, not for an order's: beyond 2^53 the digits stay.
    const isExact = Number.isSafeInteger(near) || fraction + exponent + (scale ?? comma ?? '') !== ''
    const value = isExact ? near : `${sign === undefined ? '' : '-'}${whole.replaceAll(/[^\d.]/g, '')}`
    const unit =
      percent !== undefined
        ? 'percent'
        : (money ?? currency) !== undefined
          ? 'money'
          : ordinal !== undefined
            ? 'ordinal'
            : null
    found.push({ kind: 'number', start: match.index, end: match.index + match[0].length, value, unit })
  }
  return withQuantities(text, [...found, ...upperNumbers(text)])
}

/** Numbers in words, and phrases of several pieces in the place of the digits inside them. */
function withQuantities(text: string, digits: Recognised[]): Recognised[] {
  const phrases = recogniseQuantities(text, digits)
  const plain = digits.filter(({ start, end }) => !phrases.some((each) => start < each.end && each.start < end))
  const spoken = phrases.map(({ start, end, value, unit }): Recognised => {
    return { kind: 'number', start, end, value, unit: null, ...(unit === null ? {} : { counts: unit }) }
  })
  return [...plain, ...spoken]
}

function upperNumbers(text: string): Recognised[] {
  return Array.from(text.matchAll(upTo)).flatMap((match) => {
    const { low = '', high = '' } = match.groups ?? {}
    const [start, end] = [match.index + match[0].indexOf('-') + 1, match.index + match[0].length]
    const value = Number(high)
    return value > Number(low) ? [{ kind: 'number' as const, start, end, value, unit: null }] : []
  })
}

const quoted =
  /"([^"]{1,200})"|“([^”]{1,200})”|«([^»]{1,200})»|(?<![\p{L}\p{N}])[‘'`]{1,2}\s?([^'’`‘]{1,200}?)\s?['’]{1,2}(?![\p{L}\p{N}])/gu

export function recogniseQuoted(text: string): Recognised[] {
  return Array.from(text.matchAll(quoted), (match) => {
    const inside = match[1] ?? match[2] ?? match[3] ?? match[4] ?? ''
    const start = match.index + match[0].indexOf(inside)
    return { kind: 'text' as const, start, end: start + inside.length, value: inside.trim(), unit: null }
  }).filter(({ value }) => value !== '')
}

const figures = /(?<![\p{L}\p{N}_.-])\d[\d/.-]{1,38}\d(?![\p{L}\p{N}_])/gu

/** Digits that some slot may have a pattern for: an ISBN, the number of a meter. */
export function recogniseFigures(text: string): Recognised[] {
  return asWritten(text, figures)
}

function asWritten(text: string, pattern: RegExp): Recognised[] {
  return Array.from(text.matchAll(pattern), ({ 0: value, index: start }) => {
    return { kind: 'text', start, end: start + value.length, value, unit: null }
  })
}

// Letters and digits mixed, or joined by - _ / : an order number, a SKU, an e-mail address, a UUID.
const identifier =
  /(?<![\p{L}\p{N}_])(?:[\w.+-]+@[\w-]+(?:\.[\w-]+)+|(?=[\w/-]*\d)(?=[\w/-]*[A-Za-z])[A-Za-z0-9]+(?:[-_/][A-Za-z0-9]+)*)(?![\p{L}\p{N}_])/gu

const measured = new RegExp(`^(?:\\d+-)?\\d+(?:st|nd|rd|th|k|m|b|am|pm|h|e\\d{1,3}|${gluedUnits})$`, 'i')

export function recogniseIdentifiers(text: string): Recognised[] {
  return asWritten(text, identifier).filter(({ value }) => !measured.test(String(value)))
}

const clock =
  /(?<![\p{L}\p{N}:.])(?:(?<hour>[01]?\d|2[0-3]):(?<minute>[0-5]\d)(?::(?<second>[0-5]\d))?\s?(?<half>[ap]\.?m\b\.?)?|(?<bare>1[0-2]|[1-9])\s?(?<bareHalf>[ap]\.?m\b\.?)|(?<word>noon|midnight)(?![\p{L}]))/giu

export function recogniseTimes(text: string): Recognised[] {
  const found: Recognised[] = []
  for (const match of text.matchAll(clock)) {
    const { hour, minute = '00', second = '00', half, bare, bareHalf, word } = match.groups ?? {}
    const named = word?.toLowerCase() === 'noon' ? 12 : 0
    const given = Number(hour ?? bare ?? named)
    const part = fold(half ?? bareHalf ?? '').charAt(0)
    const hours = part === 'p' && given < 12 ? given + 12 : part === 'a' && given === 12 ? 0 : given
    const end = match.index + match[0].trimEnd().length
    found.push(timeAt({ start: match.index, end, hours, rest: `${minute}:${second}` }))
    found.push(...bareEnds(text, { start: match.index, end, hours }))
  }
  return [...found, ...hourRanges(text)]
}

type Clock = { start: number; end: number; hours: number; rest?: string }

function timeAt({ start, end, hours, rest = '00:00' }: Clock): Recognised {
  return { kind: 'time', start, end, value: `${String(hours).padStart(2, '0')}:${rest}`, unit: null }
}

const bareBefore =
  /(?:\b(?<opening>between|from)\s+)?(?<![\p{L}\p{N}:.,$€£-])(?<hour>\d{1,2})(?<join>\s*(?:to|until|till|-|–|and)\s*)$/iu
const bareAfter = new RegExp(
  String.raw`^\s*(?<join>to|until|till|-|\u2013|and)\s*(?<hour>\d{1,2})(?![\p{L}\p{N}:%/-]|[.,]\d|\s*(?:[ap]\.?m\b|st\b|nd\b|rd\b|th\b|of\b|${anyMonth}))`,
  'iu',
)
const opened = /\b(?:between|from)\s+$/iu

/** The "5" of "from 5 to 9 pm" and the "9" of "between 6:30 and 9": an hour because the other end is a time. */
function bareEnds(text: string, { start, end, hours }: Clock): Recognised[] {
  const before = bareBefore.exec(text.slice(Math.max(0, start - 24), start))?.groups
  const after = bareAfter.exec(text.slice(end))
  const first = Number(before?.['hour'] ?? NaN)
  const last = Number(after?.groups?.['hour'] ?? NaN)
  const found: Recognised[] = []
  const isOpened = before?.['opening'] !== undefined || !/and/iu.test(before?.['join'] ?? '')
  if (before !== undefined && isOpened && first < 24) {
    const from = start - (before['join'] ?? '').length - (before['hour'] ?? '').length
    // "11 to 1 pm" begins in the morning.
    const isLate = first < 12 && first + 12 < hours
    found.push(timeAt({ start: from, end: from + (before['hour'] ?? '').length, hours: isLate ? first + 12 : first }))
  }
  if (after !== null && last < 24 && (opened.test(text.slice(0, start)) || after.groups?.['join'] !== 'and')) {
    const to = end + after[0].length
    const late = last < hours && last < 12 ? last + 12 : last
    found.push(timeAt({ start: to - (after.groups?.['hour'] ?? '').length, end: to, hours: late }))
  }
  return found
}

const inHours = /(?<![\p{L}\p{N}:.,-])(?<first>\d{1,2})\s?[-–]\s?(?<last>\d{1,2})\s?h\b/giu

/** "17-21h" */
function hourRanges(text: string): Recognised[] {
  return Array.from(text.matchAll(inHours)).flatMap((match) => {
    const { first = '', last = '' } = match.groups ?? {}
    if (Number(first) >= Number(last) || Number(last) > 23) return []
    const from = match.index + match[0].lastIndexOf(last)
    return [
      timeAt({ start: match.index, end: match.index + first.length, hours: Number(first) }),
      timeAt({ start: from, end: match.index + match[0].length, hours: Number(last) }),
    ]
  })
}
