import { createHash } from 'node:crypto'
import type { RoutableProject } from '../project.ts'
import { yieldToEventLoop } from '../yield-to-event-loop.ts'
import { cardOf, inputOf, literalValues, withMarks, type Card } from './card.ts'
import type { Reader } from './reader.ts'

/** What the reader knows of a project: its cards, and from where on it may be believed there. */
export type ProjectReading = {
  cards: Card[]
  /** Below it a question is refused. */
  refuseBelow: number
  /** Below it an answer says what it leaves out. */
  flagBelow: number
  /** Logits of the project's own examples by what was read: what makes a second build cheap. */
  matches: Map<string, number>
}

/** Enough to tell a project that the reader misjudges from one that it does not. */
const maxExamples = 120
const atOnce = 4
/** With so many of a healthy project's own examples below the general limit of the flag, a project's own limit begins. */
const flagQuantile = 0.08

/**
 * The guard of projects whose queries say little of themselves: each of their own examples is read against its query
 * without it. Where too many look wrong, it refuses only what looks worse than all of them.
 */
export async function prepareReading(
  reader: Reader,
  { queries, values }: RoutableProject,
  known: Map<string, number> = new Map(),
): Promise<ProjectReading> {
  const cards: Card[] = []
  for (const query of queries) {
    cards.push(cardOf(reader, query, values))
    await yieldToEventLoop()
  }
  const own = queries.flatMap((query) => query.examples.map((example) => ({ query, example })))
  const step = Math.max(1, own.length / maxExamples)
  const asked = Array.from({ length: Math.min(own.length, maxExamples) }, (_, at) => own[Math.floor(at * step)])
  const matches = new Map<string, number>()
  const logits: number[] = []
  const read = async (each: (typeof own)[number] | undefined): Promise<void> => {
    if (each === undefined) return
    const { query, example } = each
    const card = cardOf(reader, { ...query, examples: query.examples.filter((other) => other !== example) }, values)
    const bound = literalValues(example.question, example.parameters)
    const { constants, tokenizer } = reader
    const question = withMarks(constants, tokenizer.pieces(example.question), { bound, places: card.places })
    const input = inputOf(constants, question.slice(0, constants.max_question_tokens), card)
    const key = createHash('sha256').update(JSON.stringify(input)).digest('base64url')
    const match = known.get(key) ?? (await reader.score(input))[0]
    if (match === undefined) return
    matches.set(key, match)
    logits.push(match)
  }
  for (let at = 0; at < asked.length; at += atOnce) {
    await Promise.all(asked.slice(at, at + atOnce).map(read))
    await yieldToEventLoop()
  }
  return { cards, matches, ...limitsOf(reader.constants, logits) }
}

/** Where to refuse and where to flag in a project whose own examples are read so. */
export function limitsOf(
  { refuse_below: refuse, flag_below: flag, guard }: Reader['constants'],
  logits: number[],
): Pick<ProjectReading, 'refuseBelow' | 'flagBelow'> {
  // Nothing tells whether the reader understands this project: it says what it thinks, and refuses nothing.
  if (logits.length < guard.least_examples_below) return { refuseBelow: -Infinity, flagBelow: flag }
  const below = logits.filter((logit) => logit < refuse).length
  const isMisread = below >= guard.least_examples_below && below > guard.least_share_below * logits.length
  if (!isMisread) return { refuseBelow: refuse, flagBelow: flag }
  const sorted = logits.toSorted((a, b) => a - b)
  const quantile = (share: number): number => sorted[Math.floor(share * sorted.length)] ?? refuse
  return {
    refuseBelow: Math.min(refuse, quantile(guard.quantile)),
    flagBelow: Math.min(flag, quantile(flagQuantile)),
  }
}
