import type { Contexts, Linker, Spelling } from '../../language/index.ts'
import type { Encoder } from '../encoder/encoder.ts'
import type { IndexedText } from './index-text.ts'
import type { CounterExample, RoutableQuery, Slot } from './project.ts'
import type { ProjectReading } from './project-reading.ts'
import type { RuleName } from './rules.ts'
import type { LexicalIndex } from '../vectors/lexical.ts'
import type { RoughSums } from '../vectors/scan-kernel.ts'
import type { Matrix } from '../vectors/vectors.ts'
import type { Whitened } from '../vectors/whiten.ts'

export type IndexedQuery = {
  query: RoutableQuery
  slots: Slot[]
  /** Its texts are `texts.slice(from, to)`. */
  from: number
  to: number
  /** How many of its texts say a word; its name and its slots say theirs too. */
  said: Map<string, number>
  /** Values that its texts name without binding them to a slot: part of what it means. */
  fixed: Set<string>
}

/** A question that was answered wrongly, as it is compared. */
export type IndexedCounterExample = CounterExample & {
  /** Its masked text, to tell it word for word. */
  wording: string
  /** Words that the query which must not answer it does not say. */
  strange: Set<string>
  /** Its masked vector is this row. */
  vectors: Matrix
  row: number
}

/** Everything a question is compared with. Never changed once built: a new one takes its place. */
export type ProjectIndex = {
  encoder: Encoder
  linker: Linker
  contexts: Contexts
  queries: IndexedQuery[]
  texts: IndexedText[]
  /** The rows of examples by their wording, with a gap for each value. */
  ownWordings: Map<string, number[]>
  /** Words that name some slot: beside a number they say what it counts. */
  labels: Set<string>
  /** Words of its texts, for those that are misspelled. */
  spelling: Spelling
  raw: Matrix
  masked: Matrix
  maskedCentroids: Matrix
  /** How long the sum of a query's vectors is; by it sums of products become products with their mean. */
  lengths: Record<'raw' | 'masked', Float32Array>
  /** Means of raw and masked vectors together, roughly, to find what is worth a closer look. */
  roughCentroids: RoughSums
  names: Matrix
  /** Each type of slot as a text that holds nothing but its mask. */
  bareTypes: Map<string, Float32Array>
  whiteRaw: Whitened & { pulls: Matrix }
  whiteMasked: Whitened
  lexical: LexicalIndex
  /** Questions of other worlds; none where a project is so large that its own queries say more. */
  far: Matrix
  calibration: Calibration
  /** Answers that are right less surely than this share are not given. */
  leastConfidence: number
  /** The reader's view of each query, in their order; null where no reader runs. */
  reading: ProjectReading | null
  vectors: VectorCache
  counterExamples: IndexedCounterExample[]
  /** Rules that a benchmark has switched off; none in an index that serves. */
  rulesOff: ReadonlySet<RuleName>
}

/** An index before it knows its own threshold. */
export type Uncalibrated = Omit<ProjectIndex, 'calibration' | 'reading' | 'leastConfidence'>

/** Embeds texts, each once. */
export type Embed = (texts: string[]) => Promise<Matrix>

/** Vectors by text: what makes a second build of a project cheap. Holds one model's vectors only. */
export type VectorCache = {
  modelHash: string
  byText: Map<string, Float32Array>
  /** The reader's logits for the project's own examples, by what it read. */
  matches: Map<string, number>
}

/** How close a project's texts lie to each other. */
export type TextCloseness = {
  /** To the nearest other query, on average. */
  neighbourCosine: number
  neighbourWhite: number
  /** For each query: its texts to the nearest other text of its own. */
  ownCosine: Float32Array
}

/** Calibration from a project's own texts: how close neighbours lie, and where to stop answering. */
export type Calibration = TextCloseness & {
  threshold: number
  /** How many of the project's own examples, and of how many far-away questions, the threshold stands on. */
  basis: { examples: number; far: number }
}
