import { expect, test } from 'vitest'
import { callKindOf } from '../../../server/usage/stored/call.ts'
import type { Kind } from '../../../server/usage/record/kinds.ts'
import { openCallQueue } from '../../../server/usage/record/queue.ts'
import { call } from './sample-call.ts'

function newKind(): Kind {
  const of = callKindOf(call)
  if (of === undefined) throw new Error('nobody called')
  return { of, first: call, count: null, batch: null }
}

/** Calls at these seconds; a batch is of one second. */
function addAll(queue: ReturnType<typeof openCallQueue>, kind: Kind, seconds: number[]): boolean[] {
  return seconds.map((second) => queue.add(kind, call, second * 1_000))
}

const startsOf = (batches: Array<{ start: number }>): number[] => batches.map(({ start }) => start / 1_000)

test('calls of a kind wait in batches, as many as there is room for', () => {
  const queue = openCallQueue(3)
  expect(addAll(queue, newKind(), [1, 1.5, 5, 9])).toEqual([true, true, true, false])
  expect(queue.take().map(({ start, ids }) => [start, ids.length])).toEqual([
    [1_000, 2],
    [5_000, 1],
  ])
  expect(queue.take()).toEqual([])
})

test('what was taken is joined by nobody', () => {
  const queue = openCallQueue(10)
  const kind = newKind()
  addAll(queue, kind, [1])
  const [taken] = queue.take()
  addAll(queue, kind, [1.5])
  expect(taken?.ids).toHaveLength(1)
  expect(startsOf(queue.take())).toEqual([1.5])
})

test('what could not be written waits on, and where there is no room for all the oldest go', () => {
  const queue = openCallQueue(4)
  const kind = newKind()
  addAll(queue, kind, [1, 1.2, 3, 5])
  const older = queue.take()
  addAll(queue, kind, [7, 9])
  // Two calls too many; the oldest batch has two.
  expect(queue.putBack(older)).toBe(2)
  expect(addAll(queue, kind, [11])).toEqual([false])
  expect(startsOf(queue.take())).toEqual([3, 5, 7, 9])
  expect(queue.putBack([])).toBe(0)
})
