import { anyMonth, day, iso, monthNames } from './calendar.ts'

/** A stretch of days in a text, before it is known what the words around say of it. */
export type Found = {
  start: number
  end: number
  first: Date
  last: Date
  time?: string
  /** The hour at which a stretch ends. */
  endTime?: string
  /** Its hours were counted from now. */
  isCounted?: boolean
  range?: boolean
  /** Its year was not named but guessed. */
  isAnyYear?: boolean
  /** As it was written, where the calendar has no such day. */
  unreal?: string
}

const isoDay = /(?<!\d)(\d{4})-(\d{2})-(\d{2})(?!\d)/gu
const isoMonth = /(?<![\d-])((?:19|20)\d{2})-(0[1-9]|1[0-2])(?![\d-])/gu
// Days are first between dots everywhere, between slashes only where some day says so.
const dottedDay = /(?<![\d.])(\d{1,2})\.\s?(\d{1,2})\.\s?((?:19|20)\d{2})(?!\d)/gu
const slashedDay = /(?<![\d/])(\d{1,2})\/(\d{1,2})\/((?:19|20)\d{2})(?![\d/])/gu
const monthWord = `(?<month>${anyMonth})[a-z]{0,6}\\.?`
const namedDay = [
  `(?<date>\\d{1,2})(?:st|nd|rd|th)?(?:\\s+of)?\\s+${monthWord}`,
  `${monthWord}\\s+(?<date>\\d{1,2})(?:st|nd|rd|th)?`,
].map(
  (written) =>
    new RegExp(`(?<![\\p{L}\\p{N}])${written}(?![\\p{L}\\p{N}])(?:,?\\s+(?<year>(?:19|20)\\d{2})(?!\\d))?`, 'giu'),
)

/** Days in figures, and named ones that the calendar does not have: a parser would make another day of them. */
export function writtenDays(text: string): Found[] {
  const at = (match: RegExpExecArray): Pick<Found, 'start' | 'end'> => {
    return { start: match.index, end: match.index + match[0].length }
  }
  const figures = Array.from(text.matchAll(isoDay), (match): Found => {
    const on = day(Number(match[1]), Number(match[2]) - 1, Number(match[3]))
    return { ...at(match), first: on, last: on, ...(iso(on) === match[0] ? {} : { unreal: match[0] }) }
  })
  const named = namedDay.flatMap((written) =>
    Array.from(text.matchAll(written)).flatMap((match): Found[] => {
      const { date, month = '', year = '2024' } = match.groups ?? {}
      const on = day(Number(year), monthNames.indexOf(month.toLowerCase()), Number(date))
      const isUnreal = Number(date) > 28 && Number(date) < 32 && on.getUTCDate() !== Number(date)
      return isUnreal ? [{ ...at(match), first: on, last: on, unreal: match[0] }] : []
    }),
  )
  const dayFirst = dayFirstDays(text).map((match): Found => {
    const [said, first, second, year] = match
    const on = day(Number(year), Number(second) - 1, Number(first))
    const isReal = on.getUTCDate() === Number(first) && on.getUTCMonth() === Number(second) - 1
    return { ...at(match), first: on, last: on, ...(isReal ? {} : { unreal: said }) }
  })
  const months = Array.from(text.matchAll(isoMonth), (match): Found => {
    const [year, month] = [Number(match[1]), Number(match[2])]
    return { ...at(match), first: day(year, month - 1, 1), last: day(year, month, 0) }
  })
  return [...figures, ...dayFirst, ...months, ...named]
}

/** Days of which the first figure is the day, though the parser would take it for the month. */
export function dayFirstDays(text: string): RegExpExecArray[] {
  const dotted = [...text.matchAll(dottedDay)].filter((match) => Number(match[2]) <= 12)
  const slashed = [...text.matchAll(slashedDay)]
  const isDayFirst = slashed.some((match) => Number(match[1]) > 12 && Number(match[2]) <= 12)
  return [...dotted, ...(isDayFirst ? slashed : [])]
}
