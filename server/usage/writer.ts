import type { Database } from '../store/index.ts'
import type { Batch } from './batches.ts'
import { openEnvironments, type Environments } from './environments.ts'
import { openPartitions } from './partitions.ts'
import type { Queue } from './queue.ts'
import type { Tally, TakenCount } from './tally.ts'
import { isWritten, writeUsage, type Unsure } from './write.ts'

export type Writer = {
  /** Writes what waits. What cannot be written waits again, and the error tells why. */
  write(): Promise<void>
}

type WriterOptions = {
  store: Pick<Database, 'pool'>
  queue: Queue
  tally: Tally
  now: () => number
  /** Hears of calls for which no room was left when they had to wait again. */
  onShed: (requests: number) => void
}

const minuteMs = 60_000
const dayMs = 86_400_000

export function openWriter({ store, queue, tally, now, onShed }: WriterOptions): Writer {
  const partitions = openPartitions(store)
  const environments = openEnvironments(store)
  /** Calls of a write whose end was not heard. Written again they could be in the log twice. */
  let unheard: (Unsure & { batches: Batch[] }) | undefined

  const settle = async (): Promise<void> => {
    if (unheard === undefined) return
    const isDone = await isWritten(store, unheard)
    if (!isDone) onShed(queue.putBack(unheard.batches))
    unheard = undefined
  }
  const put = async (batches: Batch[], counts: TakenCount[]): Promise<void> => {
    await environments.know([...batches.map(({ kind }) => kind), ...counts.map(({ count }) => count.of)])
    const at = now()
    await partitions.ensure({
      // Tomorrow's too: at midnight nobody waits for a table.
      requests: [at, at + dayMs, ...batches.map(({ start }) => start)],
      rollups: [at, at + dayMs, ...counts.map(({ count }) => count.start)],
    })
    const unsure = await writeUsage(store, placed(environments, batches, counts))
    if (unsure === null) return
    unheard = { ...unsure, batches }
    throw unsure.error
  }
  return {
    async write() {
      await settle()
      const batches = queue.take()
      const counts = tally.take()
      if (batches.length === 0 && counts.length === 0) return
      try {
        await put(batches, counts)
        tally.forget(now() - 2 * minuteMs)
      } catch (error) {
        if (unheard === undefined) onShed(queue.putBack(batches))
        tally.putBack(counts)
        throw error
      }
    },
  }
}

/** In the environments they were called in, by name; what nobody knows any more is left out. */
function placed(
  environments: Environments,
  batches: Batch[],
  counts: TakenCount[],
): { batches: Batch[]; counts: Array<Record<string, unknown>> } {
  return {
    batches: batches.flatMap((batch) => {
      const kind = environments.placed(batch.kind)
      return kind === undefined ? [] : [kind === batch.kind ? batch : { ...batch, kind }]
    }),
    counts: counts.flatMap(({ count, row }) => {
      const kind = environments.placed(count.of)
      return kind === undefined ? [] : [{ ...row, environment: kind.environment ?? '' }]
    }),
  }
}
