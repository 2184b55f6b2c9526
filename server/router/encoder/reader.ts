import type { Tokenizer } from './tokenizer.ts'
import type { ReaderConstants } from '../learned/reader-constants.ts'

/** Tells whether one query answers a question whole. It runs in the encoder's processes. */
export type Reader = {
  constants: ReaderConstants
  tokenizer: Pick<Tokenizer, 'pieces'>
  /** The logit of "answers whole", then one for each token of the question: above zero, nothing expresses it. */
  score: (input: ReaderInput) => Promise<Float32Array>
}

/** A question beside the card of a query, as tokens; the first `questionTokens` are the question with its two ends. */
export type ReaderInput = { ids: number[]; questionTokens: number }
