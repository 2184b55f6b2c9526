/**
 * What the router decides by a rule that somebody wrote, rather than by what was learned. Each can be switched off in an
 * index, by the benchmark alone: `npm run bench:trust -- <folder> --rules` prints what each of them saves.
 */
export const ruleNames = [
  'spelling',
  'parts of names',
  'commands',
  'other end of an order',
  'direction of a bound',
  'values left out',
  'value left out beside',
  'other unit',
  'out of bounds',
  'day of the calendar',
  'unknown value',
  'doubted value',
  'one of several',
  'two stretches',
  'turned range',
  'hour of a day',
  'stretch for one day',
  'stretch for one end',
  'part of a year',
  'unread month',
  'year is no number',
  'number inside a day',
  'second look',
] as const

export type RuleName = (typeof ruleNames)[number]
