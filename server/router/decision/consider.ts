import type { Reader } from '../encoder/reader.ts'
import type { ProjectIndex } from '../project/project-index.ts'
import type { ProjectReading } from '../project/project-reading.ts'
import { ambiguousMargin, type Ranked } from '../ranking/confidence.ts'
import type { Told } from '../ranking/counter-examples.ts'
import type { Asked } from '../ranking/evidence.ts'
import { readQuestionWhole } from '../reader/read-whole.ts'
import { against, candidateOf, isOwnWording, type Candidate } from './candidate.ts'
import type { RouteOptions } from './routing.ts'
import { reachVerdict, weigh, type Case } from './verdicts.ts'

/** A question as the router has compared it. */
export type Judging = {
  asked: Asked
  ranked: Ranked[]
  /** How far the router's own evidence lies above where the project stops answering. */
  lead: number
  /** Reports by people about questions like this one. */
  told: Told
  options: RouteOptions
}

/** Gathers what a question is decided by: its candidates, and what the reader makes of those that matter. */
export async function consider(index: ProjectIndex, { ranked, lead, ...looking }: Judging): Promise<Case> {
  const { asked, options } = looking
  const { text } = asked.linked
  const candidates = ranked.map((each) => candidateOf(index, each, looking))
  const alone: Case = { text, options, by: 'router', candidates, lead }
  const believed = believedReader(index, { ranked, lead, text })
  if (believed === null) return readChosen(index, alone)
  const known: Case = { ...alone, by: 'reader' }
  const readByBest = async (): Promise<Case> => {
    return { ...known, candidates: await readBest(candidates, { ...believed, text }) }
  }
  if (believed.reading.trust === 'chooses') return isOwnWording(candidates) ? known : readByBest()
  if (!isRefusedAlone(index, alone)) return readChosen(index, alone)
  const rescued = await readByBest()
  return isRescued(index, rescued, believed.reader) ? rescued : alone
}

/** Too little speaks for any query by the router's own evidence, or for one of two. */
function isRefusedAlone(index: ProjectIndex, alone: Case): boolean {
  const { verdict } = reachVerdict(index, alone).explanation
  return verdict === 'little_in_common' || verdict === 'tied'
}

/** So surely right that it is answered though the router would refuse it. */
function isRescued(index: ProjectIndex, read: Case, { constants }: Reader): boolean {
  const { outcome, explanation } = reachVerdict(index, read)
  return outcome === 'answer' && (explanation.confidence ?? 0) >= constants.guard.rescue_from
}

type Believed = { reader: Reader; reading: ProjectReading }

/**
 * The reader, where it is believed: in this project, by what it makes of the project's own questions (`guard.ts`), and
 * for this question, which must be written in signs that it knows and come near something. Null leaves the choice to the router.
 */
function believedReader(
  { reading, encoder: { reader } }: ProjectIndex,
  { ranked: [first], lead, text }: Pick<Judging, 'ranked' | 'lead'> & { text: string },
): Believed | null {
  if (reader === null || reading === null || reading.trust === 'comments' || first === undefined) return null
  if (reading.cards[first.candidate.query]?.isBare === true) return null
  // Nothing that so little speaks for was ever right.
  if (lead < reader.constants.least_lead) return null
  const { tokenizer, constants } = reader
  return tokenizer.pieces(text).every(({ id }) => id === constants.token.unknown) ? null : { reader, reading }
}

/** Reads the best; where the first leaves no doubt, it alone. */
async function readBest(
  candidates: Candidate[],
  { reader, reading, text }: Believed & { text: string },
): Promise<Candidate[]> {
  const { candidates: count, score_reach: reach, sure_from: sureFrom } = reader.constants
  const [first] = candidates
  if (first === undefined) return candidates
  const near = candidates.slice(0, count).filter(({ placed }) => first.placed.score - placed.score <= reach)
  const best = await withReading(first, { reader, reading, text })
  const second = near[1]
  const isAlone = second === undefined || first.placed.score - second.placed.score >= ambiguousMargin
  const isSure = against(best) === null && isAlone && (best.reading?.match ?? 0) >= sureFrom
  if (isSure) return [best, ...candidates.slice(1)]
  const others = await Promise.all(near.slice(1).map((each) => withReading(each, { reader, reading, text })))
  return [best, ...others, ...candidates.slice(near.length)]
}

async function withReading(
  each: Candidate,
  { reader, reading, text }: Believed & { text: string },
): Promise<Candidate> {
  const card = reading.cards[each.placed.candidate.query]
  if (card === undefined) throw new TypeError('A ranked query is not in the index.')
  const { sources } = each.filled
  return { ...each, reading: await readQuestionWhole(reader, card, { text, sources }) }
}

/** Has an answer read that the router or a caller has chosen: what it leaves out is said beside it. */
export async function readChosen(index: ProjectIndex, the: Case): Promise<Case> {
  const { reading, encoder } = index
  const { reader } = encoder
  if (reader === null || reading === null) return the
  const { verdict } = reachVerdict(index, the).explanation
  if (verdict !== 'whole' && verdict !== 'unsure') return the
  const { chosen } = weigh(index, the)
  if (reading.cards[chosen.placed.candidate.query]?.isBare !== false) return the
  const read = await withReading(chosen, { reader, reading, text: the.text })
  return { ...the, candidates: the.candidates.map((each) => (each === chosen ? read : each)) }
}
