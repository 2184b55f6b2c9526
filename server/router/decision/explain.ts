import type { Filled } from '../filling/fill.ts'
import type { ProjectIndex } from '../project/project-index.ts'
import type { Candidate } from '../ranking/compare.ts'
import { ambiguousMargin, type AnswerSigns, shareRight } from '../ranking/confidence.ts'
import type { Explanation } from './routing.ts'

const shownCandidates = 5

type Signs = Omit<AnswerSigns, 'lead' | 'hasUnused'> & { lead: number | null }

/** A query with its nearest text, and how near that comes. */
export type Placed = { candidate: Pick<Candidate, 'query' | 'bestText'>; score: number }

/** Why the first of the ranked queries was chosen, with what was found for its slots. */
export function explain(index: ProjectIndex, ranked: Placed[], filled: Filled, signs: Signs): Explanation {
  const { lead, margin, match, ahead } = signs
  const confidence =
    lead === null
      ? null
      : shareRight(index.encoder.constants, { lead, margin, match, ahead, hasUnused: filled.unused.length > 0 })
  const candidates = ranked.slice(0, shownCandidates).flatMap(({ candidate, score }, at) => {
    const query = index.queries[candidate.query]?.query
    if (query === undefined) return []
    const { name, description } = query
    const example = index.texts[candidate.bestText]?.text ?? description
    return [{ name, description, score, confidence: at === 0 ? (confidence ?? 0) : 0, example }]
  })
  return {
    candidates: shared(candidates),
    matchedExample: lead === null ? null : (candidates[0]?.example ?? null),
    readAs: null,
    parameters: filled.parameters,
    sources: filled.sources,
    period: filled.period,
    unused: filled.unused,
    unexpressed: [],
    match,
    ahead,
    confidence,
    threshold: index.leastConfidence,
    lead,
    margin,
    minMargin: ambiguousMargin,
    encoder: index.encoder.kind,
    verdict: null,
  }
}

/** The lowest confidence an answer of the router alone can carry. */
export function leastShare({ encoder }: ProjectIndex): number {
  const signs = { lead: 0, margin: ambiguousMargin, match: null, ahead: null, hasUnused: true }
  return shareRight(encoder.constants, signs)
}

/**
 * A refused question shows no higher share than the lowest an answer can carry. The share is not learned from what
 * refuses a question (too little in common, an opposite meaning, a report), and of those refused with a higher one a
 * fifth would have been right (five folds of the trust benchmark).
 */
export function lowered(explanation: Explanation, most: number): Explanation {
  const { candidates, confidence } = explanation
  if (confidence === null || confidence <= most) return explanation
  const [first, ...others] = candidates
  const lower = first === undefined ? [] : shared([{ ...first, confidence: most }, ...others])
  return { ...explanation, confidence: most, candidates: lower }
}

/**
 * Divides the share that the first leaves among the others, by how close they come to it; none gets more than the
 * first.
 */
function shared(candidates: Explanation['candidates']): Explanation['candidates'] {
  const [first, ...others] = candidates
  if (first === undefined) return []
  const weights = others.map(({ score }) => Math.exp(Math.min(0, score - first.score)))
  const total = weights.reduce((sum, weight) => sum + weight, 0)
  const rest = others.map((each, at) => {
    const weight = weights[at] ?? 0
    return { ...each, confidence: Math.min(first.confidence, ((1 - first.confidence) * weight) / (1 + total)) }
  })
  return [first, ...rest]
}
