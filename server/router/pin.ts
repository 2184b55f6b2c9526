import { fill, type Filled } from './filling/fill.ts'
import type { IndexedQuery, ProjectIndex } from './project/project-index.ts'
import { ambiguousMargin } from './ranking/confidence.ts'
import { plain, read } from './route.ts'
import { spell } from './spell.ts'
import { conclude, type RouteOptions, type Routing } from './decision/routing.ts'
import { checkWhole } from './whole.ts'

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
  const concluded = pin(index, query, { filled, given: options.given })
  if (concluded.outcome !== 'answer') return restore(concluded)
  // Who has said which query is meant is told what it leaves out, and refused only where that is wanted.
  const completeness = options.completeness ?? 'partial'
  return restore(
    await checkWhole(index, { asked, doubts: filled.doubts, options: { ...options, completeness } }, concluded),
  )
}

/** What a query that nobody had to look for makes of what was found and given. */
export function pin(
  index: ProjectIndex,
  query: IndexedQuery,
  { filled, given }: { filled: Filled; given: RouteOptions['given'] },
): Routing {
  const { name, description } = query.query
  const example = index.texts[query.from]?.text ?? description
  const explanation = {
    candidates: [{ name, description, score: 0, confidence: 0, example }],
    matchedExample: null,
    readAs: null,
    parameters: filled.parameters,
    sources: filled.sources,
    unused: filled.unused,
    unexpressed: [],
    match: null,
    ahead: null,
    confidence: null,
    threshold: index.leastConfidence,
    lead: null,
    margin: null,
    minMargin: ambiguousMargin,
    encoder: index.encoder.kind,
  }
  return conclude(query, filled, { explanation, given })
}
