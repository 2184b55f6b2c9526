import { fill } from './fill.ts'
import type { ProjectIndex } from './project-index.ts'
import { ambiguousMargin } from './ranking/confidence.ts'
import { conclude, plain, read, type RouteOptions, type Routing } from './route.ts'

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
    confidence: null,
    threshold: index.calibration.threshold,
    margin: null,
    minMargin: ambiguousMargin,
    encoder: index.encoder.kind,
  }
  return conclude(query, filled, { explanation, given: options.given })
}
