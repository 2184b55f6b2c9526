import type { Filled } from './fill.ts'
import type { ProjectIndex } from './project-index.ts'
import { ambiguousMargin, type Ranked } from './ranking/confidence.ts'
import type { Explanation } from './routing.ts'

const shownCandidates = 5

/** Why the first of the ranked queries was chosen, with what was found for its slots. */
export function explain(
  index: ProjectIndex,
  ranked: Ranked[],
  filled: Filled,
  sure: Pick<Explanation, 'confidence' | 'margin'>,
): Explanation {
  const candidates = ranked.slice(0, shownCandidates).flatMap(({ candidate, score }) => {
    const query = index.queries[candidate.query]?.query
    if (query === undefined) return []
    return [
      {
        name: query.name,
        description: query.description,
        score,
        example: index.texts[candidate.bestText]?.text ?? query.description,
      },
    ]
  })
  return {
    candidates,
    matchedExample: candidates[0]?.example ?? null,
    parameters: filled.parameters,
    sources: filled.sources,
    unused: filled.unused,
    unexpressed: [],
    match: null,
    ...sure,
    threshold: index.calibration.threshold,
    minMargin: ambiguousMargin,
    encoder: index.encoder.kind,
  }
}
