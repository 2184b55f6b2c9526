import type { Filled } from './filling/fill.ts'
import type { ProjectIndex } from './project/project-index.ts'
import { shareOfMany, type Ranked } from './ranking/confidence.ts'

/**
 * What confidence lost for a value too few or too many: a question that only lacks one, or names two where a slot takes
 * one, is told so, not that nobody answers it.
 */
export function lack({ encoder, queries }: ProjectIndex, { candidate }: Ranked, { missing, gaps }: Filled): number {
  const surplus = gaps.reduce((sum, gap) => sum + (gap.surplus ?? 0), 0)
  if (missing.length === 0 && surplus === 0) return 0
  const { slotsMissing, spansUnused } = candidate.features
  const { many, few } = encoder.constants.confidence
  const share = shareOfMany(queries.length)
  const weight = (input: 'slotsMissing' | 'spansUnused'): number =>
    share * many.weights[input] + (1 - share) * few.weights[input]
  const tooFew = missing.length === 0 ? 0 : weight('slotsMissing') * slotsMissing
  return -tooFew - weight('spansUnused') * Math.min(surplus, spansUnused)
}
