import fc from 'fast-check'
import { expect, test } from 'vitest'
import { openBatchWriter, openBoundedQueue } from '../../../server/flow/index.ts'
import type { Observation } from '../../../server/observe.ts'

type Item = { id: number; isPoison: boolean }

const isRefused = (error: unknown): boolean => error instanceof Error && error.message === 'refused'
const hour = 3_600_000

function writerOf(
  write: (items: Item[]) => Promise<void>,
  { maxWaiting = 1_000, closeTimeoutMs = 60_000, flushMs = hour, maxItems = 4 } = {},
) {
  const told: Observation[] = []
  const backlog = openBoundedQueue<Item>(maxWaiting)
  const observe = (event: Observation): void => void told.push(event)
  const options = { where: 'test', backlog, write, isRefused, maxItems, flushMs, closeTimeoutMs, observe }
  const writer = openBatchWriter(options)
  const add = (id: number, isPoison = false): void => {
    if (!backlog.add({ id, isPoison })) writer.drop(1)
  }
  const drops = () => told.flatMap((event) => (event.kind === 'records-dropped' ? [[event.reason, event.count]] : []))
  return { writer, backlog, add, told, drops }
}

/** A database that takes a batch as a whole or not at all. */
function table(isAway: () => boolean = () => false) {
  const ids: number[] = []
  const write = async (items: Item[]): Promise<void> => {
    await Promise.resolve()
    if (isAway()) throw new Error('away')
    if (items.some(({ isPoison }) => isPoison)) throw new Error('refused')
    ids.push(...items.map(({ id }) => id))
  }
  return { ids, write }
}

test('whatever comes, fails and is refused: each record is written once and in order, or told as dropped', async () => {
  const event = fc.oneof(
    { weight: 6, arbitrary: fc.constant('good' as const) },
    { weight: 1, arbitrary: fc.constant('poison' as const) },
    { weight: 2, arbitrary: fc.constant('flush' as const) },
    { weight: 1, arbitrary: fc.constant('away' as const) },
    { weight: 1, arbitrary: fc.constant('back' as const) },
  )
  await fc.assert(
    fc.asyncProperty(
      fc.scheduler(),
      fc.array(event, { maxLength: 60 }),
      fc.integer({ min: 1, max: 30 }),
      async (scheduler, events, maxWaiting) => {
        let isAway = false
        const { ids, write } = table(() => isAway)
        const slowly = async (items: Item[]): Promise<void> => {
          await scheduler.schedule(Promise.resolve(), 'write')
          await write(items)
        }
        const { writer, add, drops } = writerOf(slowly, { maxWaiting })
        let added = 0
        const flushes: Array<Promise<unknown>> = []
        for (const each of events) {
          if (each === 'flush') flushes.push(writer.flush().catch(() => undefined))
          else if (each === 'away' || each === 'back') isAway = each === 'away'
          else {
            added += 1
            add(added, each === 'poison')
          }
          if (each === 'flush' && scheduler.count() > 0) await scheduler.waitOne()
        }
        isAway = false
        await scheduler.waitFor(Promise.all(flushes))
        await scheduler.waitFor(writer.close())
        expect(new Set(ids).size).toBe(ids.length)
        expect(ids).toEqual(ids.toSorted((left, right) => left - right))
        expect(ids.length + writer.dropped()).toBe(added)
        expect(drops().reduce((sum, [, count]) => sum + Number(count), 0)).toBe(writer.dropped())
      },
    ),
  )
})

test('a poison record is told and dropped, and its neighbours are written', async () => {
  const { ids, write } = table()
  const { writer, add, told, drops } = writerOf(write, { maxItems: 100 })
  for (let id = 0; id < 50; id += 1) add(id, id === 17 || id === 18)
  await writer.flush()
  expect(ids).toEqual(Array.from({ length: 50 }, (_, id) => id).filter((id) => id !== 17 && id !== 18))
  expect(drops()).toEqual([['refused', 2]])
  expect(told.filter(({ kind }) => kind === 'fault')).toHaveLength(2)
})

test('where every record is refused, one flush looks at some and the next goes on', async () => {
  let writes = 0
  const { writer, add, backlog } = writerOf(
    async () => {
      writes += 1
      throw new Error('refused')
    },
    { maxItems: 1_000, closeTimeoutMs: 1 },
  )
  for (let id = 0; id < 1_000; id += 1) add(id, true)
  await expect(writer.flush()).rejects.toThrow('refused')
  expect(writes).toBeLessThan(500)
  const left = backlog.size()
  expect(left).toBeLessThan(1_000)
  await expect(writer.flush()).rejects.toThrow('refused')
  expect(backlog.size()).toBeLessThan(left)
})

test('what comes to a full backlog is dropped and told once; what waits there is written', async () => {
  const { ids, write } = table()
  const { writer, add, drops } = writerOf(write, { maxWaiting: 3 })
  for (let id = 0; id < 5; id += 1) add(id)
  expect(writer.dropped()).toBe(2)
  await writer.flush()
  await writer.flush()
  expect(ids).toEqual([0, 1, 2])
  expect(drops()).toEqual([['full', 2]])
})

test('closing waits for the write under way and writes what came during it', async () => {
  const begun = Promise.withResolvers<void>()
  const first = Promise.withResolvers<void>()
  const { ids, write } = table()
  const { writer, add, drops } = writerOf(async (items) => {
    begun.resolve()
    if (ids.length === 0) await first.promise
    await write(items)
  })
  add(1)
  const flushing = writer.flush()
  await begun.promise
  add(2)
  const closing = writer.close()
  first.resolve()
  await Promise.all([flushing, closing])
  expect(ids).toEqual([1, 2])
  expect(drops()).toEqual([])
})

test('closing tries again until the database is back', async () => {
  let tries = 0
  const { ids, write } = table(() => tries < 3)
  const { writer, add, drops } = writerOf((items) => {
    tries += 1
    return write(items)
  })
  add(1)
  await writer.close()
  expect([ids, tries, drops()]).toEqual([[1], 3, []])
})

test('closing ends with its limit, and tells what is left: what waits and what is under way', async () => {
  const { writer, add, drops, told } = writerOf(() => new Promise(() => undefined), { closeTimeoutMs: 5, maxItems: 2 })
  for (let id = 0; id < 5; id += 1) add(id)
  await writer.close()
  expect(drops()).toEqual([['closing', 5]])
  expect(told.filter(({ kind }) => kind === 'fault')).toHaveLength(1)
})

test('what fails is tried again by itself, and told each time', async () => {
  const done = Promise.withResolvers<void>()
  let tries = 0
  const { writer, add, told } = writerOf(
    async () => {
      tries += 1
      if (tries < 3) throw new Error('away')
      done.resolve()
    },
    { flushMs: 1 },
  )
  add(1)
  await done.promise
  await writer.close()
  expect(told.filter(({ kind }) => kind === 'fault')).toHaveLength(2)
  expect(writer.dropped()).toBe(0)
})
