import { fixedLimits } from '../../api/limits.ts'
import { Failure } from '../failure.ts'

/** Tables that each model of a project reads, by its name. */
export type Graph = ReadonlyMap<string, readonly string[]>

/** Refuses a model that would be built from itself, and one that stands on too many others. */
export function refuseCycle(graph: Graph, name: string): void {
  const path = pathBack(graph, name)
  if (path !== null) {
    throw new Failure('invalid_request', {
      reason: 'model_cycle',
      message: `The model would be built from itself: ${path.join(' reads ')}.`,
      details: [{ field: 'sql', message: `closes a cycle: ${path.join(' → ')}` }],
    })
  }
  const most = fixedLimits.modelDepth.value
  const deepest = Math.max(0, ...[...graph.keys()].map((each) => depthOf(graph, each)))
  if (deepest <= most) return
  throw new Failure('invalid_request', {
    reason: 'invalid_field',
    message: `Models would stand on each other ${deepest} deep; they may ${most} deep.`,
  })
}

function pathBack(graph: Graph, name: string): string[] | null {
  const seen = new Set<string>()
  const walk = (at: string, path: string[]): string[] | null => {
    for (const next of graph.get(at) ?? []) {
      if (next === name) return [...path, next]
      if (seen.has(next)) continue
      seen.add(next)
      const found = walk(next, [...path, next])
      if (found !== null) return found
    }
    return null
  }
  return walk(name, [name])
}

function depthOf(graph: Graph, name: string, known = new Map<string, number>()): number {
  const found = known.get(name)
  if (found !== undefined) return found
  const below = (graph.get(name) ?? []).filter((each) => graph.has(each))
  const depth = 1 + Math.max(0, ...below.map((each) => depthOf(graph, each, known)))
  known.set(name, depth)
  return depth
}

/** The models that are built from a table or model, by way of others, too; each behind those that it reads. */
export function above(graph: Graph, name: string): string[] {
  const reached = new Set<string>()
  const wave = [name]
  for (const at of wave) {
    for (const [model, reads] of graph) {
      if (!reads.includes(at) || reached.has(model)) continue
      reached.add(model)
      wave.push(model)
    }
  }
  return inOrder(graph).filter((each) => reached.has(each))
}

/** The models that one is built from, by way of others, too. */
export function below(graph: Graph, name: string): string[] {
  const reached = new Set<string>()
  const wave = [name]
  for (const at of wave) {
    for (const next of graph.get(at) ?? []) {
      if (!graph.has(next) || reached.has(next)) continue
      reached.add(next)
      wave.push(next)
    }
  }
  return [...reached]
}

/** Every model behind those that it reads. */
export function inOrder(graph: Graph): string[] {
  const known = new Map<string, number>()
  return [...graph.keys()].sort((left, right) => depthOf(graph, left, known) - depthOf(graph, right, known))
}

export function graphOf(models: ReadonlyMap<string, { reads: Record<string, unknown> }>): Map<string, string[]> {
  return new Map([...models].map(([name, { reads }]) => [name, Object.keys(reads)]))
}
