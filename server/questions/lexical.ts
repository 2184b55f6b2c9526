import { words } from './text.ts'

/** Hashed words and letter triples as a direction of length one, for machines where the encoder does not run. */
export function hashedVector(text: string, dimensions: number): Float32Array {
  const vector = new Float32Array(dimensions)
  const add = (feature: string, weight: number): void => {
    const hash = fnv(feature)
    const at = (hash >>> 1) % dimensions
    vector[at] = (vector[at] ?? 0) + ((hash & 1) === 0 ? weight : -weight)
  }
  for (const { stem } of words(text)) {
    add(stem, 1)
    const padded = `^${stem}$`
    for (let at = 0; at + 3 <= padded.length; at += 1) add(`#${padded.slice(at, at + 3)}`, 0.4)
  }
  let squares = 0
  for (const value of vector) squares += value * value
  const length = Math.sqrt(squares) || 1
  return vector.map((value) => value / length)
}

function fnv(text: string): number {
  let hash = 0x811c9dc5
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
  return (hash ^ (hash >>> 15)) >>> 0
}

/** Documents as bags of tokens, searched by shared tokens. A document is a text of a query, or all its texts together. */
export type LexicalIndex = {
  documents: number
  postings: Map<string, { ids: Int32Array; weights: Float32Array }>
  idf: Map<string, number>
  unseenIdf: number
}

type Weighing = 'cosine' | 'bm25'

export function buildLexical(documents: string[][], weighing: Weighing): LexicalIndex {
  const counts = documents.map(countTokens)
  const documentsWith = new Map<string, number>()
  for (const bag of counts)
    for (const token of bag.keys()) documentsWith.set(token, (documentsWith.get(token) ?? 0) + 1)
  const total = documents.length
  const idfOf = (having: number): number => Math.log(1 + (total - having + 0.5) / (having + 0.5))
  const idf = new Map(Array.from(documentsWith, ([token, having]) => [token, idfOf(having)] as const))
  const average = documents.reduce((sum, tokens) => sum + tokens.length, 0) / Math.max(total, 1)
  const lists = new Map<string, [number, number][]>()
  counts.forEach((bag, id) => {
    const size = documents[id]?.length ?? 0
    let squares = 0
    for (const [token, count] of bag) squares += (tf(count) * (idf.get(token) ?? 0)) ** 2
    const norm = Math.sqrt(squares) || 1
    for (const [token, count] of bag) {
      const weight = idf.get(token) ?? 0
      const value =
        weighing === 'cosine'
          ? (tf(count) * weight) / norm
          : (weight * count * 2.2) / (count + 1.2 * (0.25 + (0.75 * size) / average))
      const list = lists.get(token) ?? []
      list.push([id, value])
      lists.set(token, list)
    }
  })
  const postings = new Map(
    Array.from(lists, ([token, list]) => [
      token,
      { ids: Int32Array.from(list, ([id]) => id), weights: Float32Array.from(list, ([, weight]) => weight) },
    ]),
  )
  return { documents: total, postings, idf, unseenIdf: idfOf(0) }
}

export function countTokens(tokens: string[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const token of tokens) counts.set(token, (counts.get(token) ?? 0) + 1)
  return counts
}

function tf(count: number): number {
  return 1 + Math.log(count)
}

/** The score of every document. With `cosine` the question has length one too, unseen words included. */
export function lexicalScores(index: LexicalIndex, tokens: string[], weighing: Weighing): Float32Array {
  const scores = new Float32Array(index.documents)
  const bag = countTokens(tokens)
  let squares = 0
  for (const [token, count] of bag) squares += (tf(count) * (index.idf.get(token) ?? index.unseenIdf)) ** 2
  const norm = weighing === 'cosine' ? Math.sqrt(squares) || 1 : 1
  for (const [token, count] of bag) {
    const posting = index.postings.get(token)
    if (posting === undefined) continue
    const own = weighing === 'cosine' ? (tf(count) * (index.idf.get(token) ?? 0)) / norm : 1
    for (let at = 0; at < posting.ids.length; at += 1) {
      const id = posting.ids[at] ?? 0
      scores[id] = (scores[id] ?? 0) + own * (posting.weights[at] ?? 0)
    }
  }
  return scores
}
