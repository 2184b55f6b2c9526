import type { VerdictName } from '../../../api/verdicts.ts'
import type { CallerTime, Period } from '../../language/index.ts'
import type { Filled } from '../filling/fill.ts'
import type { SlotSource } from '../gaps/gap.ts'
import type { IndexedQuery } from '../project/project-index.ts'
import type { Unexpressed } from '../reader/read-whole.ts'

/** A query that could answer, best first. */
type RouteCandidate = { name: string; description: string; score: number; confidence: number; example: string }

/** Why a question was routed as it was. */
export type Explanation = {
  candidates: RouteCandidate[]
  /** The description or example nearest to the question in shape. */
  matchedExample: string | null
  /** The question with its typing errors put right, where it has some. */
  readAs: string | null
  /** Values found for the best candidate's slots, also when the question is refused. */
  parameters: Record<string, unknown>
  /** The words of the question behind each parameter. */
  sources: Record<string, SlotSource>
  /** The days that those values cover, in words; null where the question names none. */
  period: Period | null
  /** Words that were read as values but fill no slot. */
  unused: SlotSource[]
  /** Words that ask for something the query does not express. */
  unexpressed: Unexpressed[]
  /** The reader's logit of "answers whole"; null where it has not read the question. */
  match: number | null
  /** How far it puts the query ahead of the next; null where it has read no other. */
  ahead: number | null
  /** How many of a hundred answers like this are right, as a share; null where nothing was compared. */
  confidence: number | null
  /** The least share that this project answers with. */
  threshold: number
  /** How far the router's own evidence lies above where the project stops answering. */
  lead: number | null
  margin: number | null
  minMargin: number
  encoder: 'neural' | 'lexical'
  /** The row of the table of verdicts that ended the question; null where nothing was compared. */
  verdict: VerdictName | null
}

export type Routing = { explanation: Explanation } & (
  | { outcome: 'answer'; query: string; parameters: Record<string, unknown> }
  /** It comes nearest, and surely leaves out what `unexpressed` says. */
  | { outcome: 'unexpressed'; query: string; parameters: Record<string, unknown> }
  /** It would answer, less surely than the project answers. */
  | { outcome: 'unsure'; query: string; parameters: Record<string, unknown> }
  | { outcome: 'missing_slots'; query: string; parameters: Record<string, unknown>; missing: string[]; gaps: Lacking[] }
  /** It would answer, but its SQL loses a part of the period that the question names. */
  | { outcome: 'period_end'; query: string; parameters: Record<string, unknown>; slot: string; loses: string }
  | { outcome: 'ambiguous' }
  | {
      outcome: 'no_match'
      because: 'empty' | 'too_long' | 'nothing_deployed' | 'not_confident' | 'other_language'
    }
  | { outcome: 'no_match'; because: 'opposed'; objection: string }
)

/** Why a slot still wants a value. */
type Lacking = { slot: string; message: string; unlisted?: string }

export type RouteOptions = CallerTime & {
  /** Values the caller has given for slots; they stand as they are, and null leaves one out. */
  given?: Record<string, unknown>
  /**
   * Policy for a question that the query covers only in part. `sure` (the default unless a query is named) refuses
   * where a gap is certain and answers with the words where it is likely. `strict` refuses both, `partial` answers
   * both.
   */
  completeness?: 'strict' | 'sure' | 'partial' | undefined
  /** Computes how near the other queries come, also where that decides nothing. */
  explain?: boolean | undefined
}

/**
 * Combines the question's values with the caller's: enough to run the query, or the list of missing ones. A given null
 * leaves a slot out whatever the question says; a required slot cannot be left out.
 */
export function conclude(
  { query: { name }, slots }: IndexedQuery,
  filled: Filled,
  { explanation, given = {} }: { explanation: Explanation; given: RouteOptions['given'] },
): Routing {
  const open = slots.filter((slot) => given[slot.name] === undefined || (given[slot.name] === null && slot.required))
  const gaps = filled.gaps.filter(({ slot }) => open.some((each) => each.name === slot))
  const bound = slots.flatMap((slot): Array<[string, unknown]> => {
    const own = given[slot.name]
    if (own !== undefined) return own === null ? [] : [[slot.name, own]]
    const isFound = slot.name in filled.parameters && !gaps.some((gap) => gap.slot === slot.name)
    return isFound ? [[slot.name, filled.parameters[slot.name]]] : []
  })
  const parameters = Object.fromEntries(bound)
  const missing = slots
    .filter((slot) => slot.required || gaps.some((gap) => gap.slot === slot.name))
    .map((slot) => slot.name)
    .filter((slot) => parameters[slot] === undefined)
  if (missing.length > 0) return { outcome: 'missing_slots', query: name, parameters, missing, gaps, explanation }
  const lossy = slots.find(
    ({ name: slot, bound }) => typeof bound?.loses === 'string' && given[slot] === undefined && slot in filled.sources,
  )
  if (typeof lossy?.bound?.loses === 'string') {
    return { outcome: 'period_end', query: name, parameters, slot: lossy.name, loses: lossy.bound.loses, explanation }
  }
  return { outcome: 'answer', query: name, parameters, explanation }
}
