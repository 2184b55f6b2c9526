import { expect, test } from 'vitest'
import { createLane, type LanePlace, type Waiting } from '../../server/engine/lane.ts'

/** A lane of eight slots on a clock of its own. */
function stage() {
  let nowMs = 0
  const lane = createLane<Waiting>({ queueLength: 100, slots: 8, expressSlots: 4, nowMs: () => nowMs })
  const places: LanePlace[] = []
  return {
    lane,
    advance: (ms: number) => void (nowMs += ms),
    push: (scope: string, query: string, count = 1) => {
      for (let at = 0; at < count; at += 1) expect(lane.push({ scope, query: `${scope} ${query}` })).toBe(true)
    },
    /** Starts all that may run, and says which queries. */
    start: () => {
      const started: string[] = []
      for (let taken = lane.take(true); taken !== undefined; taken = lane.take(true)) {
        places.push(taken.place)
        started.push(taken.item.query)
      }
      return started
    },
    end: (query: string) => {
      const index = places.findIndex((place) => place.query === query)
      lane.release(places.splice(index, 1)[0] ?? null)
    },
    running: () => places.map(({ query }) => query),
  }
}

test('a scope leaves slots for others, and a query leaves slots for others of its scope', () => {
  const { push, start } = stage()
  push('a', 'endless', 12)
  expect(start()).toHaveLength(4)
  push('a', 'other', 12)
  expect(start()).toEqual(['a other', 'a other'])
  push('b', 'lookup', 2)
  expect(start()).toEqual(['b lookup', 'b lookup'])
})

test('queries of one scope take turns', () => {
  const { push, start } = stage()
  push('a', 'many', 5)
  push('a', 'one')
  expect(start().slice(0, 2)).toEqual(['a many', 'a one'])
})

test('slow queries together leave slots of their scope to the others', () => {
  const { push, start, advance, end } = stage()
  for (const at of [1, 2, 3, 4, 5, 6]) push('a', `slow ${at}`)
  expect(start()).toHaveLength(6)
  advance(2_000)
  for (const at of [1, 2, 3, 4, 5, 6]) end(`a slow ${at}`)
  for (const at of [1, 2, 3, 4, 5, 6]) push('a', `slow ${at}`)
  expect(start()).toHaveLength(4)
  push('a', 'quick')
  expect(start()).toEqual(['a quick'])
})

test('where slow ones that nobody knew hold every slot, what is known to be quick passes them', () => {
  const { push, start, advance, end, running } = stage()
  push('a', 'quick')
  start()
  end('a quick')
  for (let at = 0; at < 12; at += 1) push('a', `new ${at}`)
  start()
  expect(running()).toHaveLength(6)
  push('a', 'quick', 5)
  expect(start()).toEqual([])
  advance(2_000)
  expect(start()).toEqual(['a quick', 'a quick', 'a quick'])
  end('a quick')
  expect(start()).toEqual(['a quick'])
})

test('heavy work holds no more than slow work, though nobody saw it run', () => {
  const { lane, start } = stage()
  for (let at = 0; at < 6; at += 1) lane.push({ scope: 'a', query: `wide ${at}`, isHeavy: true })
  expect(start()).toHaveLength(4)
})

test('beyond its length the queue refuses', () => {
  const { lane, push } = stage()
  push('a', 'x', 100)
  expect(lane.push({ scope: 'b', query: 'y' })).toBe(false)
})
