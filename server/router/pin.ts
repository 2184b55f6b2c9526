import { fill } from './fill.ts'
import type { ProjectIndex } from './project-index.ts'
import { ambiguousMargin } from './ranking/confidence.ts'
import { plain, read } from './route.ts'
import { conclude, type RouteOptions, type Routing } from './routing.ts'
import { checkWhole } from './whole.ts'

/** Reads a question for a query that the caller has chosen: only its slots are still to be found. */
export async function routePinned(
  index: ProjectIndex,
  question: string,
  { name, ...options }: RouteOptions & { name: string },
): Promise<Routing> {
  const query = index.queries.find((each) => each.query.name === name)
  if (query === undefined) throw new TypeError(`The index has no query ${name}.`)
  const { asked } = await read(index, plain(question), options)
  const filled = fill(index, asked, query, options)
  const example = index.texts[query.from]?.text ?? query.query.description
  const { description } = query.query
  const explanation = {
    candidates: [{ name, description, score: 0, example }],
    matchedExample: null,
    parameters: filled.parameters,
    sources: filled.sources,
    unused: filled.unused,
    unexpressed: [],
    match: null,
    confidence: null,
    threshold: index.calibration.threshold,
    margin: null,
    minMargin: ambiguousMargin,
    encoder: index.encoder.kind,
  }
  const concluded = conclude(query, filled, { explanation, given: options.given })
  if (concluded.outcome !== 'answer') return concluded
  // Who has said which query is meant is told what it leaves out, and refused only where that is wanted.
  const completeness = options.completeness ?? 'partial'
  return checkWhole(index, { ...asked, options: { ...options, completeness } }, concluded)
}
