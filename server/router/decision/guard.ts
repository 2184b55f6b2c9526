import { createHash } from 'node:crypto'
import { yieldToEventLoop } from '../../flow/index.ts'
import { link, shape } from '../../language/index.ts'
import type { Reader } from '../encoder/reader.ts'
import { cardOf, type Card } from '../project/card.ts'
import type { RoutableProject } from '../project/project.ts'
import type { ProjectIndex } from '../project/project-index.ts'
import type { ProjectReading, Trust } from '../project/project-reading.ts'
import { type Asked, gather, vectorOf } from '../ranking/evidence.ts'
import type { Without } from '../ranking/compare.ts'
import { confidence, confidenceInputs, rank } from '../ranking/confidence.ts'
import { rowOf } from '../vectors/vectors.ts'
import { consider, type Judging } from './consider.ts'
import type { Routing } from './routing.ts'
import { reachVerdict } from './verdicts.ts'

/** Enough to tell a project in which the reader errs from one in which it does not; each is read beside two queries. */
const maxQuestions = 60
// Only the places of days matter here, not which they are.
const anyDay = { now: new Date(0), timeZone: 'UTC' }

/** A question of which somebody has said what becomes of it. */
type OwnQuestion = {
  asked: Asked
  /** The example that must not help to answer it: it is asked as if it were not there. */
  without: Without
  cards: Card[]
  isRight: (routing: Routing) => boolean
}

/** Counts over own questions: how many come out right with the reader alone, how many without it alone, and the logits. */
export type OwnResults = { asked: number; gained: number; lost: number; logits: number[] }

/**
 * The guard of projects in which the reader errs: each of their own questions (examples, evaluation cases, confirmed
 * reports) is asked as if it were new, with the reader and without it. What would happen decides, not how sure it is.
 */
export async function prepareReading(
  reader: Reader,
  project: RoutableProject,
  index: ProjectIndex,
  known: Map<string, number> = new Map(),
): Promise<ProjectReading> {
  const cards: Card[] = []
  for (const query of project.queries) {
    cards.push(cardOf(reader, query, project.values))
    await yieldToEventLoop()
  }
  const matches = new Map<string, number>()
  const isBare = cards.filter((card) => card.isBare).length * 2 > cards.length
  if (isBare) return { cards, matches, trust: 'comments' }
  const tried = await tryOwnQuestions(remembering(reader, { known, matches }), { project, index, cards })
  return { cards, matches, trust: trustIn(reader.constants, { queries: cards.length, ...tried }) }
}

/** The reader with what it has read before. Its words are not wanted, so that a second build decides as the first. */
function remembering(reader: Reader, { known, matches }: Record<'known' | 'matches', Map<string, number>>): Reader {
  return {
    ...reader,
    score: async (input) => {
      const key = createHash('sha256').update(JSON.stringify(input)).digest('base64url')
      const match = matches.get(key) ?? known.get(key) ?? (await reader.score(input))[0]
      if (match === undefined) throw new TypeError('The reader gave no logit.')
      matches.set(key, match)
      return Float32Array.of(match)
    },
  }
}

type Trying = { project: RoutableProject; index: ProjectIndex; cards: Card[] }

async function tryOwnQuestions(reader: Reader, { project, index, cards }: Trying): Promise<OwnResults> {
  const encoder = { ...index.encoder, reader }
  const tried: OwnResults = { asked: 0, gained: 0, lost: 0, logits: [] }
  const all = [...examplesOf(reader, { project, index, cards }), ...toldOf(project)]
  const step = Math.max(1, all.length / maxQuestions)
  for (let at = 0; at < Math.min(all.length, maxQuestions); at += 1) {
    const own = await all[Math.floor(at * step)]?.(index, cards)
    if (own === undefined) continue
    const judging = judgingOf(index, own)
    const outcomeBy = async (trust: Trust): Promise<Routing> => {
      const reading = { cards: own.cards, trust, matches: new Map<string, number>() }
      // Neither its own words nor reports of it may answer it.
      const unknown = { ...index, encoder, reading, ownWordings: new Map<string, number[]>(), counterExamples: [] }
      return reachVerdict(unknown, await consider(unknown, judging))
    }
    const [withIt, without] = [await outcomeBy('chooses'), await outcomeBy('comments')]
    const { match } = withIt.explanation
    tried.asked += 1
    if (match !== null) tried.logits.push(match)
    if (own.isRight(withIt) && !own.isRight(without)) tried.gained += 1
    if (own.isRight(without) && !own.isRight(withIt)) tried.lost += 1
    await yieldToEventLoop()
  }
  return tried
}

