import { openBatchWriter, type Backlog, type BatchWriter } from '../../flow/index.ts'
import type { Observe } from '../../observe.ts'
import { isRowRefused, type Database } from '../../store/index.ts'
import type { Batch } from '../stored/batches.ts'
import { openEnvironments, type Environments } from '../stored/environments.ts'
import { openPartitions } from '../stored/partitions.ts'
import type { CallQueue } from './queue.ts'
import type { Tally, TakenCount } from './tally.ts'
import { isWritten, writeUsage, type HoldWordKeepers, type Unsure } from './write.ts'

/** A batch of the log, or a row of the figures. */
type Item = { batch: Batch; count?: never } | { batch?: never; count: TakenCount }

type WriterOptions = {
  store: Pick<Database, 'db' | 'pool'>
  holdWordKeepers: HoldWordKeepers
  queue: CallQueue
  tally: Tally
  now: () => number
  observe: Observe
  flushMs: number
  closeTimeoutMs?: number | undefined
}

const minuteMs = 60_000
const dayMs = 86_400_000

/** Writes calls and what they count for in one transaction, so that log and figures agree. */
export function openWriter({ store, holdWordKeepers, queue, tally, now, ...options }: WriterOptions): BatchWriter {
  const partitions = openPartitions(store)
  const environments = openEnvironments(store)
  /** A write whose commit was not confirmed. Its batches wait: written again they could be in the log twice. */
  let unconfirmed: (Unsure & { batches: Batch[] }) | undefined
  const written = new WeakSet<Batch>()

  const confirm = async (): Promise<void> => {
    if (unconfirmed === undefined) return
    if (await isWritten(store, unconfirmed)) for (const batch of unconfirmed.batches) written.add(batch)
    unconfirmed = undefined
  }
  const write = async (items: Item[]): Promise<void> => {
    await confirm()
    const batches = items.flatMap(({ batch }) => (batch === undefined || written.has(batch) ? [] : [batch]))
    const counts = items.flatMap(({ count }) => count ?? [])
    await environments.know([...batches.map(({ kind }) => kind), ...counts.map(({ count }) => count.of)])
    const at = now()
    await partitions.ensure({
      // Tomorrow's partition is made ahead: at midnight nobody waits for it.
      requests: [at, at + dayMs, ...batches.map(({ start }) => start)],
      rollups: [at, at + dayMs, ...counts.map(({ count }) => count.start)],
    })
    const unsure = await writeUsage(store, holdWordKeepers, placed(environments, batches, counts))
    if (unsure !== null) {
      unconfirmed = { ...unsure, batches }
      throw unsure.error
    }
    tally.forget(now() - 2 * minuteMs)
  }
  return openBatchWriter({
    where: 'usage',
    backlog: backlogOf(queue, tally),
    write,
    isRefused: isRowRefused,
    // Lost calls are counted by the log alone.
    weigh: ({ batch }) => batch?.ids.length ?? 0,
    // All that waits goes in one transaction; the queue has a length.
    maxItems: Infinity,
    ...options,
  })
}

function backlogOf(queue: CallQueue, tally: Tally): Backlog<Item> {
  return {
    size: () => queue.size() + tally.size(),
    take: () => [...queue.take().map((batch) => ({ batch })), ...tally.take().map((count) => ({ count }))],
    putBack(items) {
      tally.putBack(items.flatMap(({ count }) => count ?? []))
      return queue.putBack(items.flatMap(({ batch }) => batch ?? []))
    },
  }
}

/** Replaces unknown environments by none; calls of unknown projects are left out. */
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
