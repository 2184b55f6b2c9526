import type { Constants, ReadName, UnreadName } from '../learned/router-constants.ts'

/** What is known of an answer before it is given. */
export type AnswerSigns = {
  /** How far the router's own evidence lies above where the project stops answering. */
  lead: number
  /** The reader's logit; null where it has not read the question. */
  match: number | null
  /** How far the reader puts the query ahead of the next it has read; null where it has read no other. */
  ahead: number | null
  /** How far the router puts the query ahead of the next; null where there is no other. */
  margin: number | null
  /** Whether a value of the question fills no slot. */
  hasUnused: boolean
}

const clip = (value: number, least: number, most: number): number => Math.min(most, Math.max(least, value))

/** Beyond these the signs say no more. */
const range = { short: [-4, 0], match: [-10, 7], margin: [-2, 4], ahead: [-4, 8] } as const

/** The match in three stretches: what surely leaves something out, what may, and what does not. */
export function inputsOf({ lead, match, ahead, margin, hasUnused }: AnswerSigns): Record<ReadName, number> {
  const read = clip(match ?? 0, ...range.match)
  return {
    // Above the limit it says nothing that the margin and the reader do not say better.
    short: clip(lead, ...range.short),
    margin: clip(margin ?? range.margin[1], ...range.margin),
    unused: hasUnused ? 1 : 0,
    matchLow: Math.min(read, 0),
    matchMiddle: clip(read, 0, 4),
    matchHigh: Math.max(read - 4, 0),
    ahead: clip(ahead ?? range.ahead[1], ...range.ahead),
  }
}

/** Of answers that are given with this share, so many are right (`bench/trust/calibration.ts` learns and checks it). */
export function shareRight({ share: { read, unread } }: Constants, signs: AnswerSigns): number {
  const inputs = inputsOf(signs)
  const sum = signs.match === null ? weigh(unread, inputs) : weigh(read, inputs)
  return 1 / (1 + Math.exp(-sum))
}

function weigh<Name extends UnreadName | ReadName>(
  { bias, weights }: { bias: number; weights: Record<Name, number> },
  inputs: Record<Name, number>,
): number {
  let sum = bias
  for (const name in weights) sum += weights[name] * inputs[name]
  return sum
}
