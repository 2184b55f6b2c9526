import { openBatchWriter, type Backlog, type BatchWriter } from '../flow/index.ts'
import type { Observe } from '../observe.ts'
import type { Database } from './open-database.ts'
import { isRowRefused } from './postgres/store-failure.ts'

export type RowWriterParts = {
  store: Pick<Database, 'db'>
  observe: Observe
  now: () => number
  closeTimeoutMs?: number | undefined
}

type RowWriterOptions<Item> = {
  where: string
  backlog: Backlog<Item>
  write: (items: Item[]) => Promise<void>
  maxItems: number
  flushMs: number
}

/** Writes rows in batches. Rows that the database refuses are dropped; after any other error they wait again. */
export function openRowWriter<Item>(
  { observe, closeTimeoutMs }: RowWriterParts,
  options: RowWriterOptions<Item>,
): BatchWriter {
  return openBatchWriter({ ...options, isRefused: isRowRefused, closeTimeoutMs, observe })
}
