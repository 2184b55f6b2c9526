import { verdictNames } from '../../../api/verdicts.ts'

/**
 * Decisions by a written rule rather than by something learned. The benchmark alone can switch each off in an index:
 * `npm run bench -- trust <folder> --rules` prints what each of them saves.
 */
export const ruleNames = [
  'spelling',
  'parts of names',
  'commands',
  'other end of an order',
  'contrary of a query',
  'count of a list',
  'direction of a bound',
  'values left out',
  'value left out beside',
  'other unit',
  'out of bounds',
  'day of the calendar',
  'unknown value',
  'one of several',
  'two stretches',
  'turned range',
  'hour of a day',
  'stretch for one day',
  'stretch for one end',
  'part of a year',
  'part of a month',
  'unread days',
  'year is no number',
  'number inside a day',
  'second look',
  ...verdictNames,
] as const

export type RuleName = (typeof ruleNames)[number]
