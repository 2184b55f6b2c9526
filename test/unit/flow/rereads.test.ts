import fc from 'fast-check'
import { expect, test } from 'vitest'
import { openRereads } from '../../../server/flow/index.ts'

test('whoever asked sees what the source had when they asked, whatever fails and however reads interleave', async () => {
  const step = fc.record({ key: fc.constantFrom('a', 'b', 'c', null), fails: fc.boolean() })
  await fc.assert(
    fc.asyncProperty(fc.scheduler(), fc.array(step, { maxLength: 15 }), async (scheduler, steps) => {
      const source = new Map<string, number>()
      const copy = new Map<string, number>()
      let reads = 0
      let changes = 0
      const stale: string[] = []
      const read = async (keys: string[]): Promise<void> => {
        const seen = keys.map((key) => [key, source.get(key) ?? 0] as const)
        const { fails } = steps[reads % steps.length] ?? { fails: false }
        reads += 1
        await scheduler.schedule(Promise.resolve(), 'read')
        if (fails) throw new Error('away')
        for (const [key, value] of seen) copy.set(key, value)
      }
      const rereads = openRereads<string>({
        readAll: () => read(['a', 'b', 'c']),
        readSome: read,
        nameOf: (key) => key,
        maxSome: 2,
        retryMs: 3_600_000,
        onError: () => undefined,
      })
      const asks = steps.map(async ({ key }) => {
        await scheduler.schedule(Promise.resolve(), 'ask')
        const changed = key ?? 'a'
        changes += 1
        const wanted = changes
        source.set(changed, wanted)
        const isRead = await rereads.ask(key).then(
          () => true,
          () => false,
        )
        if (isRead && (copy.get(changed) ?? 0) < wanted) stale.push(changed)
      })
      await scheduler.waitFor(Promise.all(asks))
      await rereads.close()
      expect(stale).toEqual([])
    }),
  )
})

test('more changes than are worth reading one by one are read together, and the same change once', async () => {
  const seen: string[][] = []
  const rereads = openRereads<string>({
    readAll: async () => void seen.push(['all']),
    readSome: async (keys) => void seen.push(keys),
    nameOf: (key) => key,
    maxSome: 2,
    retryMs: 3_600_000,
    onError: () => undefined,
  })
  await Promise.all([rereads.ask('a'), rereads.ask('a'), rereads.ask('b')])
  await Promise.all(['a', 'b', 'c'].map((key) => rereads.ask(key)))
  await rereads.ask(null)
  expect(seen).toEqual([['a', 'b'], ['all'], ['all']])
  await rereads.close()
  await rereads.ask('a')
  expect(seen).toHaveLength(3)
})

test('what failed is told to whoever waits and once to the log, and is read again by itself', async () => {
  const again = Promise.withResolvers<void>()
  const faults: unknown[] = []
  let reads = 0
  const rereads = openRereads<string>({
    readAll: async () => again.resolve(),
    readSome: async () => {
      reads += 1
      throw new Error('away')
    },
    nameOf: (key) => key,
    maxSome: 2,
    retryMs: 1,
    onError: (error) => void faults.push(error),
  })
  await expect(rereads.ask('a')).rejects.toThrow('away')
  await again.promise
  expect([reads, faults.length]).toEqual([1, 1])
  await rereads.close()
})
