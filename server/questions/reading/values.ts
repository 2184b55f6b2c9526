import { isDeepStrictEqual } from 'node:util'
import { breathe } from '../indexing/breathe.ts'
import type { ListedValue, RoutableProject, SlotProperty } from '../project.ts'
import { slotsOf } from '../project.ts'
import { fold, stem, words, type Word } from './text.ts'

/** A value of a column or an enum, and the slot type it fills. */
type Entry = { type: string; value: unknown; folded: string; ordinary: boolean }

type Node = { children: Map<string, Node>; entries: Entry[] }

/** All values of a project in one trie over word stems, so that linking costs the question's length, not the list's. */
export type ValueTrie = { root: Node; deletions: Map<string, string[]> }

export type Hit = { from: number; to: number; entry: Entry; quality: number }

const longestValueWords = 12
const shortestFuzzyLetters = 5

/** The trie, and one value from the middle of each list, as people would write it. */
export async function buildTrie(
  project: RoutableProject,
  isOrdinary: (stem: string, listSize: number) => boolean,
): Promise<{ trie: ValueTrie; samples: string[] }> {
  const trie: ValueTrie = { root: { children: new Map(), entries: [] }, deletions: new Map() }
  const lists = await valueLists(project)
  for (const [type, list] of lists) {
    for (const { surface, value } of list.flatMap(withAnd)) {
      insert(trie, surface, { type, value, folded: '', ordinary: false }, (stem) => isOrdinary(stem, list.length))
      await breathe()
    }
  }
  return { trie, samples: [...lists.values()].flatMap((list) => list[Math.floor(list.length / 2)]?.surface ?? []) }
}

type Listed = { surface: string; value: unknown }

async function valueLists(project: RoutableProject): Promise<Map<string, Listed[]>> {
  const lists = new Map<string, Listed[]>()
  for (const query of project.queries) {
    for (const { type, property } of slotsOf(query)) {
      if (type.kind !== 'values') continue
      const from = property['x-values-from'] ?? property.items?.['x-values-from']
      const own = property.items ?? property
      const known = lists.get(type.key)
      if (known === undefined) {
        const listed = from === undefined ? [] : (project.values[from] ?? []).flatMap(surfaces)
        lists.set(type.key, [...listed, ...enumValues(own), ...synonymsOf(own)])
      } else known.push(...synonymsOf(own).filter((each) => !known.some((other) => isDeepStrictEqual(other, each))))
    }
    await breathe()
  }
  return lists
}

function surfaces(listed: ListedValue): Listed[] {
  if (typeof listed !== 'object') return [{ surface: String(listed), value: listed }]
  return [
    { surface: String(listed.value), value: listed.value },
    { surface: listed.label, value: listed.value },
  ]
}

/** "Salt & Pepper" is said "salt and pepper", and the other way round. */
function withAnd(listed: Listed): Listed[] {
  const { surface, value } = listed
  if (surface.includes('&')) return [listed, { surface: surface.replaceAll('&', ' and '), value }]
  return /\sand\s/iu.test(surface) ? [listed, { surface: surface.replaceAll(/\sand\s/giu, ' & '), value }] : [listed]
}

function enumValues({ enum: values = [] }: SlotProperty): Listed[] {
  return values.flatMap((value) =>
    [String(value), String(value).replaceAll('_', ' ')].map((surface) => ({ surface, value })),
  )
}

/** What people say for a value, whether an enum lists it or a column holds it. */
function synonymsOf({ enum: values = [], 'x-synonyms': synonyms = {} }: SlotProperty): Listed[] {
  return Object.entries(synonyms).flatMap(([name, said]) => {
    const value = values.find((each) => String(each) === name) ?? name
    return said.map((surface) => ({ surface, value }))
  })
}

function insert(trie: ValueTrie, surface: string, entry: Entry, isOrdinary: (stem: string) => boolean): void {
  const path = words(surface)
  if (path.length === 0 || path.length > longestValueWords) return
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
  const folded = path.map(({ text }) => text).join(' ')
  if (node.entries.some((known) => known.type === entry.type && known.value === entry.value)) return
  const ordinary = path.every(({ stem: root }) => isOrdinary(root))
  node.entries.push({ ...entry, folded, ordinary })
}

function addDeletions(trie: ValueTrie, word: string): void {
  if (word.length < shortestFuzzyLetters || /\d/.test(word)) return
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
  const close = question.map(({ text, stem: root }) => (mayBeTypo(text) ? nearWords(trie, root) : []))
  for (let from = 0; from < question.length; from += 1) walk(trie.root, { question, close, hits, from }, from, 1)
  return hits
}

type Walk = { question: Word[]; close: string[][]; hits: Hit[]; from: number }

function walk(node: Node, state: Walk, at: number, quality: number): void {
  const { question, close, hits, from } = state
  if (at > from) {
    const said = question
      .slice(from, at)
      .map(({ text }) => text)
      .join(' ')
    for (const entry of node.entries)
      hits.push({ from, to: at, entry, quality: entry.folded === said ? quality : quality * 0.9 })
  }
  const word = question[at]
  if (word === undefined || at - from >= longestValueWords) return
  const exact = node.children.get(word.stem)
  if (exact !== undefined) walk(exact, state, at + 1, quality)
  for (const near of close[at] ?? []) {
    const next = node.children.get(near)
    if (next !== undefined && near !== word.stem) walk(next, state, at + 1, quality * 0.7)
  }
}

/** Words of the trie one insertion, deletion, replacement or swap away. */
function nearWords(trie: ValueTrie, word: string): string[] {
  if (word.length < shortestFuzzyLetters || /\d/.test(word)) return []
  const near = new Set<string>()
  for (const shorter of [word, ...deletions(word)])
    for (const known of trie.deletions.get(shorter) ?? []) near.add(known)
  return [...near].filter((known) => known.length >= shortestFuzzyLetters && known[0] === word[0])
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
