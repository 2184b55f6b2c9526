import type { SlotSource } from '../gaps/gap.ts'
import { boundIn, inputOf, withMarks, type Card } from '../project/card.ts'
import type { ProjectReading } from './project-reading.ts'
import type { Reader } from '../encoder/reader.ts'
import { unexpressedIn, type ReadPlace, type Unexpressed } from './unexpressed.ts'

/** How surely a query answers a question whole, and the words that it leaves out if it does not. */
export type WholeReading = { match: number; unexpressed: () => Unexpressed[] }

/** Reads a question beside a query, with the words that its slots have taken. */
export async function readQuestionWhole(
  reader: Reader,
  card: Card,
  { text, sources }: { text: string; sources: Record<string, SlotSource> },
  { allowance }: Pick<ProjectReading, 'allowance'>,
): Promise<WholeReading> {
  const bound = boundIn(sources)
  const { constants, tokenizer } = reader
  const question = withMarks(constants, tokenizer.pieces(text), { bound, places: card.places })
    // Marks count too: what comes after so many is not read.
    .slice(0, constants.max_question_tokens)
  const [match, ...logits] = await reader.score(inputOf(constants, question, card))
  if (match === undefined) throw new TypeError('The reader gave no logit.')
  return {
    match: match < 0 ? Math.min(0, match + allowance) : match,
    unexpressed: () => {
      const places = question.flatMap(({ place }, at): ReadPlace[] => {
        const logit = logits[at]
        return place === null || logit === undefined ? [] : [{ ...place, logit }]
      })
      return unexpressedIn(text, places, constants.word_above)
    },
  }
}
