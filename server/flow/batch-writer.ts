import { setTimeout as wait } from 'node:timers/promises'
import type { DropReason, Observe } from '../observe.ts'
import { createSerial } from './serial.ts'
import { within } from './within.ts'

/** A bounded backlog of items to write. The owner of a full one counts the loss with `BatchWriter.drop`. */
export type Backlog<Item> = {
  size(): number
  /** Removes up to so many, the oldest first. `isLast`: nothing is held back for later. */
  take(maxItems: number, isLast: boolean): Item[]
  /** They were not written and wait again. Answers how many records found no room any more. */
  putBack(items: Item[]): number
}

export type BatchWriter = {
  /** Writes what waits at this moment. What cannot be written waits on, and the error tells why. */
  flush: () => Promise<void>
  /** Counts records for which there was no room. */
  drop: (count: number) => void
  /** Records that were not written and never will be. */
  dropped: () => number
  /** Writes what waits, again and again until the limit; what is left then is told and gone. */
  close: () => Promise<void>
}

/** The longest time that records may take to be written on shutdown. */
export const flushTimeoutMs = 5_000

type BatchWriterOptions<Item> = {
  /** Whose records they are, as the log says it. */
  where: string
  backlog: Backlog<Item>
  /** All of them or none. */
  write: (items: Item[]) => Promise<void>
  /** Whether an error is about the items themselves, so that no later try can succeed. */
  isRefused: (error: unknown) => boolean
  /** Records in an item: one, unless it says otherwise. */
  weigh?: (item: Item) => number
  maxItems: number
  flushMs: number
  closeTimeoutMs?: number | undefined
  observe: Observe
}

/** How long the pause after failures grows. */
const maxPauseMs = 5_000
const firstCloseRetryMs = 50
/** The time for one flush. Looking for bad items among thousands must not become a load of its own; the next flush goes on. */
const maxSplits = 200

/**
 * Writes in batches, off the path of whoever adds, one batch at a time. A batch that fails waits and is tried again
 * with growing pauses. One that the database refuses is halved until the bad item is alone: it is dropped and told, and
 * the others are written.
 */
// Over 70 lines: adding, writing, retrying and closing share one backlog.
export function openBatchWriter<Item>(options: BatchWriterOptions<Item>): BatchWriter {
  const { where, backlog, write, isRefused, weigh = () => 1, maxItems, flushMs, observe } = options
  const { closeTimeoutMs = flushTimeoutMs } = options
  const unreported: Record<DropReason, number> = { full: 0, refused: 0, closing: 0 }
  let dropped = 0
  let failures = 0
  let writing: Item[] = []
  let isClosing = false
  let isClosed = false
  let timer: NodeJS.Timeout | undefined

  const fault = (error: unknown): void => observe({ kind: 'fault', where, error })
  const weightOf = (items: Item[]): number => items.reduce((sum, item) => sum + weigh(item), 0)
  const drop = (reason: DropReason, count: number): void => {
    dropped += count
    unreported[reason] += count
  }
  const report = (): void => {
    for (const reason of ['full', 'refused', 'closing'] as const) {
      if (unreported[reason] > 0) observe({ kind: 'records-dropped', where, reason, count: unreported[reason] })
      unreported[reason] = 0
    }
  }

  async function writeBatch(batch: Item[], splits: { left: number }): Promise<void> {
    const parts = [batch]
    try {
      for (let part = parts.pop(); part !== undefined; part = parts.pop()) {
        writing = [part, ...parts].flat()
        const error = await failureOf(write(part))
        if (error === undefined) continue
        if (!isRefused(error) || splits.left === 0) {
          parts.push(part)
          throw error
        }
        if (part.length === 1) {
          fault(error)
          drop('refused', weightOf(part))
        } else {
          splits.left -= 1
          const middle = Math.ceil(part.length / 2)
          parts.push(part.slice(middle), part.slice(0, middle))
        }
      }
    } catch (error) {
      // After the limit of a close they are told already.
      if (!isClosed) drop('full', backlog.putBack(parts.toReversed().flat()))
      throw error
    } finally {
      writing = []
    }
  }

  const serial = createSerial(async () => {
    const splits = { left: maxSplits }
    try {
      // Items that come meanwhile are for the next flush, else one under load would never end.
      for (let left = backlog.size(); left > 0;) {
        const items = isClosed ? [] : backlog.take(Math.min(maxItems, left), isClosing)
        if (items.length === 0) break
        left -= items.length
        await writeBatch(items, splits)
      }
      failures = 0
    } catch (error) {
      failures += 1
      throw error
    } finally {
      report()
    }
  })

  function schedule(): void {
    if (isClosing) return
    const pauseMs = failures === 0 ? flushMs : Math.max(flushMs, Math.min(maxPauseMs, flushMs * 2 ** failures))
    timer = setTimeout(() => void serial.run().catch(fault).finally(schedule), pauseMs).unref()
  }
  schedule()

  async function flushUntil(deadlineMs: number): Promise<void> {
    for (let pauseMs = firstCloseRetryMs; ; pauseMs *= 2) {
      const error = await failureOf(serial.run())
      if (error === undefined) return
      if (performance.now() + pauseMs >= deadlineMs) throw error
      await wait(pauseMs)
    }
  }

  async function close(): Promise<void> {
    isClosing = true
    clearTimeout(timer)
    const flushed = flushUntil(performance.now() + closeTimeoutMs)
    await within(closeTimeoutMs, flushed, () => {
      throw new Error(`What waited was not written within ${closeTimeoutMs} ms.`)
    }).catch(fault)
    isClosed = true
    drop('closing', weightOf([...writing, ...backlog.take(Infinity, true)]))
    report()
  }
  let closing: Promise<void> | undefined
  return {
    flush: () => serial.run(),
    drop: (count) => drop('full', count),
    dropped: () => dropped,
    close: () => (closing ??= close()),
  }
}

async function failureOf(work: Promise<void>): Promise<Error | undefined> {
  try {
    await work
    return undefined
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error), { cause: error })
  }
}
