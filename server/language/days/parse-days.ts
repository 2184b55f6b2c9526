import { createRequire } from 'node:module'
import type * as ChronoNode from 'chrono-node'
import type { Chrono, ParsedResult } from 'chrono-node'
import { anyMonth } from './calendar.ts'
import { languageOf, type Language } from '../words/language.ts'
import { betweenHours, daysAfterJoins, hoursBesidePeriods, minutesAreNoDays, zonesOfHours } from './hours.ts'
import { monthsOf, stretchesOf, wholePeriods } from './other-languages.ts'
import { ownDays } from './own-days.ts'
import { partsOfPeriods, toDates, unsaidDays, yearsBeside } from './parts.ts'
import { countedHours, periods } from './periods.ts'
import { ranges, yearsOfLists } from './ranges.ts'
import { bareMonths, bareYears, daysBeside, daysOnly, pastDays } from './refiners.ts'
import { weeks } from './weeks.ts'
import { writtenDays } from './written-days.ts'

// Parsing costs more than all other recognisers together: most questions name no day, and this finds out at once.
const dayWord = new RegExp(
  String.raw`\d|day|night|noon|morning|morrow|tmr|evening|week|month|quarter|year|hour|ago|now|to.date|\b(?:[wmqy]td|wk|mo|mth|qtr|yr)s?\b|\beve\b|halloween|${anyMonth}|\b(?:mon|tue|wed|thu|fri|sat|sun)\b`,
  'iu',
)

const require = createRequire(import.meta.url)
let loaded: typeof ChronoNode | undefined

/** Loaded for the first text that names a day: its 266 modules are a tenth of what a start would load. */
function chrono(): typeof ChronoNode {
  loaded ??= require('chrono-node') as typeof ChronoNode
  return loaded
}

/**
 * The days of a text whose spaces were squeezed, for a caller whose clocks show `local`. In English, unless the words
 * around the days speak for another language and more of the text is read so: a short English question that looks like
 * another language does not lose its days.
 */
export function parseDays(text: string, local: Date, isStrange?: (word: string) => boolean): ParsedResult[] {
  const language = languageOf(text, isStrange)
  const english = dayWord.test(text) ? parse(chrono().en.casual, text, local) : []
  if (language === null || language === 'other') return english
  const other = numbersIn(text) <= maxNumbers ? parse(chrono()[language].casual, text, local, language) : []
  return wholePeriods(text, other.length > 0 && lettersIn(other) >= lettersIn(english) ? other : english)
}

/**
 * The library with our parsers and refiners. Of two results for the same words it keeps the first: our parsers stand
 * first. The refiners about hours come before its own, which join days with hours; the others after its last filter.
 */
function parse(casual: Chrono, text: string, local: Date, language?: Exclude<Language, 'other'>): ParsedResult[] {
  const reader = casual.clone()
  reader.parsers.unshift(...weeks, ...periods, countedHours(local), ...writtenDays, betweenHours)
  reader.refiners.unshift(unsaidDays, daysAfterJoins, minutesAreNoDays, ownDays, hoursBesidePeriods, zonesOfHours)
  if (language !== undefined) reader.parsers.unshift(...monthsOf(language))
  reader.refiners.push(
    daysOnly,
    bareMonths,
    pastDays,
    bareYears,
    yearsBeside,
    partsOfPeriods,
    daysBeside,
    yearsOfLists,
    ranges,
    toDates,
    ...(language === undefined ? [] : [stretchesOf(language)]),
  )
  // Noon, with the machine's own zone taken out: the library reads local fields of the date it is given.
  const noon = new Date(local.getUTCFullYear(), local.getUTCMonth(), local.getUTCDate(), 12)
  const known = text.replaceAll(anyDash, '-').replaceAll(throughDays, (said) => 'to'.padEnd(said.length))
  return reader.parse(known, noon, { forwardDate: false })
}

/** The library knows only some of them in some places. */
const anyDash = /[\u2010-\u2015]/gu
/** "November 2 through 6" would become hours. */
const throughDays = new RegExp(
  `(?<=\\b(?:${anyMonth})[a-z]{0,6}\\.?\\s+\\d{1,2}(?:st|nd|rd|th)?\\s)(?:through|thru|until|till)(?=\\s\\d{1,2}(?:st|nd|rd|th)?(?!\\d|\\s*[:ap]))`,
  'giu',
)

// The Dutch parser takes a quarter of a second for thirty numbers of days in a row.
const maxNumbers = 12

function numbersIn(text: string): number {
  return text.match(/\d+/gu)?.length ?? 0
}

function lettersIn(results: ParsedResult[]): number {
  return results.reduce((sum, { text }) => sum + text.length, 0)
}
