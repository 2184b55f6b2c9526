import { isDeepStrictEqual } from 'node:util'
import { addPart, addValue, isFunctionWord, newTrie, words, type Linker, type Word } from '../../language/index.ts'
import { yieldToEventLoop } from '../../flow/index.ts'
import { slotsOf, type ListedValue, type RoutableProject, type ValueRules } from '../project/project.ts'

type Ordinary = {
  isOrdinary: (stem: string, listSize: number) => boolean
  /** Whether the project's texts say a word by itself. */
  isSaid: (stem: string) => boolean
}

/** The trie, and one value from the middle of each list, as people would write it. */
export async function buildTrie(
  project: RoutableProject,
  { isOrdinary, isSaid }: Ordinary,
): Promise<Pick<Linker, 'trie' | 'samples' | 'existing'>> {
  const trie = newTrie()
  const lists = await valueLists(project)
  for (const [type, list] of lists) {
    for (const { surface, value } of list.flatMap(asWritten)) {
      addValue(trie, { type, value, surface }, (stem) => isOrdinary(stem, list.length))
      await yieldToEventLoop()
    }
  }
  // A synonym is not a name of which a part would do.
  for (const [type, list] of await valueLists(project, 'unspoken')) await addParts(trie, { type, list, isSaid })
  const existing = new Map(
    Array.from(lists, ([type, list]) => {
      const values = [...new Set(list.map(({ value }) => String(value)))]
      return [type, { values: values.slice(0, maxExisting), count: values.length }]
    }),
  )
  const samples = [...lists.values()].flatMap((list) => list[Math.floor(list.length / 2)]?.surface ?? [])
  return { trie, samples, existing }
}

// In a longer list nearly every word is a part of something.
const maxPartedValues = 2_000
const maxPartWords = 4
const minPartLetters = 3
/** With more of them a word is what the list is about rather than a part of a name. */
const maxAmong = 6

/** "Anna" for "Anna Berg": every run of words inside the values, but for words that the project says by itself. */
async function addParts(
  trie: Linker['trie'],
  { type, list, isSaid }: { type: string; list: Listed[]; isSaid: Ordinary['isSaid'] },
): Promise<void> {
  if (list.length > maxPartedValues) return
  const isEmpty = ({ text, stem }: Word): boolean =>
    text.length < minPartLetters || /\d/.test(text) || isFunctionWord(text) || isSaid(stem)
  const parts = new Map<string, { path: Word[]; among: Set<unknown> }>()
  for (const { surface, value } of list) {
    for (const path of runsOf(words(surface))) {
      const [first, last] = [path[0], path.at(-1)]
      if (first === undefined || last === undefined || path.every(isEmpty)) continue
      if (isFunctionWord(first.text) || isFunctionWord(last.text)) continue
      const key = path.map(({ stem }) => stem).join(' ')
      const known = parts.get(key) ?? { path, among: new Set<unknown>() }
      known.among.add(value)
      parts.set(key, known)
    }
    await yieldToEventLoop()
  }
  for (const { path, among } of parts.values()) {
    if (among.size <= maxAmong) addPart(trie, { type, path, among: [...among] })
  }
}

/** Every run of neighbouring words that is less than all of them. */
function runsOf(all: Word[]): Word[][] {
  const longest = Math.min(all.length - 1, maxPartWords)
  return Array.from({ length: Math.max(0, longest) }, (_, less) =>
    Array.from({ length: all.length - less }, (__, from) => all.slice(from, from + less + 1)),
  ).flat()
}

/** Enough to recognise what kind of thing is meant. */
const maxExisting = 5

type Listed = { surface: string; value: unknown }

/** With `unspoken` without what people say for them. */
async function valueLists(project: RoutableProject, unspoken?: 'unspoken'): Promise<Map<string, Listed[]>> {
  const lists = new Map<string, Listed[]>()
  for (const query of project.queries) {
    for (const { type, rules } of slotsOf(query)) {
      if (type.kind !== 'values') continue
      const known = lists.get(type.key)
      if (known === undefined) {
        const listed = rules.valuesFrom === null ? [] : (project.values[rules.valuesFrom] ?? []).flatMap(surfaces)
        const synonyms = unspoken === undefined ? synonymsOf(rules) : []
        lists.set(type.key, [...listed, ...enumValues(rules), ...synonyms])
      } else if (unspoken === undefined)
        known.push(...synonymsOf(rules).filter((each) => !known.some((other) => isDeepStrictEqual(other, each))))
    }
    await yieldToEventLoop()
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

/** "Salt & Pepper" is said "salt and pepper", "St. Anne's" "st annes", and "web-frontend" "webfrontend". */
function asWritten({ surface, value }: Listed): Listed[] {
  const others = [
    surface.replaceAll('&', ' and '),
    surface.replaceAll(/\sand\s/giu, ' & '),
    surface.replaceAll(/['’]/gu, ''),
    surface.replaceAll(/(?<=\p{L}{3})-(?=\p{L}{3})/gu, ''),
  ]
  return [...new Set([surface, ...others])].map((each) => ({ surface: each, value }))
}

function enumValues({ choices }: ValueRules): Listed[] {
  return choices.flatMap((value) =>
    [String(value), String(value).replaceAll('_', ' ')].map((surface) => ({ surface, value })),
  )
}

/** Synonyms of a value, whether an enum lists it or a column holds it. */
function synonymsOf({ choices, synonyms }: ValueRules): Listed[] {
  return Object.entries(synonyms).flatMap(([name, said]) => {
    const value = choices.find((each) => String(each) === name) ?? name
    return said.map((surface) => ({ surface, value }))
  })
}
