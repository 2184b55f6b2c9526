import { expect, test } from 'vitest'
import { openAnswerRoom } from '../../../server/queries/answer-room.ts'

const one = { projectId: 'one', keyId: 'a' }
const two = { projectId: 'two', keyId: 'b' }
const patient = { expectedBytes: 10, timeoutMs: 60_000 }

/** Enters, and keeps whether it is in. */
function entering(entered: Promise<() => void>): { isIn: boolean; entered: Promise<() => void> } {
  const state = { isIn: false, entered }
  entered.then(
    () => (state.isIn = true),
    () => undefined,
  )
  return state
}

test('who holds more than a fair share waits until some of it was read; a neighbour does not', async () => {
  const room = openAnswerRoom({ maxBytes: 100, maxMade: 100 })
  const letGo = [40, 40].map((bytes) => room.hold(one, bytes))
  const waiting = entering(room.enter(one, patient))
  await room.enter(two, patient)
  expect(waiting.isIn).toBe(false)
  letGo[0]?.()
  await waiting.entered
})

test('another key of the same project finds room where the first has its share', async () => {
  const room = openAnswerRoom({ maxBytes: 100, maxMade: 100 })
  room.hold(one, 60)
  const waiting = entering(room.enter(one, patient))
  await room.enter({ projectId: 'one', keyId: 'other' }, patient)
  expect(waiting.isIn).toBe(false)
})

test('what is being made counts, and all who find room afterwards are let in', async () => {
  const room = openAnswerRoom({ maxBytes: 100, maxMade: 100 })
  const all = Array.from({ length: 20 }, () => entering(room.enter(one, patient)))
  const leave = await all[0]?.entered
  const inside = all.filter(({ isIn }) => isIn).length
  expect(inside).toBeGreaterThan(3)
  expect(inside).toBeLessThan(10)
  leave?.()
  for (const { entered } of all) (await entered)()
})

test('letting go twice gives back once, and who gives up waits no more', async () => {
  const room = openAnswerRoom({ maxBytes: 100, maxMade: 100 })
  const [first] = [60, 60].map((bytes) => room.hold(one, bytes))
  first?.()
  first?.()
  const left = new AbortController()
  const waiting = room.enter(one, { ...patient, signal: left.signal })
  left.abort(new Error('gone'))
  await expect(waiting).rejects.toThrow('gone')
  await expect(room.enter(one, { ...patient, timeoutMs: 1 })).rejects.toMatchObject({ code: 'overloaded' })
})

test('a project has so many made at a time, whatever its keys; another one is not kept waiting', async () => {
  const room = openAnswerRoom({ maxBytes: 1_000, maxMade: 1 })
  const leave = await room.enter(one, patient)
  const waiting = entering(room.enter({ projectId: 'one', keyId: 'other' }, patient))
  const leaveToo = await room.enter(two, patient)
  expect(waiting.isIn).toBe(false)
  leaveToo()
  leaveToo()
  await Promise.resolve()
  expect(waiting.isIn).toBe(false)
  leave()
  await waiting.entered
})
