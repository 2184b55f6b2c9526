import type { Parser, ParsingContext, ParsingResult } from 'chrono-node'
import { asOwn, asPeriod, dateParts } from './components.ts'

type Read = (context: ParsingContext, match: RegExpExecArray) => ParsingResult | null

/**
 * A parser for the library. It runs patterns on what is left of the text after each match, where nothing stands before
 * the first letter: what was found is matched again in its place, so that a pattern can look at what precedes it.
 */
export function dayParser(pattern: RegExp, read: Read): Parser {
  const inPlace = new RegExp(pattern.source, `${pattern.flags}y`)
  return {
    pattern: () => pattern,
    extract: (context, { index = 0 }) => {
      inPlace.lastIndex = index
      const match = inPlace.exec(context.text)
      const result = match === null ? null : read(context, match)
      return result === null ? null : asOwn(result)
    },
  }
}

type DayMatch = Pick<RegExpExecArray, 'index' | 0>

export function oneDay(context: ParsingContext, { index, 0: said }: DayMatch, on: Date): ParsingResult {
  return context.createParsingResult(index, said, dateParts(on))
}

export function period(
  context: ParsingContext,
  { index, 0: said }: DayMatch,
  [first, last]: [Date, Date],
): ParsingResult {
  return asPeriod(context.createParsingResult(index, said, dateParts(first), dateParts(last)))
}
