import type { Catalogs } from '../../data/index.ts'
import { editDistance, maxProblems, shortName } from '../../failure.ts'
import { mapInPieces } from '../../flow/index.ts'
import type { LiveVersion } from '../deployed/deployment-index.ts'
import { listedSlots } from '../deployed/listed-values.ts'

/** A value that no row has, of a slot that takes its values from a column. */
export type UnknownValue = { code: 'unknown_value'; slot: string; value: string; nearest: string[] }
/** The first of them, as an answer tells them; the others are counted. */
export type UnknownValues = { warnings: UnknownValue[]; more_warnings?: number }

const maxNearest = 3
/** Longer values are compared with none. */
const maxComparedChars = 100

/** Says of an answer without rows which of its values none could have had; null where each could. */
export async function findUnknownValues(
  { catalogs }: { catalogs: Catalogs },
  { projectId, version, parameters }: { projectId: string; version: LiveVersion; parameters: Record<string, unknown> },
): Promise<UnknownValues | null> {
  const slots = listedSlots(version.slots)
  const columns = new Set(slots.map(({ column }) => column))
  // The answer stands also while the database is away.
  const values = await catalogs.valuesOf(projectId, columns).catch((): Record<string, string[]> => ({}))
  const unknown: Array<{ slot: string; value: string; known: string[] }> = []
  let count = 0
  for (const { name: slot, column } of slots) {
    const known = values[column]
    if (known === undefined) continue
    const has = new Set(known)
    for (const value of [parameters[slot] ?? []].flat().map(String)) {
      if (has.has(value)) continue
      count += 1
      if (count <= maxProblems) unknown.push({ slot, value, known })
    }
  }
  if (count === 0) return null
  const warnings = await mapInPieces(unknown, ({ slot, value, known }): UnknownValue => {
    return { code: 'unknown_value', slot, value: shortName(value), nearest: nearestTo(value, known) }
  })
  return { warnings, ...(count > warnings.length && { more_warnings: count - warnings.length }) }
}

/** The values that somebody may have meant: those that hold the same letters, then those a few letters away. */
function nearestTo(value: string, known: string[]): string[] {
  if (value.length > maxComparedChars) return []
  const wanted = value.toLowerCase()
  const limit = Math.max(2, Math.floor(wanted.length / 2)) + 1
  return known
    .map((each) => ({ each, cost: costOf(wanted, each, limit) }))
    .filter(({ cost }) => cost < limit)
    .sort((a, b) => a.cost - b.cost)
    .slice(0, maxNearest)
    .map(({ each }) => each)
}

function costOf(wanted: string, each: string, limit: number): number {
  const known = each.toLowerCase()
  if (wanted === known) return 0
  if (wanted.length > 2 && (known.includes(wanted) || wanted.includes(known))) return 1
  return editDistance(wanted, known, limit)
}
