import { checkSlots, type LiveVersion } from '../queries/index.ts'

export type ParameterSource = 'given' | 'defaults' | 'example' | 'recorded'

/** Values to call a query with. */
export type ParameterSet = { source: ParameterSource; parameters: Record<string, unknown> }

/**
 * Parameter sets that a query is compared on, each once: those its author gives, no values where it needs none, its
 * examples, and recorded calls. A set that the query would refuse (an example may leave slots open) says nothing about
 * an engine and is left out.
 */
export function parameterSets(
  version: Pick<LiveVersion, 'compiled' | 'examples'>,
  {
    given,
    recorded,
    most,
  }: { given: Array<Record<string, unknown>>; recorded: Array<Record<string, unknown>>; most: number },
): ParameterSet[] {
  const all: ParameterSet[] = [
    ...given.map((parameters) => ({ source: 'given' as const, parameters })),
    { source: 'defaults', parameters: {} },
    ...version.examples.map(({ parameters }) => ({ source: 'example' as const, parameters })),
    ...recorded.map((parameters) => ({ source: 'recorded' as const, parameters })),
  ]
  const sets = new Map<string, ParameterSet>()
  for (const set of all) {
    if (sets.size >= most) break
    const bound = checkSlots(version.compiled(), set.parameters)
    if (!('details' in bound) && !sets.has(bound.key)) sets.set(bound.key, set)
  }
  return [...sets.values()]
}
