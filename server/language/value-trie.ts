import { fold, isFunctionWord, stem, words, type Word } from './words/text.ts'

/** A value of a column or an enum, and the slot type it fills. */
type Entry = {
  type: string
  value: unknown
  folded: string
  ordinary: boolean
  /** Where the words are only a part of values ("Anna" of "Anna Berg"): those values. */
  among: unknown[] | null
}

type Node = { children: Map<string, Node>; entries: Entry[] }

/** All values of a project in one trie over word stems, so that linking costs the question's length, not the list's. */
export type ValueTrie = { root: Node; deletions: Map<string, string[]> }

export type Hit = { from: number; to: number; entry: Entry; quality: number }

const maxValueWords = 12
const minFuzzyLetters = 5
/**
 * Shorter words are one letter away from another too often; two letters that changed places are a typing error still.
 */
const minExchangedLetters = 4

export function newTrie(): ValueTrie {
  return { root: { children: new Map(), entries: [] }, deletions: new Map() }
}

/** Adds a value under one way to write it; `isOrdinary` tells which words are also said without meaning a value. */
export function addValue(
  trie: ValueTrie,
  { type, value, surface }: { type: string; value: unknown; surface: string },
  isOrdinary: (stem: string) => boolean,
): void {
  const path = words(surface)
  if (path.length === 0 || path.length > maxValueWords) return
  const node = nodeAt(trie, path)
  const folded = path.map(({ text }) => text).join(' ')
  if (node.entries.some((known) => known.type === type && known.value === value)) return
  const ordinary = path.every(({ stem: root }) => isOrdinary(root))
  node.entries.push({ type, value, folded, ordinary, among: null })
}

/** Adds words that only a part of some values is written with. */
export function addPart(
  trie: ValueTrie,
  { type, path, among }: { type: string; path: Word[]; among: unknown[] },
): void {
  const node = nodeAt(trie, path)
  // A name that is a value by itself stays that value.
  if (node.entries.some((known) => known.type === type)) return
  const folded = path.map(({ text }) => text).join(' ')
  const [only = folded, ...others] = among
  node.entries.push({ type, value: others.length === 0 ? only : folded, folded, ordinary: false, among })
}

function nodeAt(trie: ValueTrie, path: Word[]): Node {
  let node = trie.root
  for (const word of path) {
    let next = node.children.get(word.stem)
    if (next === undefined) {
      next = { children: new Map(), entries: [] }
      node.children.set(word.stem, next)
      addDeletions(trie, word.stem)
    }
    node = next
  }
  return node
}

function addDeletions(trie: ValueTrie, word: string): void {
  if (word.length < minExchangedLetters || /\d/.test(word)) return
  for (const shorter of [word, ...deletions(word)]) {
    const known = trie.deletions.get(shorter)
    if (known === undefined) trie.deletions.set(shorter, [word])
    else if (!known.includes(word)) known.push(word)
  }
}

function deletions(word: string): string[] {
  return Array.from(word, (_, at) => word.slice(0, at) + word.slice(at + 1))
}

/** Every value that stands in the question, longest and best first decided by the caller. */
export function findValues(trie: ValueTrie, question: Word[], mayBeTypo: (word: string) => boolean): Hit[] {
  const hits: Hit[] = []
  const strange = question.map(({ text }) => mayBeTypo(text))
  const close = question.map(({ text, stem: root }, at) =>
    strange[at] === true || !isFunctionWord(text) ? nearWords(trie, root) : [],
  )
  for (let from = 0; from < question.length; from += 1)
    walk(trie.root, { question, close, strange, hits, from }, from, { quality: 1, misread: [] })
  return hits
}

type Walk = { question: Word[]; close: string[][]; strange: boolean[]; hits: Hit[]; from: number }

/** How well the words so far are those of a value, and the places of those that are read as others. */
type Match = { quality: number; misread: number[] }

function walk(node: Node, state: Walk, at: number, { quality, misread }: Match): void {
  const { question, close, strange, hits, from } = state
  // "Vila Margaux": a word that is one elsewhere is a typing error beside the other words of a name.
  const others = misread.filter((place) => strange[place] !== true)
  const isRead = others.length === 0 || (others.length === 1 && misread.length === 1 && at - from > 1)
  if (at > from && isRead) {
    const said = question
      .slice(from, at)
      .map(({ text }) => text)
      .join(' ')
    for (const entry of node.entries)
      hits.push({ from, to: at, entry, quality: entry.folded === said ? quality : quality * 0.9 })
  }
  const word = question[at]
  if (word === undefined || at - from >= maxValueWords) return
  const exact = node.children.get(word.stem)
  if (exact !== undefined) walk(exact, state, at + 1, { quality, misread })
  for (const near of close[at] ?? []) {
    const next = node.children.get(near)
    if (next !== undefined && near !== word.stem)
      walk(next, state, at + 1, { quality: quality * 0.7, misread: [...misread, at] })
  }
}

/** Words of the trie one insertion, deletion, replacement or swap away; of short ones a swap. */
function nearWords(trie: ValueTrie, word: string): string[] {
  if (word.length < minExchangedLetters || /\d/.test(word)) return []
  const near = new Set<string>()
  for (const shorter of [word, ...deletions(word)])
    for (const known of trie.deletions.get(shorter) ?? []) near.add(known)
  return [...near].filter(
    (known) => known[0] === word[0] && (known.length >= minFuzzyLetters || isExchanged(known, word)),
  )
}

function isExchanged(known: string, word: string): boolean {
  const at = Array.from(known).findIndex((letter, place) => letter !== word[place])
  return known.slice(0, at) + known.charAt(at + 1) + known.charAt(at) + known.slice(at + 2) === word
}

/** The value as a list holds it, for a text that names it in full; undefined when the list does not. */
export function sameValue(left: unknown, right: unknown): boolean {
  if (left === right) return true
  const plain = (value: unknown): string =>
    words(fold(String(value)))
      .map(({ text }) => stem(text))
      .join(' ')
  return plain(left) === plain(right)
}
