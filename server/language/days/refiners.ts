import type { ParsingComponents, ParsingContext, ParsingResult, Refiner } from 'chrono-node'
import { anyMonth, day, monthNames } from './calendar.ts'
import { firstDay, lastDay, namesDay, overlaps, dateParts, todayIn } from './components.ts'
import { isComing } from './is-coming.ts'

/**
 * Hours without a day are read elsewhere, and a lone number such as "325" must not become a date. Where an hour leads to
 * a day ("noon to 2025-03-04"), the day is left.
 */
export const daysOnly: Refiner = {
  refine: (context, results) =>
    results.flatMap((result) => {
      const { index, text, start, end } = result
      if (!/[a-z]|[/.-]/i.test(text) || isOtherWord(context.text, result)) return []
      if (namesDay(start)) return [result]
      return end && namesDay(end) ? [context.createParsingResult(index, text, end)] : []
    }),
}

const shortWeekday = /^(?:sat|sun|wed)$/u
// "Mon–Sun": which days of any week, not those of one.
const weekdays =
  /^(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*\.?\s?[-\u2010-\u2015]\s?(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*$/iu
const lapse = /^in (?:an?|one|\d+|[a-z]+) [a-z]+$/iu
const notYet = /\b(?:not|never|nothing|nobody|(?:has|have|had)n['’]?t)\b/iu

/** "Cars that sat there"; and "nothing heard in a week" looks back at a stretch, not ahead at a day. */
function isOtherWord(whole: string, { index, text }: ParsingResult): boolean {
  if (weekdays.test(text)) return true
  if (lapse.test(text)) return notYet.test(whole.slice(0, index))
  return (
    shortWeekday.test(text) &&
    /\p{L}\s+$/u.test(whole.slice(0, index)) &&
    /^\s+(?!(?:and|or|to|until|till|morning|afternoon|evening|night)\b)\p{Ll}/u.test(whole.slice(index + text.length))
  )
}

const saidToCome = /\b(?:next|this|coming)\b/iu

/** "March", asked in November, is the one that was. */
export const pastDays: Refiner = {
  refine: (context, results) => {
    const today = todayIn(context)
    for (const result of results) {
      const { index, text, start, end } = result
      // "Next October", asked in November, is a year away.
      if (isNext.test(context.text.slice(0, index)) && lastDay(result) < today) moveYear(result, 1)
      if (isComing(context.text, index) || saidToCome.test(text)) continue
      const isWeekday = start.isOnlyWeekdayComponent()
      const isYearNamed = start.isCertain('year') || end?.isCertain('year') === true
      if (firstDay(result) > today && !isYearNamed && (isWeekday || start.isCertain('month'))) {
        // Both ends of "from 3 to 9 December" are of the same year.
        for (const each of end ? [start, end] : [start]) moveBack(each, isWeekday)
      } else if (end?.isOnlyWeekdayComponent() === true && lastDay(result) > today && firstDay(result) < today) {
        moveBack(end, true)
      }
    }
    return results
  },
}

const isNext = /\bnext\s+$/iu

function moveYear({ start, end }: ParsingResult, by: number): void {
  for (const parts of end ? [start, end] : [start]) parts.imply('year', (parts.get('year') ?? 0) + by)
}

function moveBack(parts: ParsingComponents, isWeekday: boolean): void {
  const [year, month, date] = [parts.get('year') ?? 0, parts.get('month') ?? 1, parts.get('day') ?? 1]
  const back = isWeekday ? dateParts(day(year, month - 1, date - 7)) : { year: year - 1, month, day: date }
  parts.imply('year', back.year).imply('month', back.month).imply('day', back.day)
}

const dayBeside =
  /(?<![\p{L}\p{N}.,-])(?<date>\d{1,2})(?:st|nd|rd|th)?(?<join>\s*(?:,|&|\/|,?\s*\b(?:and|or)\b)\s*(?:the\s+)?)$/iu

const opened = /\bbetween\s+(?:the\s+)?$/iu

/** The 4th of "on 4 and 5 May". */
export const daysBeside: Refiner = {
  refine: (context, results) =>
    withMore(
      results,
      results.flatMap((result) => [...allBeside(context, result), ...after(context, result)]),
    ),
}

/** The 1st and the 3rd of "1, 3 and 5 November". */
function allBeside(context: ParsingContext, result: ParsingResult): ParsingResult[] {
  const [before] = beside(context, result)
  return before === undefined ? [] : [...allBeside(context, before), before]
}

const dayAfterwards =
  /^(?<join>\s*(?:,|&|\/|,?\s*\b(?:and|or)\b)\s*(?:the\s+)?)(?<date>\d{1,2})(?:st|nd|rd|th)?(?=\s*(?:$|[?.!;]))/iu

/** The 6th of "on November 2 and 6". */
function after(context: ParsingContext, result: ParsingResult): ParsingResult[] {
  const { year, month, day: date } = dateParts(lastDay(result))
  const isOneDay = firstDay(result).getTime() === lastDay(result).getTime()
  const end = result.index + result.text.length
  const match = isOneDay && /^\p{L}/u.test(result.text) ? dayAfterwards.exec(context.text.slice(end)) : null
  const { date: said = '', join = '' } = match?.groups ?? {}
  const on = day(year, month - 1, Number(said))
  if (match === null || !result.start.isCertain('month') || on.getUTCDate() !== Number(said) || Number(said) <= date)
    return []
  return [context.createParsingResult(end + join.length, end + match[0].length, dateParts(on))]
}

function beside(context: ParsingContext, result: ParsingResult): ParsingResult[] {
  const { year, month, day: date } = dateParts(firstDay(result))
  const isOneDay = firstDay(result).getTime() === lastDay(result).getTime()
  const match = isOneDay && /^\d/.test(result.text) ? dayBeside.exec(context.text.slice(0, result.index)) : null
  const { date: said = '', join = '' } = match?.groups ?? {}
  // "between 28 and 5 May" begins in April.
  const isBefore = Number(said) >= date && opened.test(context.text.slice(0, match?.index ?? 0))
  const on = day(year, month - (isBefore ? 2 : 1), Number(said))
  if (match === null || on.getUTCDate() !== Number(said) || (Number(said) >= date && !isBefore)) return []
  const parts = context.createParsingComponents(dateParts(on))
  if (!result.start.isCertain('year')) {
    parts.delete('year')
    parts.imply('year', on.getUTCFullYear())
  }
  return [context.createParsingResult(match.index, result.index - join.length, parts)]
}

const shortMonth = new RegExp(
  `(?<![\\p{L}\\p{N}-])(?<month>${anyMonth})(?:t(?<=sept)|[a-z]{2,6})?\\.?(?:,?\\s*['’](?<short>\\d{2})|,?\\s+(?<year>(?:19|20)\\d{2}))?(?![\\p{L}\\p{N}]|\\s?\\d)`,
  'giu',
)
const monthJoin = '(?:-|\\/|,|&|\\b(?:and|to|until|till|through|thru|or|vs\\.?|versus)\\b)'
const beforeMonth = new RegExp(
  `(?:\\b(?:in|of|since|from|until|till|through|between|before|after|by|during|last|this|next)|\\b(?:${anyMonth})[a-z]{0,6}\\.?\\s*${monthJoin})\\s*$`,
  'iu',
)
const afterMonth = new RegExp(`^\\s*(?:${monthJoin}\\s*(?:${anyMonth})[a-z]{0,6}|to[\\s-]date)\\b`, 'iu')

/**
 * "Jan" of "Jan-Mar 2026", "Oct '25", "since May": the library takes short names of months for other words unless a day
 * is beside, and its own filters would drop them.
 */
export const bareMonths: Refiner = {
  refine: (context, results) =>
    withMore(
      results,
      Array.from(context.text.matchAll(shortMonth)).flatMap((match) => monthAt(context, match)),
    ),
}

function monthAt(context: ParsingContext, match: RegExpExecArray): ParsingResult[] {
  const { month: said = '', short, year } = match.groups ?? {}
  const { text } = context
  const isDated =
    beforeMonth.test(text.slice(0, match.index)) || afterMonth.test(text.slice(match.index + match[0].length))
  const isNamed = (year ?? short) !== undefined
  // "Marketing" begins as March does.
  if ((match[0].length > 4 && short === undefined) || (!isDated && !isNamed)) return []
  const at = monthNames.indexOf(said.toLowerCase()) + 1
  const parts = context.createParsingComponents({ month: at }).imply('day', 1)
  if (isNamed) parts.assign('year', Number(year ?? `20${short}`))
  return [context.createParsingResult(match.index, match[0].trimEnd(), parts)]
}

const bareYear = /(?<![\p{L}\p{N}.,$€£/-])(?:(?<short>['’]\d{2})|(?:19|20)\d{2})(?![\p{L}\p{N}%]|[.,/-]\d|[/-]\p{L})/gu

/** A year alone; the library's own filters would drop it as a number, so it joins the results after them. */
export const bareYears: Refiner = {
  refine: (context, results) =>
    withMore(
      results,
      Array.from(context.text.matchAll(bareYear), ({ index, 0: said }) =>
        context.createParsingResult(index, said, { year: Number(said.replace(/^['’]/u, '20')) }),
      ),
    ),
}

function withMore(results: ParsingResult[], more: ParsingResult[]): ParsingResult[] {
  const free = more.filter((each) => !results.some((other) => overlaps(each, other)))
  return [...results, ...free].sort((a, b) => a.index - b.index)
}
