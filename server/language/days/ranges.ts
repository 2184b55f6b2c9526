import type { ParsingContext, ParsingResult, Refiner } from 'chrono-node'
import { day } from './calendar.ts'
import { between, firstDay, lastDay, onDay, dateParts } from './components.ts'

const joining = /^\s*(?:and|to|until|till|through|thru|-|–|\.{2,3})\s*(?:the\s+)?$/iu
const opening = /\b(?:between|from)\s*(?:the\s+)?$/iu

/**
 * "between January and April 2025", "from last month to the 5th": two days become one stretch. The library joins only
 * single days, and never by "and".
 */
export const ranges: Refiner = {
  refine: (context, results) => {
    const joined: ParsingResult[] = []
    for (const each of results) {
      const before = joined.at(-1)
      if (before !== undefined && isRange(context.text, before, each))
        joined.splice(-1, 1, joinedTo(context, before, each))
      else joined.push(each)
    }
    return joined
  },
}

const listing = /^\s*(?:,|&|\/|-|,?\s*\b(?:and|or|to|vs\.?|versus|until|till|through)\b)\s*(?:the\s+)?$/iu

/** "Q1 and Q2 2025", "November and December 2025": the year that the last of them names is that of the others. */
export const yearsOfLists: Refiner = {
  refine: (context, results) => {
    for (let at = results.length - 2; at >= 0; at -= 1) {
      const [each, next] = [results[at], results[at + 1]]
      if (each === undefined || next === undefined || !listing.test(between(context.text, each, next))) continue
      if (!each.start.isDateWithUnknownYear() || !next.start.isCertain('year')) continue
      const first = firstDay(each)
      const away = inYearOf(next, first).getUTCFullYear() - first.getUTCFullYear()
      for (const parts of each.end ? [each.start, each.end] : [each.start]) {
        parts.assign('year', (parts.get('year') ?? 0) + away)
      }
    }
    return results
  },
}

function isRange(text: string, before: ParsingResult, each: ParsingResult): boolean {
  const join = between(text, before, each)
  // An interval as ISO writes it.
  if (join === '/') return [before, each].every(({ text: said }) => /^\d{4}-\d{2}-\d{2}$/.test(said))
  return joining.test(join) && (!/and/i.test(join) || opening.test(text.slice(0, before.index)))
}

function joinedTo(context: ParsingContext, before: ParsingResult, each: ParsingResult): ParsingResult {
  const first = before.start.isDateWithUnknownYear() ? inYearOf(each, firstDay(before)) : firstDay(before)
  // Days named in reverse order mean the same days.
  const [from, to] = first > lastDay(each) ? [firstDay(each), lastDay(before)] : [first, lastDay(each)]
  return context.createParsingResult(
    before.index,
    each.index + each.text.length,
    onDay(before.start, from),
    onDay(each.end ?? each.start, to),
  )
}

/** A day without its year belongs to the year of the day it leads to, or, where that would be later, to the one before. */
function inYearOf(next: ParsingResult, first: Date): Date {
  const { month, day: date } = dateParts(first)
  const { year: named, month: nextMonth } = dateParts(firstDay(next))
  const guess = next.start.isCertain('year') ? day(named, month - 1, date) : first
  return guess <= firstDay(next) ? guess : day(named - (month > nextMonth ? 1 : 0), month - 1, date)
}
