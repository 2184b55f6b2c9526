/**
 * The ways a question can end once queries have been compared, in the order in which they are tried: the first that
 * holds ends it. `server/router/decision/verdicts.ts` says when each holds, the guide on scoring lists them.
 */
export const verdictMeanings = {
  own_wording: 'It is an example of the query but for its values, or people have said that it means the query.',
  little_in_common: 'Alone, the router finds too little that speaks for the nearest query.',
  opposed: 'The query means the opposite, or was reported as the wrong answer to such a question.',
  tied: 'Alone, the router cannot tell two queries apart.',
  period_end: 'Its SQL would lose a part of the period that the question names.',
  missing_value: 'A slot lacks its value, or the question says of it what the slot cannot take.',
  doubted_value: 'Words that look like a value which no slot has, and the reader finds that nothing expresses them.',
  nearest_opposed: 'The share is too low, and the nearest query means the opposite.',
  far: 'The share is too low, and no query comes near.',
  left_out: 'The share is too low: the nearest query leaves out a part of the question.',
  tied_when_read: 'Neither the router nor the reader can tell two queries apart.',
  unsure: 'The share is below the least confidence of the project.',
  may_leave_out: 'The query may leave out a part of the question: the answer says which words.',
  whole: 'The query answers the whole question.',
} as const

export type VerdictName = keyof typeof verdictMeanings
export const verdictNames = Object.keys(verdictMeanings) as [VerdictName, ...VerdictName[]]
