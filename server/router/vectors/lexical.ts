import { yieldToEventLoop } from '../../flow/index.ts'

/** Queries as bags of the tokens of all their texts, shortlisted by shared tokens (BM25). Tokens are numbered. */
export type LexicalIndex = {
  documents: number
  ids: Map<string, number>
  postings: { documents: Int32Array; weights: Float32Array }[]
  /** The texts that have a pair of neighbouring words, and how many pairs each text has. */
  textsOfPair: Map<number, number[]>
  pairCounts: Int32Array
  /** Each text in numbers, by its tokens: for whoever builds an index of nearly the same texts. */
  numbered: ReadonlyMap<string[], NumberedText>
}

type NumberedText = { tokens: Int32Array; pairs: number[] }

/**
 * With `previous`, tokens keep their numbers: of texts that it holds, which are found again by the array of their tokens,
 * nothing is read again.
 */
export async function buildLexical(
  texts: string[][],
  documentOf: Int32Array,
  documents: number,
  previous?: LexicalIndex,
): Promise<LexicalIndex> {
  const ids = new Map(previous?.ids)
  let next = previous?.postings.length ?? 0
  const numberOf = (token: string): number => {
    const id = ids.get(token) ?? next
    if (id === next) {
      ids.set(token, id)
      next += 1
    }
    return id
  }
  const numbered: NumberedText[] = []
  const bags = Array.from({ length: documents }, () => new Map<number, number>())
  const sizes = new Float64Array(documents)
  for (const [text, said] of texts.entries()) {
    const known = previous?.numbered.get(said) ?? numberText(said, numberOf)
    numbered.push(known)
    const document = documentOf[text] ?? 0
    const bag = bags[document]
    sizes[document] = (sizes[document] ?? 0) + known.tokens.length
    for (const token of known.tokens) bag?.set(token, (bag.get(token) ?? 0) + 1)
    await yieldToEventLoop()
  }
  const postings = await postingsOf(bags, sizes, next)
  // A token that no text contains any more counts like one that was never seen.
  if (previous !== undefined) for (const [token, id] of ids) if (postings[id]?.documents.length === 0) ids.delete(token)
  return {
    documents,
    ids,
    postings,
    ...(await indexPairs(numbered)),
    numbered: new Map(texts.map((said, text) => [said, numbered[text] as NumberedText])),
  }
}

function numberText(said: string[], numberOf: (token: string) => number): NumberedText {
  const tokens = Int32Array.from(said, numberOf)
  return { tokens, pairs: [...pairsOf(tokens)] }
}

/** Weighted documents of each token. */
async function postingsOf(
  bags: Map<number, number>[],
  sizes: Float64Array,
  tokens: number,
): Promise<LexicalIndex['postings']> {
  const having = new Int32Array(tokens)
  for (const bag of bags) for (const token of bag.keys()) having[token] = (having[token] ?? 0) + 1
  const idf = Float32Array.from(having, (count) => Math.log(1 + (bags.length - count + 0.5) / (count + 0.5)))
  const average = sizes.reduce((sum, size) => sum + size, 0) / Math.max(bags.length, 1)
  const postings = Array.from(having, (count) => ({
    documents: new Int32Array(count),
    weights: new Float32Array(count),
  }))
  const used = new Int32Array(tokens)
  for (const [document, bag] of bags.entries()) {
    const longer = 1.2 * (0.25 + (0.75 * (sizes[document] ?? 0)) / average)
    for (const [token, count] of bag) {
      const posting = postings[token]
      const at = used[token] as number
      if (posting === undefined) continue
      posting.documents[at] = document
      posting.weights[at] = ((idf[token] ?? 0) * count * 2.2) / (count + longer)
      used[token] = at + 1
    }
    await yieldToEventLoop()
  }
  return postings
}

async function indexPairs(numbered: NumberedText[]): Promise<Pick<LexicalIndex, 'textsOfPair' | 'pairCounts'>> {
  const textsOfPair = new Map<number, number[]>()
  const pairCounts = new Int32Array(numbered.length)
  for (const [text, { pairs }] of numbered.entries()) {
    pairCounts[text] = pairs.length
    for (const pair of pairs) {
      const having = textsOfPair.get(pair)
      if (having === undefined) textsOfPair.set(pair, [text])
      else having.push(text)
    }
    await yieldToEventLoop()
  }
  return { textsOfPair, pairCounts }
}

/** A question in the index's numbers; words it has never seen are -1. */
export function numberTokens(index: LexicalIndex, tokens: string[]): Int32Array {
  return Int32Array.from(tokens, (token) => index.ids.get(token) ?? -1)
}

function pairsOf(tokens: Int32Array): Set<number> {
  const pairs = new Set<number>()
  for (let at = 0; at <= tokens.length; at += 1) pairs.add((tokens[at - 1] ?? -2) * 1_048_583 + (tokens[at] ?? -3))
  return pairs
}

export function comparePairs(
  { textsOfPair, pairCounts }: LexicalIndex,
  tokens: Int32Array,
): { pairs: number; sharedPairs: Uint8Array } {
  const pairs = pairsOf(tokens)
  const sharedPairs = new Uint8Array(pairCounts.length)
  for (const pair of pairs)
    for (const text of textsOfPair.get(pair) ?? []) sharedPairs[text] = (sharedPairs[text] as number) + 1
  return { pairs: pairs.size, sharedPairs }
}

/** A score for each query, and the best of them, which is never zero. */
export type Bm25 = { scores: Float32Array; best: number }

export function bm25(index: LexicalIndex, tokens: Int32Array): Bm25 {
  const scores = new Float32Array(index.documents)
  let best = 1e-6
  for (const token of new Set(tokens)) {
    const posting = index.postings[token]
    if (posting === undefined) continue
    const { documents, weights } = posting
    for (let at = 0; at < documents.length; at += 1) {
      const document = documents[at] as number
      const score = (scores[document] as number) + (weights[at] as number)
      scores[document] = score
      if (score > best) best = score
    }
  }
  return { scores, best }
}
