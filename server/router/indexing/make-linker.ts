import { isFunctionWord, words, type Linker, type ValueType } from '../../language/index.ts'
import type { Encoder } from '../encoder/encoder.ts'
import { yieldToEventLoop } from '../../flow/index.ts'
import { placeholder } from '../project/index-text.ts'
import { buildTrie } from './value-lists.ts'
import { slotsOf, spoken, type RoutableProject } from '../project/project.ts'

// A word that a description uses is still a value when the list is short enough to have been written by hand.
const shortList = 30

/** Learns from a project what the words of a question can stand for. */
export async function makeLinker(encoder: Pick<Encoder, 'tokenizer'>, project: RoutableProject): Promise<Linker> {
  const types = new Map<string, ValueType>()
  const byKind: Linker['byKind'] = new Map()
  for (const query of project.queries) {
    for (const { type } of slotsOf(query)) {
      if (types.has(type.key)) continue
      types.set(type.key, type)
      byKind.set(type.kind, [...(byKind.get(type.kind) ?? []), type])
    }
    await yieldToEventLoop()
  }
  const { spokenIn, described } = await ordinaryWords(project)
  const isOrdinary = (stem: string, listSize: number): boolean =>
    isFunctionWord(stem) || (listSize > shortList && (spokenIn.get(stem) ?? 0) >= 2)
  const labels = new Set([...types.values()].flatMap(({ labelStems }) => [...labelStems]))
  const { trie, samples, existing } = await buildTrie(project, {
    isOrdinary,
    isSaid: (stem) => spokenIn.has(stem) || labels.has(stem),
  })
  const mayBeTypo = (word: string): boolean => !encoder.tokenizer.knows(word) && !spokenIn.has(word)
  return {
    trie,
    types,
    byKind,
    mayBeTypo,
    readsParts: true,
    unnumbered: await unnumberedWords(project),
    described,
    samples,
    existing,
  }
}

async function unnumberedWords({ queries }: RoutableProject): Promise<Set<string>> {
  const [numbered, others] = [new Set<string>(), new Set<string>()]
  for (const query of queries) {
    for (const { name, type } of slotsOf(query)) {
      const said = type.kind === 'number' ? numbered : type.kind === 'values' ? others : null
      if (said !== null) for (const { stem } of words(`${spoken(name)} ${type.label}`)) said.add(stem)
    }
    await yieldToEventLoop()
  }
  return new Set([...others].filter((stem) => !numbered.has(stem) && !isFunctionWord(stem)))
}

/** In how many queries a word is said outside placeholders and parameter values, and which words descriptions use. */
async function ordinaryWords(
  project: RoutableProject,
): Promise<{ spokenIn: Map<string, number>; described: Set<string> }> {
  const spokenIn = new Map<string, number>()
  const described = new Set<string>()
  for (const { description, examples } of project.queries) {
    const said = new Set<string>()
    for (const { text } of words(description)) described.add(text)
    for (const { stem } of words(description.replaceAll(placeholder, ' '))) said.add(stem)
    for (const { question, parameters } of examples) {
      const bound = new Set(Object.values(parameters).flatMap((value) => words(String(value)).map(({ stem }) => stem)))
      for (const { stem } of words(question)) if (!bound.has(stem)) said.add(stem)
    }
    for (const stem of said) spokenIn.set(stem, (spokenIn.get(stem) ?? 0) + 1)
    await yieldToEventLoop()
  }
  return { spokenIn, described }
}
