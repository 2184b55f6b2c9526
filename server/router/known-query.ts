import { isFunctionWord, type Word } from '../language/index.ts'
import type { Candidate } from './decision/candidate.ts'
import { readChosen } from './decision/consider.ts'
import type { RouteOptions, Routing } from './decision/routing.ts'
import { reachVerdict, type Case } from './decision/verdicts.ts'
import { fill, type Filled } from './filling/fill.ts'
import type { IndexedQuery, ProjectIndex } from './project/project-index.ts'
import { plain, read } from './route.ts'
import { spell } from './spell.ts'

/** Reads a question for a query that the caller has chosen: only its slots are still to be found. */
export async function routePinned(
  index: ProjectIndex,
  question: string,
  { name, ...options }: RouteOptions & { name: string },
): Promise<Routing> {
  const query = index.queries.find((each) => each.query.name === name)
  if (query === undefined) throw new TypeError(`The index has no query ${name}.`)
  const { text, restore } = spell(index, plain(question), options)
  const { asked } = await read(index, text, options)
  const filled = fill(index, asked, query, options)
  // A caller who names the query is told what it leaves out, and refused only in strict mode.
  const { completeness = 'partial' } = options
  const named = namedCase(index, query, { text: asked.linked.text, filled, options: { ...options, completeness } })
  return restore(reachVerdict(index, await readChosen(index, named)))
}

/** A query that was named instead of searched for, with the slots that a question fills. */
export function namedCase(
  index: ProjectIndex,
  query: IndexedQuery,
  { text, filled, options }: Pick<Case, 'text' | 'options'> & { filled: Filled },
): Case {
  const at = index.queries.findIndex((each) => each.query.name === query.query.name)
  const candidate: Candidate = {
    placed: { candidate: { query: at, bestText: query.from }, score: 0 },
    query,
    filled,
    lack: 0,
    objection: null,
    reported: null,
    isMeant: false,
    isOwn: false,
    reading: null,
  }
  return { text, options, by: 'caller', candidates: [candidate], lead: null }
}

/** The answer to an earlier question. */
export type Earlier = { query: string; parameters: Readonly<Record<string, unknown>> }

export type FollowUp = {
  routing: Routing
  /** The slots whose values are others than before. */
  changed: string[]
  /** It says nothing but what it changes, and so does not stand on its own. */
  isFragment: boolean
}

/** Words with which people refer to what they asked before. */
const referring = new Set(
  'same again instead rather now only just but also too well please again there that those these this it one ones about what how show give me tell and or then otherwise ok okay thanks'.split(
    ' ',
  ),
)
// A slot of such a name says how many rows are wanted.
const countWords = new Set(['top', 'first', 'best', 'bottom', 'last', 'worst'])

/**
 * Reads a question as a change of an earlier one: "and in the south?". Null where that query is gone, where nothing
 * changes, or where it says something that the query knows nothing of.
 */
export async function routeFollowUp(
  index: ProjectIndex,
  question: string,
  { earlier, ...options }: RouteOptions & { earlier: Earlier },
): Promise<FollowUp | null> {
  const query = index.queries.find((each) => each.query.name === earlier.query)
  if (query === undefined) return null
  const { text, restore } = spell(index, plain(question), options)
  const { asked } = await read(index, text, options)
  // All have their value already: none must take a number only because it wants one.
  const content = { ...query, slots: query.slots.map((slot) => ({ ...slot, required: false })) }
  const filled = fill(index, asked, content, options)
  if (filled.gaps.length > 0 || filled.unused.length > 0) return null
  const changed = Object.keys(filled.parameters).filter(
    (slot) => JSON.stringify(filled.parameters[slot]) !== JSON.stringify(earlier.parameters[slot] ?? null),
  )
  const left = leftWords(asked.linked.words, query, filled)
  if (changed.length === 0 || left.some(({ stem }) => !query.said.has(stem))) return null
  const kept = Object.entries(keptOf(query, earlier, filled)).filter(([slot]) => !(slot in filled.parameters))
  const given = { ...Object.fromEntries(kept), ...options.given }
  const routing = restore(
    reachVerdict(index, namedCase(index, query, { text, filled, options: { ...options, given } })),
  )
  return { routing, changed, isFragment: left.length === 0 }
}

/** Words of the question that are neither values nor references to the earlier one. */
function leftWords(words: Word[], { slots }: IndexedQuery, { sources }: Filled): Word[] {
  const cues = new Set(slots.filter(({ name }) => name in sources).flatMap((slot) => [...slot.cues]))
  const taken = Object.values(sources)
  return words.filter(
    ({ text, stem, start, end }) =>
      !taken.some((source) => source.start < end && start < source.end) &&
      !isFunctionWord(text) &&
      !referring.has(text) &&
      !countWords.has(text) &&
      !cues.has(stem),
  )
}

/** "Since March" after "in February": the end that was no longer holds. */
function keptOf({ slots }: IndexedQuery, { parameters }: Earlier, filled: Filled): Record<string, unknown> {
  const dated = slots.filter(({ type }) => type.kind === 'date')
  const isFound = (role: 'start' | 'end'): boolean =>
    dated.some((slot) => slot.role === role && slot.name in filled.parameters)
  const isOpen = isFound('start') && !isFound('end')
  const dropped = new Set(isOpen ? dated.filter(({ role }) => role === 'end').map(({ name }) => name) : [])
  return Object.fromEntries(Object.entries(parameters).filter(([name]) => !dropped.has(name)))
}
