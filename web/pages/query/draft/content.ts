import type { RefObject } from 'react'
import type { Project } from '../../../client/wire.ts'
import type { Query, SlotsSchema } from '../../build/shared/wire.ts'
import { noSlots, type SlotValues } from '../slots/slots.ts'

export type Content = Pick<Query, 'sql' | 'slots' | 'description' | 'examples' | 'cache_seconds' | 'chart'>

/** A query on its page, as it is written now. */
export type Edited = {
  project: Project
  /** Null where nobody has named it yet. */
  query: Query | null
  latest: RefObject<Content>
  values: SlotValues
}

export function contentOf({ sql, slots, description, examples, cache_seconds, chart }: Query): Content {
  return { sql, slots: plain(slots), description, examples, cache_seconds, chart }
}

/** A query that is not there yet, of all rows of a table where one is named. */
export function freshContent(table: string): Content {
  const sql = table === '' ? 'select 1 as one' : `select *\nfrom ${table}\nlimit 100`
  return { sql, slots: noSlots, description: '', examples: [], cache_seconds: null, chart: null }
}

/** In one order, so that equal schemas are equal text. */
function plain({ type, properties, required, additionalProperties, ...rest }: SlotsSchema): SlotsSchema {
  return { type, properties, required, additionalProperties, ...rest }
}
