import type { LookupFile, LookupRecord } from '../engine/executor/lookup/lookup-file.ts'
import type { Column, SlotValue } from '../engine/index.ts'

/** The rows of a call as they lie in a file: `rows` is a JSON array, as the engine would have made it. */
export type LookedUp = { rows: Buffer; rowCount: number; columns: Column[] }

/** Where the values of the key, and the number of rows that are wanted, stand among the slots of a call. */
export type LookupSlots = { keysAt: number[]; limitAt: number | null }

/** Undefined where the file is for other slots than these. */
export function lookupSlotsOf({ about }: LookupFile, slots: ReadonlyArray<{ name: string }>): LookupSlots | undefined {
  const placeOf = (slot: string) => slots.findIndex(({ name }) => name.toLowerCase() === slot)
  const keysAt = about.keys.map(placeOf)
  const limitAt = about.limit === null ? null : placeOf(about.limit)
  return keysAt.includes(-1) || limitAt === -1 ? undefined : { keysAt, limitAt }
}

/** The answer to a call; `ask` where the engine is to say, and undefined where the file is no longer to be believed. */
export function answerFrom(
  file: LookupFile,
  { keysAt, limitAt }: LookupSlots,
  slots: readonly SlotValue[],
): LookedUp | 'ask' | undefined {
  const values: string[] = []
  for (const at of keysAt) {
    const text = keyText(slots[at])
    if (text === undefined) return 'ask'
    values.push(text)
  }
  const most = limitAt === null ? null : slots[limitAt]?.value
  if (most !== null && !(typeof most === 'number' && Number.isSafeInteger(most) && most >= 0)) return 'ask'
  const record = file.find(values)
  if (record === undefined) return undefined
  const { columns } = file.about
  if (record === null) return { rows: none, rowCount: 0, columns }
  if (most !== null && most < record.rowCount) return { rows: firstRows(record, most), rowCount: most, columns }
  if (!record.isWhole && most !== record.rowCount) return 'ask'
  return { rows: record.rows, rowCount: record.rowCount, columns }
}

const none = Buffer.from('[]')
const closeBracket = Buffer.from(']')

/** As in the file. Integers that JavaScript does not hold come as texts; they are left to the engine. */
function keyText(slot: SlotValue | undefined): string | undefined {
  if (slot === undefined) return undefined
  const { type, value } = slot
  if (typeof value === 'string') return type === 'integer' ? undefined : value
  if (typeof value === 'boolean') return String(value)
  return typeof value === 'number' && Number.isSafeInteger(value) ? String(value) : undefined
}

/** No newline is inside a row, so that one tells where the next begins. */
function firstRows({ rows }: LookupRecord, count: number): Buffer {
  if (count === 0) return none
  let at = 0
  for (let row = 0; row < count; row += 1) at = rows.indexOf(10, at + 1)
  return Buffer.concat([rows.subarray(0, at - 1), closeBracket])
}
