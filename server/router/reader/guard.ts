import { createHash } from 'node:crypto'
import { yieldToEventLoop } from '../../flow/index.ts'
import type { Constants } from '../learned/router-constants.ts'
import type { RoutableProject } from '../project/project.ts'
import { fill } from '../filling/fill.ts'
import type { ProjectIndex } from '../project/project-index.ts'
import { rowOf } from '../vectors/vectors.ts'
import { boundIn, cardOf, inputOf, withMarks, type Card } from '../project/card.ts'
import type { Reader } from '../encoder/reader.ts'
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
  const isBelieved = !isBare && isUnderstood(reader.constants, logits)
  return {
    cards,
    matches,
    isBelieved,
    flagBelow: Math.min(0, ...logits),
    allowance: isBelieved ? allowanceFor(reader.constants, index.encoder.constants, logits) : 0,
  }
}

/**
 * Whether enough of a project's own examples tell that their queries are read rightly; without any nothing does. Some
 * are misread in any project: it is misread itself where chance would seldom give as many.
 */
export function isUnderstood({ guard }: Reader['constants'], logits: number[]): boolean {
  const below = logits.filter((logit) => logit < guard.match_below).length
  return (
    logits.length >= guard.least_examples &&
    chanceOf(below, { of: logits.length, share: guard.usual_share }) >= guard.least_chance
  )
}

/** The chance of so many or more of a number where each comes with a share. */
function chanceOf(count: number, { of, share }: { of: number; share: number }): number {
  let exactly = (1 - share) ** of
  let fewer = 0
  for (let at = 0; at < count; at += 1) {
    fewer += exactly
    exactly *= ((of - at) / (at + 1)) * (share / (1 - share))
  }
  return 1 - fewer
}

/**
 * What a logit below zero is raised by: how much more often than usual the reader takes a right query for a wrong one
 * here, as its own examples tell, few of them with caution, is how much likelier one that it finds wrong is right.
 */
export function allowanceFor({ guard }: Reader['constants'], { share }: Constants, logits: number[]): number {
  const below = logits.filter((logit) => logit < guard.match_below).length
  const usual = guard.usual_share * guard.usual_examples
  const misread = (below + usual) / (logits.length + guard.usual_examples)
  return Math.max(0, Math.log(misread / guard.usual_share)) / share.read.weights.matchLow
}
