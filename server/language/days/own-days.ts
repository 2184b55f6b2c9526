import type { ParsingResult, Refiner } from 'chrono-node'
import { between, endOf, isOwn, isSettled, overlaps } from './components.ts'

/**
 * Where the library reads a part of what we read, or crosses it ("2025 - 15.03" of "01.03.2025 - 15.03.2025"), it is
 * ours. What it reads as more than ours stays, unless ours can be nothing else: days first in figures, and days that do
 * not exist, which it would misread or drop together with the weekday before them.
 */
export const ownDays: Refiner = {
  refine: ({ text }, results) => {
    const own = results.filter((result) => isOwn(result))
    const isDisplaced = (result: ParsingResult, by: ParsingResult): boolean => {
      if (isSettled(by)) return overlaps(result, by) || isWeekdayBefore(text, result, by)
      return overlaps(result, by) && (result.index > by.index || endOf(result) < endOf(by))
    }
    return results.filter((result) => isOwn(result) || !own.some((by) => isDisplaced(result, by)))
  },
}

function isWeekdayBefore(text: string, result: ParsingResult, next: ParsingResult): boolean {
  return result.start.isOnlyWeekdayComponent() && /^,?\s*$/u.test(between(text, result, next))
}