function judgingOf(index: ProjectIndex, { asked, without }: OwnQuestion): Judging {
  const evidence = gather(index, asked)
  const ranked = rank(index, evidence, without)
  const sure = confidence(
    index.encoder.constants,
    index.queries.length,
    confidenceInputs(evidence, ranked, index.calibration),
  )
  const told = { notQueries: new Set<string>(), meantQuery: null }
  return { asked, ranked, lead: sure - index.calibration.threshold, told, options: anyDay }
}

type Making = (index: ProjectIndex, cards: Card[]) => Promise<OwnQuestion>

/** Examples, each without itself: neither what the router compares nor the card that is read holds it. */
function examplesOf(reader: Reader, { project, index }: Trying): Making[] {
  return project.queries.flatMap((query, at) =>
    query.examples.map((example, place): Making => {
      return async (_, cards) => {
        // The first of a query's texts is its description.
        const row = (index.queries[at]?.from ?? 0) + 1 + place
        const text = index.texts[row]
        if (text === undefined) throw new TypeError('An example is not in the index.')
        const others = query.examples.filter((other) => other !== example)
        return {
          asked: { ...text, raw: rowOf(index.raw, row), masked: rowOf(index.masked, row) },
          without: { text: row },
          cards: cards.with(at, cardOf(reader, { ...query, examples: others }, project.values)),
          isRight: (routing) => answering(routing) === query.name,
        }
      }
    }),
  )
}

/** Questions that people have judged: evaluation cases, and confirmed reports. */
function toldOf({ cases = [], counterExamples = [] }: RoutableProject): Making[] {
  const judged = [
    ...cases.map(({ question, query }) => ({ question, isRight: (got: string | null) => got === query })),
    ...counterExamples.map(({ question, notQuery, meantQuery }) => ({
      question,
      isRight: (got: string | null) => (meantQuery === null ? got !== notQuery : got === meantQuery),
    })),
  ]
  return judged.map(({ question, isRight }): Making => {
    return async (index, cards) => {
      const linked = link(index.linker, question, anyDay)
      const shaped = shape(linked, index.contexts)
      const [raw, masked] = [await vectorOf(index, question), await vectorOf(index, shaped.masked)]
      const asked = { linked, shape: shaped, raw, masked }
      return { asked, without: {}, cards, isRight: (routing) => isRight(answering(routing)) }
    }
  })
}

/** The query that a question was taken for, answered or asked back; null where it was refused. */
function answering(routing: Routing): string | null {
  const { outcome } = routing
  return outcome === 'answer' || outcome === 'missing_slots' || outcome === 'period_end' ? routing.query : null
}

/**
 * How far the reader is believed in a project. Too few own questions say nothing: it then answers only what the router
 * would refuse, as long as the project is of a size that it has learned from.
 */
export function trustIn(
  { guard }: Reader['constants'],
  { queries, asked, gained, lost, logits }: OwnResults & { queries: number },
): Trust {
  const isLarge = queries > guard.most_queries
  if (asked < guard.least_examples) return isLarge ? 'comments' : 'rescues'
  if (!isLarge) return chanceOf(lost, { of: lost + gained, share: 0.5 }) < guard.least_chance ? 'rescues' : 'chooses'
  const below = logits.filter((logit) => logit < guard.match_below).length
  const isUsual = chanceOf(below, { of: logits.length, share: guard.usual_share }) >= guard.least_chance
  return isUsual && lost <= gained ? 'chooses' : 'comments'
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
