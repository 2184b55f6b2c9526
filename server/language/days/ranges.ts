import type { ParsingContext, ParsingResult, Refiner } from 'chrono-node'
import { day } from './calendar.ts'
import { firstDay, lastDay, onDay, dateParts } from './components.ts'

const joining = /^\s*(?:and|to|until|till|through|thru|-|–)\s*(?:the\s+)?$/iu
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
      if (before !== undefined && isRange(context.text, before, each)) joined.splice(-1, 1, join(context, before, each))
      else joined.push(each)
    }
    return joined
  },
}

function isRange(text: string, before: ParsingResult, each: ParsingResult): boolean {
  const between = text.slice(before.index + before.text.length, each.index)
  return joining.test(between) && (!/and/i.test(between) || opening.test(text.slice(0, before.index)))
}

function join(context: ParsingContext, before: ParsingResult, each: ParsingResult): ParsingResult {
  const first = before.start.isDateWithUnknownYear() ? inYearOf(each, firstDay(before)) : firstDay(before)
  // Who names the later day first means the same days.
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
