import { recogniseNumbers } from './recognise.ts'
import type { Linked, Span } from './span.ts'
import { words } from './words/text.ts'
import { gluedUnits, unitOf, type Unit } from './words/units.ts'

const sign = /[€$£%]|(?:per ?cent|euros?|dollars?|pounds?|quid|usd|eur|gbp)$/iu
const glued = new RegExp(`^(?:${gluedUnits})(?![\\p{L}\\p{N}])`, 'iu')

// Units of several words, of which the first alone is another.
const phrases: Array<[unit: string, said: RegExp]> = [
  ['km/h', /^\s?(?:km\/h|km per h|kilomet(?:re|er)s? (?:per|an) hour)\b/iu],
  ['m/s', /^\s?(?:m\/s|met(?:re|er)s? (?:per|a) second)\b/iu],
  ['mph', /^\s?miles? (?:per|an) hour\b/iu],
  ['kwh', /^\s?kilowatt[ -]hours?\b/iu],
  ['mwh', /^\s?megawatt[ -]hours?\b/iu],
]

/** Unit of a span's number, by its sign or the word behind it. */
export function unitAt(
  { text, words }: Pick<Linked, 'text' | 'words'>,
  { start, end, from, to, unit }: Span,
): Unit | null {
  if (unit !== undefined) return unit
  const said = text.slice(start, end)
  const own =
    sign.exec(said)?.[0].toLowerCase().replace(' ', '') ??
    glued.exec(text.slice(end))?.[0].toLowerCase() ??
    phrases.find(([, phrase]) => phrase.test(text.slice(end)))?.[0]
  if (own !== undefined) return unitOf(own)
  const [before, next] = [words[from - 1], words[to]]
  const isBeside = next !== undefined && /^\+?[\s-]*$/.test(text.slice(end, next.start))
  // Behind a number "min" is no minimum.
  const behind = isBeside ? unitOf(next.text === 'min' ? 'mins' : next.text) : null
  const ahead = before !== undefined && currency.test(before.text) && /^\s*$/.test(text.slice(before.end, start))
  return behind ?? (ahead ? unitOf(before.text) : null)
}

/** "EUR 500" */
const currency = /^(?:eur|usd|gbp|euro)$/u

/** Unit of a number in a text: the minutes of "longer than 90 minutes". */
export function unitBeside(text: string, value: number): Unit | null {
  const found = recogniseNumbers(text).find((each) => each.value === value)
  if (found === undefined) return null
  const all = words(text)
  const to = all.findLastIndex((word) => word.start < found.end) + 1
  const place = { from: to - 1, to, start: found.start, end: found.end, readings: [], weak: false }
  return unitAt({ text, words: all }, { ...place, ...(found.counts === undefined ? {} : { unit: found.counts }) })
}
