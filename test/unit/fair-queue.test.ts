import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createFairQueue } from '../../server/fair-queue.ts'

type Item = { path: string[]; at: number }

const item = fc.record({
  path: fc.tuple(fc.constantFrom('p', 'q', 'r'), fc.constantFrom('x', 'y')),
  at: fc.nat(),
})

function filled(items: Item[]) {
  const queue = createFairQueue<Item>()
  for (const each of items) queue.push(each.path, each)
  return queue
}

function drain(queue: ReturnType<typeof filled>): Item[] {
  const taken: Item[] = []
  for (let next = queue.take(); next !== undefined; next = queue.take()) taken.push(next)
  return taken
}

test('everything comes out once, and of one path in the order it came', () => {
  fc.assert(
    fc.property(fc.array(item), (items) => {
      const queue = filled(items)
      const taken = drain(queue)
      expect(queue.size()).toBe(0)
      expect(new Set(taken)).toEqual(new Set(items))
      expect(taken).toHaveLength(items.length)
      for (const path of new Set(items.map((each) => each.path.join()))) {
        const ofPath = (list: Item[]) => list.filter((each) => each.path.join() === path)
        expect(ofPath(taken)).toEqual(ofPath(items))
      }
    }),
  )
})

test('while several wait, none of them is taken twice before each was taken once, at every level', () => {
  fc.assert(
    fc.property(fc.array(item, { minLength: 2 }), (items) => {
      const taken = drain(filled(items))
      const levels = [(each: Item) => each.path[0] ?? '', (each: Item) => each.path.join()]
      for (const [level, nameOf] of levels.entries()) {
        for (const [at, each] of taken.entries()) {
          const again = taken.findIndex((other, index) => index > at && nameOf(other) === nameOf(each))
          if (again === -1) continue
          const between = taken.slice(at + 1, again)
          // Whoever still waits after the second turn, beside this one, had a turn of its own in between.
          const beside = (other: Item) =>
            nameOf(other) !== nameOf(each) && (level === 0 || other.path[0] === each.path[0])
          for (const other of taken.slice(again + 1).filter(beside)) {
            expect(between.map(nameOf)).toContain(nameOf(other))
          }
        }
      }
    }),
  )
})

test('a branch that is closed and an item that may not run are passed over, and keep their place', () => {
  const queue = filled([
    { path: ['p', 'x'], at: 1 },
    { path: ['p', 'y'], at: 2 },
    { path: ['q', 'x'], at: 3 },
  ])
  const enter = (path: readonly string[]) => path[0] !== 'p'
  expect(queue.take({ enter })?.at).toBe(3)
  expect(queue.take({ enter })).toBeUndefined()
  expect(queue.take({ run: ({ at }) => at !== 1 })?.at).toBe(2)
  expect(queue.take()?.at).toBe(1)
  expect(queue.size()).toBe(0)
})

test('what goes along or is taken out leaves the rest in its order', () => {
  const items = [1, 2, 3, 4, 5].map((at) => ({ path: ['p', 'x'], at }))
  const queue = filled(items)
  expect(queue.takeAlong(['p', 'x'], ({ at }) => at % 2 === 0, 1)).toEqual([items[1]])
  expect(queue.remove(['p', 'x'], items[2] as Item)).toBe(true)
  expect(queue.remove(['p', 'x'], items[2] as Item)).toBe(false)
  expect(queue.remove(['q'], items[0] as Item)).toBe(false)
  expect(drain(queue).map(({ at }) => at)).toEqual([1, 4, 5])
})
