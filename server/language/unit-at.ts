import { recogniseNumbers } from './recognise.ts'
import type { Linked, Span } from './span.ts'
import { words } from './words/text.ts'
import { gluedUnits, unitOf, type Unit } from './words/units.ts'

const sign = /[€$£%]|(?:per ?cent|euros?|dollars?|pounds?|quid|usd|eur|gbp)$/iu
const glued = new RegExp(`^(?:${gluedUnits})(?![\\p{L}\\p{N}])`, 'iu')

/** What the number of a span counts, by its sign or the word behind it. */
export function unitAt({ text, words }: Pick<Linked, 'text' | 'words'>, { start, end, to, unit }: Span): Unit | null {
  if (unit !== undefined) return unit
  const said = text.slice(start, end)
  const own = sign.exec(said)?.[0].toLowerCase().replace(' ', '') ?? glued.exec(text.slice(end))?.[0].toLowerCase()
  if (own !== undefined) return unitOf(own)
  const next = words[to]
  return next !== undefined && /^[\s-]*$/.test(text.slice(end, next.start)) ? unitOf(next.text) : null
}

/** What a text counts by a number: the minutes of "longer than 90 minutes". */
export function unitBeside(text: string, value: number): Unit | null {
  const found = recogniseNumbers(text).find((each) => each.value === value)
  if (found === undefined) return null
  const all = words(text)
  const to = all.findLastIndex((word) => word.start < found.end) + 1
  const place = { from: to - 1, to, start: found.start, end: found.end, readings: [], weak: false }
  return unitAt({ text, words: all }, { ...place, ...(found.counts === undefined ? {} : { unit: found.counts }) })
}
