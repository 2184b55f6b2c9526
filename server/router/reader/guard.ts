import { createHash } from 'node:crypto'
import type { RoutableProject } from '../project.ts'
import { yieldToEventLoop } from '../../flow/index.ts'
import { fill } from '../fill.ts'
import type { ProjectIndex } from '../project-index.ts'
import { rowOf } from '../ranking/vectors.ts'
import { boundIn, cardOf, inputOf, withMarks, type Card } from './card.ts'
import type { Reader } from './reader.ts'
import type { ProjectReading } from './project-reading.ts'

/** Enough to tell a project that the reader misjudges from one that it does not. */
const maxExamples = 120
const atOnce = 4
// Only the places of days matter here, not which they are.
const anyDay = { now: new Date(0), timeZone: 'UTC' }

/**
 * The guard of projects whose queries say little of themselves: each of their own examples is read against its query
 * without it. Where too many look wrong, the router decides alone.
 */
export async function prepareReading(
  reader: Reader,
  { queries, values }: RoutableProject,
  index: ProjectIndex,
  known: Map<string, number> = new Map(),
): Promise<ProjectReading> {
  const cards: Card[] = []
  for (const query of queries) {
    cards.push(cardOf(reader, query, values))
    await yieldToEventLoop()
  }
  const own = queries.flatMap((query, at) =>
    // The first of a query's texts is its description.
    query.examples.map((example, place) => ({ query, at, example, row: (index.queries[at]?.from ?? 0) + 1 + place })),
  )
  const step = Math.max(1, own.length / maxExamples)
  const asked = Array.from({ length: Math.min(own.length, maxExamples) }, (_, at) => own[Math.floor(at * step)])
  const matches = new Map<string, number>()
  const logits: number[] = []
  const read = async (each: (typeof own)[number] | undefined): Promise<void> => {
    if (each === undefined) return
    const { query, at, example, row } = each
    const [text, indexed] = [index.texts[row], index.queries[at]]
    if (text === undefined || indexed === undefined) throw new TypeError('An example is not in the index.')
    const card = cardOf(reader, { ...query, examples: query.examples.filter((other) => other !== example) }, values)
    const asked = { ...text, raw: rowOf(index.raw, row), masked: rowOf(index.masked, row) }
    const bound = boundIn(fill(index, asked, indexed, anyDay).sources)
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
  const isBare = cards.filter((card) => card.isBare).length * 2 > cards.length
  return {
    cards,
    matches,
    isBelieved: !isBare && isUnderstood(reader.constants, logits),
    flagBelow: Math.min(0, ...logits),
  }
}

/** Whether enough of a project's own examples tell that their queries are read rightly; without any nothing does. */
export function isUnderstood({ guard }: Reader['constants'], logits: number[]): boolean {
  const below = logits.filter((logit) => logit < guard.match_below).length
  const isMisread = below >= guard.least_below && below > guard.least_share * logits.length
  return logits.length >= guard.least_examples && !isMisread
}
