import type { ParsingComponents, ParsingContext, ParsingResult, Refiner } from 'chrono-node'
import { day } from './calendar.ts'
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
      if (!/[a-z]|[/.-]/i.test(text)) return []
      if (namesDay(start)) return [result]
      return end && namesDay(end) ? [context.createParsingResult(index, text, end)] : []
    }),
}

const saidToCome = /\b(?:next|this|coming)\b/iu

/** "March", asked in November, is the one that was. */
export const pastDays: Refiner = {
  refine: (context, results) => {
    const today = todayIn(context)
    for (const result of results) {
      const { index, text, start, end } = result
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

function moveBack(parts: ParsingComponents, isWeekday: boolean): void {
  const [year, month, date] = [parts.get('year') ?? 0, parts.get('month') ?? 1, parts.get('day') ?? 1]
  const back = isWeekday ? dateParts(day(year, month - 1, date - 7)) : { year: year - 1, month, day: date }
  parts.imply('year', back.year).imply('month', back.month).imply('day', back.day)
}

const dayBeside = /(?<![\p{L}\p{N}.,-])(?<date>\d{1,2})(?:st|nd|rd|th)?(?<join>\s*(?:,|&|and|or)\s*(?:the\s+)?)$/iu

const opened = /\bbetween\s+(?:the\s+)?$/iu

/** The 4th of "on 4 and 5 May". */
export const daysBeside: Refiner = {
  refine: (context, results) =>
    withMore(
      results,
      results.flatMap((result) => beside(context, result)),
    ),
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

const bareYear = /(?<![\p{L}\p{N}.,$€£-])(?:(?<short>['’]\d{2})|(?:19|20)\d{2})(?![\p{L}\p{N}%]|[.,-]\d)/gu

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
