import { Failure } from '../../failure.ts'
import { describe, follow, isKeyed, noMatch, unwrapText, valueAt, type JsonPath, type PathStep } from './json-path.ts'
import { createMemberWalk, type FoundRows, type PathMember, type Miss } from './member-walk.ts'

/** The rows that an extractor takes from a parsed value: a string found there is read as JSON where it is JSON. */
export function pick(root: unknown, path: JsonPath): unknown {
  if (path.text === '') return root
  if (path.each === undefined) return unwrapText(path.steps.length === 0 ? root : valueAt(root, path))
  const rows: unknown[] = []
  eachRow(root, path, (row) => rows.push(row) > 0)
  return rows
}

/** Hands on the rows under every member one by one, as a load finds them, until `take` has enough. */
export function eachRow(root: unknown, path: JsonPath, take: (row: unknown) => boolean): void {
  const reader = { isNull: (value: unknown) => value === null, ...readerOf(path.text) }
  const walk = createMemberWalk(path, reader, (rows, columns) =>
    rows.every((row) => {
      if (columns.length === 0) return take(row)
      return take({ ...Object.fromEntries(columns), ...(isKeyed(row) ? row : { value: row }) })
    }),
  )
  walk.enter(root)
  walk.finish()
}

/** Members that are looked at for rows: a list of millions without any must not take for ever. */
const maxMembers = 1_000_000

function readerOf(text: string) {
  let count = 0

  function at(value: unknown, steps: PathStep[]): { value: unknown } | Miss {
    count += 1
    if (count > maxMembers) throw tooManyMembers(text)
    const found = follow(value, steps)
    return 'value' in found ? found : missed(steps, found)
  }

  function missed(steps: PathStep[], { matched, at: place }: { matched: number; at: unknown }): Miss {
    return { miss: () => noMatch(text, { steps, matched, ...describe(place) }) }
  }

  return {
    members(value: unknown, steps: PathStep[]): Miss | Iterable<PathMember<unknown>> {
      const found = at(value, steps)
      if ('miss' in found) return found
      const { value: inner } = found
      if (Array.isArray(inner)) return inner.values().map((member: unknown) => [null, member] as const)
      if (isKeyed(inner)) return Object.keys(inner).map((key) => [key, inner[key]] as const)
      return inner === null ? [] : missed(steps, { matched: steps.length, at: inner })
    },

    rows(value: unknown, steps: PathStep[]): Miss | FoundRows<unknown[]> {
      const found = at(value, steps)
      if ('miss' in found) return found
      const rows = Array.isArray(found.value) ? (found.value as unknown[]) : [found.value]
      const has = (key: string) => rows.some((row) => isKeyed(row) && Object.hasOwn(row, key))
      return { rows, isNull: found.value === null, has }
    },
  }
}

function tooManyMembers(text: string): Failure {
  const most = maxMembers.toLocaleString('en')
  const message = `looks at more than ${most} members for rows, which is more than are searched; name the list that holds the rows, or ask the API for less`
  return new Failure('invalid_request', {
    reason: 'not_tabular',
    message: `responsePathExtractor "${text}" ${message}.`,
    details: [{ field: 'responsePathExtractor', message }],
  })
}
