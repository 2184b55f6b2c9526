import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createFairQueue, type Holder, type Level } from '../../../server/flow/index.ts'

type Item = { holder: readonly [string, string]; at: number }

const item = fc.record({
  holder: fc.tuple(fc.constantFrom('p', 'q', 'r'), fc.constantFrom('x', 'y')),
  at: fc.nat(),
})
const enter = () => true

function filled(items: Item[]) {
  const queue = createFairQueue<Item>()
  for (const each of items) queue.push(each.holder, each)
  return queue
}

function drain(queue: ReturnType<typeof filled>): Item[] {
  const taken: Item[] = []
  for (let next = queue.take({ enter }); next !== undefined; next = queue.take({ enter })) taken.push(next.item)
  return taken
}

test('every item is taken once, and items of one part in the order they came', () => {
  fc.assert(
    fc.property(fc.array(item), (items) => {
      const queue = filled(items)
      expect(queue.waiting()).toBe(items.length)
      const taken = drain(queue)
      expect(queue.waiting()).toBe(0)
      expect(new Set(taken)).toEqual(new Set(items))
      expect(taken).toHaveLength(items.length)
      for (const holder of new Set(items.map((each) => each.holder.join()))) {
        const ofHolder = (list: Item[]) => list.filter((each) => each.holder.join() === holder)
        expect(ofHolder(taken)).toEqual(ofHolder(items))
      }
    }),
  )
})

test('while several wait, none of them is taken twice before each was taken once, at both levels', () => {
  fc.assert(
    fc.property(fc.array(item, { minLength: 2 }), (items) => {
      const taken = drain(filled(items))
      const levels = [(each: Item) => each.holder[0], (each: Item) => each.holder.join()]
      for (const [level, nameOf] of levels.entries()) {
        for (const [at, each] of taken.entries()) {
          const again = taken.findIndex((other, index) => index > at && nameOf(other) === nameOf(each))
          if (again === -1) continue
          const between = taken.slice(at + 1, again)
          // A holder that still waits after the second turn, beside this one, had a turn of its own in between.
          const beside = (other: Item) =>
            nameOf(other) !== nameOf(each) && (level === 0 || other.holder[0] === each.holder[0])
          for (const other of taken.slice(again + 1).filter(beside)) {
            expect(between.map(nameOf)).toContain(nameOf(other))
          }
        }
      }
    }),
  )
})

test('a closed name and an item that may not run are passed over, and keep their place', () => {
  const queue = filled([
    { holder: ['p', 'x'], at: 1 },
    { holder: ['p', 'y'], at: 2 },
    { holder: ['q', 'x'], at: 3 },
  ])
  const notP = ({ depth, name }: Level) => depth !== 1 || name !== 'p'
  expect(queue.take({ enter: notP })?.item.at).toBe(3)
  expect(queue.take({ enter: notP })).toBeUndefined()
  expect(queue.take({ enter, run: ({ at }) => at !== 1 })?.item.at).toBe(2)
  expect(queue.take({ enter })?.item.at).toBe(1)
  expect(queue.waiting()).toBe(0)
})

test('items that are removed leave the rest in its order', () => {
  const items = [1, 2, 3, 4, 5].map((at): Item => ({ holder: ['p', 'x'], at }))
  const queue = filled(items)
  expect(queue.remove(['p', 'x'], items[1] as Item)).toBe(true)
  expect(queue.remove(['p', 'x'], items[2] as Item)).toBe(true)
  expect(queue.remove(['p', 'x'], items[2] as Item)).toBe(false)
  expect(queue.remove(['q'], items[0] as Item)).toBe(false)
  expect(drain(queue).map(({ at }) => at)).toEqual([1, 4, 5])
})

test('each level counts what is held, entered and waiting below it, and forgets it when it is given back', () => {
  const queue = createFairQueue<string>()
  /** The counts that a limit sees of a holder: from its part up to all. */
  const seen = (holder: Holder): number[][] => {
    const counts: number[][] = []
    const note = ({ held, entered, waiting }: Level): boolean => counts.push([held, entered, waiting]) > 0
    queue.tryEnter(holder, 0, note)?.()
    return counts
  }
  const leave = queue.hold(['p', 'x'], 5, 1)
  const letGo = queue.hold(['p', 'y'], 7, 0)
  queue.push(['q', 'x'], 'waits', 3)
  expect(seen(['p', 'x'])).toEqual([
    [5, 1, 0],
    [12, 1, 0],
    [12, 1, 1],
  ])
  const taken = queue.take({ enter })
  expect(taken?.item).toBe('waits')
  for (const release of [leave, leave, letGo]) release()
  expect(seen(['p', 'x'])).toEqual([
    [0, 0, 0],
    [0, 0, 0],
    [3, 1, 0],
  ])
  taken?.leave()
  expect(seen(['q', 'x'])).toEqual([
    [0, 0, 0],
    [0, 0, 0],
    [0, 0, 0],
  ])
})
