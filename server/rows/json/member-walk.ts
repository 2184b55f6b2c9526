import { type Failure, invalidField } from '../../failure.ts'
import type { JsonPath, PathStep } from './json-path.ts'

/** How values are read: parsed (`parsed-members.ts`), or as the bytes they came in (`each-member.ts`). */
export type MemberReader<Value, Rows> = {
  isNull: (value: Value) => boolean
  /** The members of what the steps lead to; a miss where they lead nowhere, or to what has none. */
  members: (value: Value, steps: PathStep[]) => Miss | Iterable<PathMember<Value>>
  /** The rows that the steps lead to. */
  rows: (value: Value, steps: PathStep[]) => Miss | FoundRows<Rows>
}

/** The failure of steps that lead nowhere: made only to be thrown, since a million members may lack a key. */
export type Miss = { miss: () => Failure }

/** A member of an object by its key, or of a list. */
export type PathMember<Value> = readonly [name: string | null, value: Value]

/** `has`: whether a row has this key. */
export type FoundRows<Rows> = { rows: Rows; isNull: boolean; has: (key: string) => boolean }

/** The columns that keys on the way to some rows become. */
export type KeyColumn = readonly [key: string, name: string | null]

/**
 * Finds the rows under every member of a path with `*`, in any depth, and hands them on in their order until `take` has
 * enough. A key that some members lack is nothing unusual; one that none has is a mistake, of which the first is told.
 */
export function createMemberWalk<Value, Rows>(
  path: JsonPath,
  reader: MemberReader<Value, Rows>,
  take: (rows: Rows, columns: KeyColumn[]) => boolean,
) {
  const { each = [] } = path
  /** By the number of `*` before it. */
  const misses: Array<Miss | undefined> = []
  const isFound: boolean[] = []

  function enter(stage: number, value: Value, columns: KeyColumn[]): boolean {
    const steps = stage === 0 ? path.steps : (each[stage - 1]?.steps ?? [])
    const mayBeNull = stage > 0 && steps.length > 0
    // Many servers write an empty list as null.
    if (mayBeNull && reader.isNull(value)) return true
    if (each[stage] === undefined) {
      const found = noted(stage, reader.rows(value, steps))
      if (found === null || (mayBeNull && found.isNull)) return true
      refuseTaken(path, found.has)
      return take(found.rows, columns)
    }
    for (const member of noted(stage, reader.members(value, steps)) ?? []) {
      if (!enterMember(stage, member, columns)) return false
    }
    return true
  }

  function enterMember(stage: number, [name, value]: PathMember<Value>, columns: KeyColumn[]): boolean {
    const key = each[stage]?.key ?? null
    return enter(stage + 1, value, key === null ? columns : [...columns, [key, name]])
  }

  /** The members or rows that were found; null for a miss. */
  function noted<Found extends object>(stage: number, found: Miss | Found): Found | null {
    if ('miss' in found) {
      misses[stage] ??= found
      return null
    }
    isFound[stage] = true
    return found
  }

  return {
    /** Walks through a whole value; false once `take` has enough. */
    enter: (value: Value) => enter(0, value, []),
    /** Walks through one member of the first `*`. */
    enterMember: (member: PathMember<Value>) => enterMember(0, member, []),
    /** Call after the last. */
    finish(): void {
      const miss = misses.find((each, stage) => each !== undefined && isFound[stage] !== true)
      if (miss !== undefined) throw miss.miss()
    },
  }
}

/** A column of a key must not hide a field of the rows. */
function refuseTaken({ each = [] }: JsonPath, has: (key: string) => boolean): void {
  const taken = each.find(({ key }) => key !== null && has(key))
  if (taken === undefined) return
  const message = `calls a key {${taken.key}}, and the rows have a ${taken.key} of their own; choose another name`
  throw invalidField('responsePathExtractor', message)
}
