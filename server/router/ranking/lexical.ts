import { yieldToEventLoop } from '../../flow/index.ts'

/** Queries as bags of the tokens of all their texts, searched by shared tokens (BM25). Tokens are numbered. */
export type LexicalIndex = {
  documents: number
  ids: Map<string, number>
  postings: { documents: Int32Array; weights: Float32Array }[]
  /** The texts that have a pair of neighbouring words, and how many pairs each text has. */
  textsOfPair: Map<number, number[]>
  pairCounts: Int32Array
}

export async function buildLexical(
  texts: string[][],
  documentOf: Int32Array,
  documents: number,
): Promise<LexicalIndex> {
  const ids = new Map<string, number>()
  const numbered: Int32Array[] = []
  const bags = Array.from({ length: documents }, () => new Map<number, number>())
  const sizes = new Float64Array(documents)
  const numberOf = (token: string): number => {
    const id = ids.get(token) ?? ids.size
    ids.set(token, id)
    return id
  }
  for (const [text, said] of texts.entries()) {
    const tokens = Int32Array.from(said, numberOf)
    numbered.push(tokens)
    const document = documentOf[text] ?? 0
    const bag = bags[document]
    sizes[document] = (sizes[document] ?? 0) + tokens.length
    for (const token of tokens) bag?.set(token, (bag.get(token) ?? 0) + 1)
    await yieldToEventLoop()
  }
  const having = new Int32Array(ids.size)
  for (const bag of bags) for (const token of bag.keys()) having[token] = (having[token] ?? 0) + 1
  const idfOf = (count: number): number => Math.log(1 + (documents - count + 0.5) / (count + 0.5))
  const idf = Float32Array.from(having, idfOf)
  const average = sizes.reduce((sum, size) => sum + size, 0) / Math.max(documents, 1)
  const lists = Array.from({ length: ids.size }, (): [number, number][] => [])
  for (const [document, bag] of bags.entries()) {
    const longer = 1.2 * (0.25 + (0.75 * (sizes[document] ?? 0)) / average)
    for (const [token, count] of bag)
      lists[token]?.push([document, ((idf[token] ?? 0) * count * 2.2) / (count + longer)])
    await yieldToEventLoop()
  }
  const postings = lists.map((list) => ({
    documents: Int32Array.from(list, ([document]) => document),
    weights: Float32Array.from(list, ([, weight]) => weight),
  }))
  const textsOfPair = new Map<number, number[]>()
  const pairCounts = new Int32Array(numbered.length)
  for (const [text, tokens] of numbered.entries()) {
    const pairs = pairsOf(tokens)
    pairCounts[text] = pairs.size
    for (const pair of pairs) {
      const having = textsOfPair.get(pair)
      if (having === undefined) textsOfPair.set(pair, [text])
      else having.push(text)
    }
    await yieldToEventLoop()
  }
  return { documents, ids, postings, textsOfPair, pairCounts }
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
