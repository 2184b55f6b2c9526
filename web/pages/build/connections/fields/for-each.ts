import type { Datasource, ForEach } from '../../shared/wire.ts'

/** A request for each row of another table, as it stands in the form. */
export type ForEachDraft = {
  table: string
  /** `new column=column of the other table`, one a line. */
  keys: string
  maxRequests: number
}

export const emptyForEach: ForEachDraft = { table: '', keys: '', maxRequests: 10_000 }

export function forEachDraftOf({ for_each: stored }: Pick<Datasource, 'for_each'>): ForEachDraft | null {
  if (stored === null) return null
  // Written from the same schema that reads it.
  const { table, keys = {}, max_requests: maxRequests } = stored as ForEach
  const lines = Object.entries(keys).map(([name, column]) => `${name}=${column}`)
  return { table, keys: lines.join('\n'), maxRequests }
}

/** The wire form of `for_each`. */
export function forEachOf(draft: ForEachDraft | null): Partial<ForEach> | null {
  if (draft === null) return null
  const pairs = draft.keys
    .split('\n')
    .map((line) => line.split('=').map((part) => part.trim()))
    .filter(([name = '']) => name !== '')
  const keys = Object.fromEntries(pairs.map(([name = '', column = '']) => [name, column]))
  return { table: draft.table, ...(pairs.length > 0 && { keys }), max_requests: draft.maxRequests }
}
