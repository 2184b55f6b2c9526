import { call, isRefusal } from '../../../client/api.ts'
import type { Inspection, SlotSchema, SlotsSchema } from '../../build/shared/wire.ts'
import { keepOnly, merge, noSlots, slotNames } from '../slots/slots.ts'

/**
 * The tables, slots and columns of the SQL. Slots that are declared stay as they are, those that are gone are dropped,
 * and new ones are declared as the server suggests.
 */
export async function inspect(
  projectId: string,
  { sql, slots }: { sql: string; slots: SlotsSchema },
  signal: AbortSignal,
): Promise<Inspection> {
  const ask = (body: { sql: string; slots?: SlotsSchema }): Promise<Inspection> =>
    call<Inspection>('POST', `/v1/projects/${projectId}/queries/inspect`, { body, signal })
  const names = slotNames(sql)
  const missing = names.filter((name) => slots.properties[name] === undefined)
  const declared = keepOnly(slots, names)
  if (missing.length === 0) return ask({ sql, slots: declared })
  try {
    const suggested = await ask({ sql })
    return { ...suggested, slots: merge(declared, suggested.slots) }
  } catch (error) {
    if (!isRefusal(error) || error.envelope.reason !== 'invalid_sql') throw error
    // Without types the SQL may not be understood where it would be with those that are declared.
    const asText = missing.map((name): [string, SlotSchema] => [name, { type: 'string' }])
    return ask({ sql, slots: merge(declared, { ...noSlots, properties: Object.fromEntries(asText) }) })
  }
}
