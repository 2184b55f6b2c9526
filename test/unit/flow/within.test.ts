import { expect, test } from 'vitest'
import { untilAborted, within } from '../../../server/flow/index.ts'

const never = new Promise<never>(() => undefined)

test('what comes in time is the answer, as is its failure', async () => {
  expect(await within(60_000, Promise.resolve('here'), () => 'late')).toBe('here')
  await expect(within(60_000, Promise.reject(new Error('no')), () => 'late')).rejects.toThrow('no')
})

test('after the limit the other answer is given, or thrown', async () => {
  expect(await within(1, never, () => 'late')).toBe('late')
  const refuse = (): never => {
    throw new Error('too late')
  }
  await expect(within(1, never, refuse)).rejects.toThrow('too late')
})

test('a failure after the limit is nobody’s', async () => {
  const work = Promise.withResolvers<never>()
  expect(await within(1, work.promise, () => 'late')).toBe('late')
  work.reject(new Error('after all'))
  // An unhandled rejection would fail the run.
  await new Promise(setImmediate)
})

test('an answer that lies there when the limit is seen late is taken', async () => {
  const work = new Promise<string>((resolve) => {
    setImmediate(() => resolve('here'))
  })
  const asked = within(1, work, () => 'late')
  // Nothing else of this process runs meanwhile, as in a long pause of the collector.
  const until = performance.now() + 5
  while (performance.now() < until);
  expect(await asked).toBe('here')
})

test('who is aborted leaves with the reason; the work goes on', async () => {
  const controller = new AbortController()
  const work = Promise.withResolvers<string>()
  const asked = untilAborted(work.promise, controller.signal)
  controller.abort(new Error('gone'))
  await expect(asked).rejects.toThrow('gone')
  await expect(untilAborted(work.promise, controller.signal)).rejects.toThrow('gone')
  work.resolve('done')
  expect(await untilAborted(work.promise, undefined)).toBe('done')
  expect(await untilAborted(work.promise, new AbortController().signal)).toBe('done')
})
