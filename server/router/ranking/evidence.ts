import { createHash } from 'node:crypto'
import { isFunctionWord, type Linked, type TextShape } from '../../language/index.ts'
import type { ProjectIndex, Uncalibrated } from '../project/project-index.ts'
import { bm25, comparePairs, numberTokens, type Bm25 } from '../vectors/lexical.ts'
import { dotRow, toUnitLength, scan, type Matrix } from '../vectors/vectors.ts'
import { centred, squareOf, toWhite } from '../vectors/whiten.ts'

/** A question as the ranker compares it. */
export type Asked = { linked: Linked; shape: TextShape; raw: Float32Array; masked: Float32Array }

/** A vector in a whitened space, with its squared length. */
export type White = { vector: Float32Array; square: number }

/** All evidence that does not depend on the candidate, computed once a question. */
export type Evidence = {
  asked: Asked
  /** For each query the cosines with its two means together, roughly. Read where all queries are compared. */
  rough: () => Float32Array
  whiteMasked: White
  /** The direction of the bare values that the question names and how much of the question it is; null without any. */
  bare: { vector: Float32Array; share: number } | null
} & LexicalEvidence &
  RawEvidence

type LexicalEvidence = {
  bm25: Bm25
  /** How many pairs of neighbouring words the question has, and how many of them each text has too. */
  pairs: number
  sharedPairs: Uint8Array
  /** The words that say what is asked of the values. */
  content: string[]
}

type RawEvidence = {
  /** The question less the mean of all texts: what whitened means are multiplied with. */
  centredRaw: Float32Array
  /** How close the nearest question of another world comes. */
  elsewhere: number
}

/** Evidence from the words alone, known before the encoder answers. */
export function lexicalEvidence(index: Uncalibrated, asked: Pick<Asked, 'linked' | 'shape'>): LexicalEvidence {
  const tokens = numberTokens(index.lexical, asked.shape.tokens)
  return { bm25: bm25(index.lexical, tokens), ...comparePairs(index.lexical, tokens), content: contentOf(asked) }
}

/** With `ownFar` the far-away question of that number asks itself and is not compared with itself. */
export function rawEvidence(index: Uncalibrated, raw: Float32Array, ownFar?: number): RawEvidence {
  return { centredRaw: centred(index.whiteRaw, raw), elsewhere: nearest(index.far, raw, ownFar) }
}

export function gather(
  index: Uncalibrated,
  asked: Asked,
  known: LexicalEvidence & RawEvidence = { ...lexicalEvidence(index, asked), ...rawEvidence(index, asked.raw) },
): Evidence {
  let rough: Float32Array | undefined
  return {
    asked,
    bm25: known.bm25,
    pairs: known.pairs,
    sharedPairs: known.sharedPairs,
    content: known.content,
    centredRaw: known.centredRaw,
    elsewhere: known.elsewhere,
    rough: () => (rough ??= index.roughCentroids(asked.raw, asked.masked)),
    whiteMasked: measured(toWhite(index.whiteMasked, asked.masked)),
    bare: bareValues(index, asked),
  }
}

/** "<region>" alone: what any two texts that name a region have in common, whatever they ask. */
function bareValues({ bareTypes }: Uncalibrated, { shape: { marks }, masked }: Asked): Evidence['bare'] {
  const named = [...new Set(marks.map(({ type }) => type.key))].flatMap((key) => bareTypes.get(key) ?? [])
  if (named.length === 0) return null
  const sum = new Float32Array(masked.length)
  for (const vector of named)
    for (let at = 0; at < sum.length; at += 1) sum[at] = (sum[at] as number) + (vector[at] as number)
  const vector = toUnitLength(sum)
  return { vector, share: dotRow({ rows: 1, columns: vector.length, data: vector }, 0, masked) }
}

export function measured(vector: Float32Array): White {
  return { vector, square: squareOf(vector) }
}

/** None where no value is named: there the words are all there is, and the encoder has compared them. */
function contentOf({ linked, shape: { marks } }: Pick<Asked, 'linked' | 'shape'>): string[] {
  if (marks.length === 0) return []
  return linked.words
    .filter((word, at) => !isFunctionWord(word.text) && !marks.some(({ span }) => span.from <= at && at < span.to))
    .map(({ stem }) => stem)
}

function nearest(matrix: Matrix, vector: Float32Array, except = -1): number {
  let most = -1
  scan(matrix, vector).forEach((cosine, row) => {
    if (row !== except && cosine > most) most = cosine
  })
  return most
}

/**
 * The vector of a text. Who asks as an example asks, but for its values, asks a masked text that the index has read
 * already: encoding it again would cost more than all the rest of such a question.
 */
export async function vectorOf(
  { encoder, vectors }: Pick<ProjectIndex, 'encoder' | 'vectors'>,
  text: string,
): Promise<Float32Array> {
  const known = vectors.modelHash === encoder.hash ? vectors.byText.get(textKey(text)) : undefined
  if (known !== undefined) return known
  const [vector] = await encoder.encode([text])
  if (vector === undefined) throw new TypeError('The encoder gave no vector.')
  return vector
}

export function textKey(text: string): string {
  return createHash('sha256').update(text).digest('base64url')
}
