import type { Component, ParsedComponents, ParsingComponents, ParsingContext, ParsingResult } from 'chrono-node'
import { day } from './calendar.ts'

// Tags that results carry beyond their days. The library's own tag keeps it from joining a weekday with them.
const relativeTag = 'result/relativeDate'
const ownTag = 'days/own'
const periodTag = 'days/period'
const countedTag = 'days/counted'
const dayFirstTag = 'days/day-first'
const openTag = 'days/open:'
const unrealTag = 'days/unreal:'

/** Midnight UTC of the day the question is asked on. */
export function todayIn({ refDate }: ParsingContext): Date {
  return day(refDate.getFullYear(), refDate.getMonth(), refDate.getDate())
}

export function dateParts(date: Date): { year: number; month: number; day: number } {
  return { year: date.getUTCFullYear(), month: date.getUTCMonth() + 1, day: date.getUTCDate() }
}

/** The first and the last day of what was named: a month or a year without a day means all of it. */
function boundsOf(parts: ParsedComponents): [Date, Date] {
  const [year, month, date] = [parts.get('year') ?? 1970, (parts.get('month') ?? 1) - 1, parts.get('day') ?? 1]
  if (parts.isCertain('day') || parts.isCertain('weekday')) return [day(year, month, date), day(year, month, date)]
  if (parts.isCertain('month')) return [day(year, month, 1), day(year, month + 1, 0)]
  return parts.isCertain('year')
    ? [day(year, 0, 1), day(year, 11, 31)]
    : [day(year, month, date), day(year, month, date)]
}

type Said = { start: ParsedComponents; end?: ParsedComponents | null }

export function firstDay({ start }: Said): Date {
  return boundsOf(start)[0]
}

export function lastDay({ start, end }: Said): Date {
  return boundsOf(end ?? start)[1]
}

const dayParts: Component[] = ['day', 'weekday', 'month', 'year']

export function namesDay(parts: ParsedComponents): boolean {
  return dayParts.some((part) => parts.isCertain(part))
}

/** One name for several days ("last month"), unlike two days that were said to be a stretch ("from May to July"). */
export function asPeriod(result: ParsingResult): ParsingResult {
  return result.addTags([periodTag, relativeTag])
}

export function isPeriod(parts: ParsedComponents): boolean {
  return parts.tags().has(periodTag)
}

/** One end of a stretch, on another day: it is no period of its own any more. */
export function onDay(parts: ParsingComponents, date: Date): ParsingComponents {
  const { year, month, day: ofMonth } = dateParts(date)
  const tags = [...parts.tags()].filter((tag) => tag !== periodTag)
  return parts.clone().assign('year', year).assign('month', month).assign('day', ofMonth).addTags(tags)
}

/** A part of a year that was named without it: beside another day it may be of that day's year. */
export function withoutYear(result: ParsingResult): ParsingResult {
  for (const parts of [result.start, result.end ?? result.start]) {
    const year = parts.get('year') ?? 0
    parts.delete('year')
    parts.imply('year', year)
  }
  return result
}

/** Counted from today. */
export function asRelative(result: ParsingResult): ParsingResult {
  return result.addTag(relativeTag)
}

/** Hours that were counted from now ("the last 24 hours"), not named. */
export function asCounted(result: ParsingResult): ParsingResult {
  return result.addTags([countedTag, relativeTag])
}

export function isCounted(parts: ParsedComponents): boolean {
  return parts.tags().has(countedTag)
}

/**
 * A day that the calendar does not have, as it was written. The library drops what is no date and forgets tags where it
 * joins a weekday with a day: so the month is a real one, and the day inside it is not certain.
 */
export function unreal(context: ParsingContext, written: string, near: Date): ParsingComponents {
  const { year, month } = dateParts(near)
  return context
    .createParsingComponents({ year, month })
    .imply('day', 1)
    .addTag(unrealTag + written)
}

/** Figures of which the first is the day, though the library would take it for the month. */
export function asDayFirst(result: ParsingResult): ParsingResult {
  return result.addTag(dayFirstTag)
}

/** How a word before a day opens it: "since" and "until" have the day itself. */
export type Opening = 'since' | 'after' | 'until' | 'before'

/** Words of another language have opened it. */
export function asOpen(result: ParsingResult, opening: Opening): ParsingResult {
  return result.addTag(openTag + opening)
}

export function openingOf(tags: Set<string>): Opening | null {
  const said = [...tags].find((tag) => tag.startsWith(openTag))?.slice(openTag.length)
  return (said as Opening | undefined) ?? null
}

/** Marks a result as read by our parsers, not the library's. */
export function asOwn(result: ParsingResult): ParsingResult {
  return result.addTag(ownTag)
}

export function isOwn({ start }: ParsingResult): boolean {
  return start.tags().has(ownTag)
}

/** Whether the words can be nothing else, whatever the library reads there and around. */
export function isSettled({ start }: ParsingResult): boolean {
  const tags = start.tags()
  return tags.has(dayFirstTag) || unrealOf(tags) !== null
}

export function unrealOf(tags: Set<string>): string | null {
  return [...tags].find((tag) => tag.startsWith(unrealTag))?.slice(unrealTag.length) ?? null
}

type TextMatch = { index: number; text: string }

export function overlaps(one: TextMatch, other: TextMatch): boolean {
  return one.index < endOf(other) && other.index < endOf(one)
}

export function endOf({ index, text }: TextMatch): number {
  return index + text.length
}

/** Text between two results; where they do not follow each other, a text that no such pattern matches. */
export function between(text: string, one: TextMatch, other: TextMatch): string {
  return endOf(one) <= other.index ? text.slice(endOf(one), other.index) : '?'
}
