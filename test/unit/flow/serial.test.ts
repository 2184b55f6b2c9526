import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createSerial, openPeriodic } from '../../../server/flow/index.ts'

test('one run at a time; who asks is answered by a run that began afterwards, and runs are shared', async () => {
  await fc.assert(
    fc.asyncProperty(fc.scheduler(), fc.array(fc.boolean(), { maxLength: 12 }), async (scheduler, failing) => {
      let begun = 0
      let isRunning = false
      const serial = createSerial(async () => {
        expect(isRunning).toBe(false)
        isRunning = true
        const at = begun
        begun += 1
        await scheduler.schedule(Promise.resolve(), `run ${at}`)
        isRunning = false
        if (failing[at] === true) throw new Error(`run ${at}`)
      })
      let asked = 0
      const asks = failing.map(async (_, at) => {
        await scheduler.schedule(Promise.resolve(), `ask ${at}`)
        asked += 1
        const begunBefore = begun
        const outcome = await serial.run().then(
          () => 'done',
          (error: Error) => error.message,
        )
        expect(begun).toBeGreaterThan(begunBefore)
        return outcome
      })
      await scheduler.waitFor(Promise.all(asks))
      await serial.settled()
      expect(isRunning).toBe(false)
      expect(begun).toBeLessThanOrEqual(asked)
    }),
  )
})

test('all who ask during a run share one further run', async () => {
  const begun = Promise.withResolvers<void>()
  const first = Promise.withResolvers<void>()
  let runs = 0
  const serial = createSerial(() => {
    runs += 1
    begun.resolve()
    return runs === 1 ? first.promise : Promise.resolve()
  })
  const leading = serial.run()
  await begun.promise
  const waiting = Array.from({ length: 20 }, () => serial.run())
  first.resolve()
  await Promise.all([leading, ...waiting])
  expect(runs).toBe(2)
})

test('settled waits for the run under way and the one that is wanted, and passes over their failures', async () => {
  let runs = 0
  const serial = createSerial(async () => {
    runs += 1
    await Promise.resolve()
    throw new Error('no')
  })
  const asked = [serial.run(), Promise.resolve().then(() => serial.run())]
  const failed = Promise.allSettled(asked)
  await serial.settled()
  expect(runs).toBeGreaterThanOrEqual(1)
  expect((await failed).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
})

test('what runs periodically tells its failures, and closing waits for the run under way and begins no other', async () => {
  const begun = Promise.withResolvers<void>()
  const gate = Promise.withResolvers<void>()
  const faults: unknown[] = []
  let runs = 0
  const periodic = openPeriodic({
    everyMs: 3_600_000,
    work: async () => {
      runs += 1
      begun.resolve()
      await gate.promise
      throw new Error('no')
    },
    onError: (error) => void faults.push(error),
  })
  periodic.run()
  await begun.promise
  periodic.run()
  const closed = periodic.close()
  gate.resolve()
  await closed
  periodic.run()
  await periodic.close()
  expect(runs).toBe(1)
  expect(faults).toMatchObject([{ message: 'no' }])
})
