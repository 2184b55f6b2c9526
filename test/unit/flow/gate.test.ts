import fc from 'fast-check'
import { expect, test } from 'vitest'
import { openGate, type Gate, type GateOptions, type Holder, type Release } from '../../../server/flow/index.ts'

const once = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
const one: Holder = ['one', 'a']
const two: Holder = ['two', 'b']

/** Enters, and notes whether it is in. */
function entering(entered: Promise<Release>): { isIn: boolean; entered: Promise<Release> } {
  const state = { isIn: false, entered }
  entered.then(
    () => (state.isIn = true),
    () => undefined,
  )
  return state
}

/** Work that ends when it is told to, and notes when it began. */
function stagedWork() {
  const begun: string[] = []
  const ends = new Map<string, () => void>()
  const work = (name: string) => () => {
    begun.push(name)
    return new Promise<string>((resolve) => ends.set(name, () => resolve(name)))
  }
  const end = async (name: string) => {
    ends.get(name)?.()
    await once()
  }
  return { begun, work, end }
}

type Step = { act: 'enter' | 'leave' | 'abort'; name: string; part: string; pick: number }
type Visit = { holder: Holder; abort: AbortController; state: 'waiting' | 'in' | 'left'; leave?: Release }

const step: fc.Arbitrary<Step> = fc.record({
  act: fc.constantFrom('enter', 'enter', 'leave', 'abort'),
  name: fc.constantFrom('p', 'q', 'r'),
  part: fc.constantFrom('x', 'y'),
  pick: fc.nat(),
})

/** Does steps in order; `check` sees all visits after each. */
async function walk(gate: Gate, steps: Step[], check: (visits: Visit[], entered: Visit[]) => void): Promise<void> {
  const visits: Visit[] = []
  const entered: Visit[] = []
  const chosen = (state: Visit['state'], pick: number): Visit | undefined => {
    const among = visits.filter((visit) => visit.state === state)
    return among[pick % Math.max(1, among.length)]
  }
  for (const { act, name, part, pick } of steps) {
    if (act === 'enter') {
      const visit: Visit = { holder: [name, part], abort: new AbortController(), state: 'waiting' }
      visits.push(visit)
      gate.enter(visit.holder, { signal: visit.abort.signal }).then(
        (leave) => entered.push(Object.assign(visit, { state: 'in' as const, leave })),
        () => (visit.state = 'left'),
      )
    } else if (act === 'leave') {
      const visit = chosen('in', pick)
      if (visit !== undefined) visit.state = 'left'
      visit?.leave?.()
    } else chosen('waiting', pick)?.abort.abort()
    await once()
    check(visits, entered)
  }
  // All leave: nobody may be left behind.
  for (let visit = chosen('in', 0); visit !== undefined; visit = chosen('in', 0)) {
    visit.state = 'left'
    visit.leave?.()
    await once()
  }
  expect(visits.filter(({ state }) => state === 'waiting')).toEqual([])
  expect(gate.waiting()).toBe(0)
}

const countOf = (visits: Visit[], state: Visit['state'], name?: string): number =>
  visits.filter((visit) => visit.state === state && (name ?? visit.holder[0]) === visit.holder[0]).length

test('never above the room or the limit of a name; nobody waits who could enter; first come, first served in a part', async () => {
  const limits = fc.record({ room: fc.integer({ min: 1, max: 4 }), perName: fc.integer({ min: 1, max: 3 }) })
  await fc.assert(
    fc.asyncProperty(limits, fc.array(step, { maxLength: 40 }), async ({ room, perName }, steps) => {
      await walk(openGate({ room, perName }), steps, (visits, entered) => {
        const inside = countOf(visits, 'in')
        expect(inside).toBeLessThanOrEqual(room)
        for (const name of ['p', 'q', 'r']) {
          expect(countOf(visits, 'in', name)).toBeLessThanOrEqual(perName)
          const isStuck = inside < room && countOf(visits, 'in', name) < perName && countOf(visits, 'waiting', name) > 0
          expect(isStuck).toBe(false)
        }
        for (const holder of new Set(visits.map((visit) => visit.holder.join()))) {
          const came = visits.filter((visit) => visit.holder.join() === holder && entered.includes(visit))
          expect(entered.filter((visit) => visit.holder.join() === holder)).toEqual(came)
        }
      })
    }),
    { numRuns: 60 },
  )
})

test('with fair shares nobody is left behind, and a name that holds nothing always finds room below twice the room', async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 6 }), fc.array(step, { maxLength: 40 }), async (room, steps) => {
      await walk(openGate({ room, isShared: true }), steps, (visits) => {
        const inside = countOf(visits, 'in')
        expect(inside).toBeLessThanOrEqual(2 * room)
        for (const name of ['p', 'q', 'r']) {
          const isNew = countOf(visits, 'in', name) === 0 && countOf(visits, 'waiting', name) > 0
          if (isNew) expect(inside).toBeGreaterThanOrEqual(2 * room)
        }
      })
    }),
    { numRuns: 60 },
  )
})

const late = { message: 'late', retryAfterSeconds: 5 }
const full = (name: string) => ({ message: `full ${name}`, retryAfterSeconds: 6 })
const turns: GateOptions = { room: 2, perName: 1, queueLength: 10, waitMs: 10_000, late, full }

test('one of a name at a time, few of all, and names take turns', async () => {
  const { begun, work, end } = stagedWork()
  const gate = openGate(turns)
  for (const name of ['a1', 'a2', 'a3', 'b1', 'c1']) void gate.run([name.slice(0, 1)], work(name))
  expect(begun).toEqual(['a1', 'b1'])
  await end('b1')
  // One of the first name is still at work, so it is the turn of the third.
  expect(begun).toEqual(['a1', 'b1', 'c1'])
  await end('a1')
  await end('c1')
  expect(begun).toEqual(['a1', 'b1', 'c1', 'a2'])
  await end('a2')
  expect(begun.at(-1)).toBe('a3')
})

test('failed work gives its turn on, and the result of work is returned', async () => {
  const gate = openGate({ ...turns, room: 1 })
  const failing = gate.run(['a'], () => Promise.reject(new Error('no')))
  const next = gate.run(['b'], async () => 'done')
  await expect(failing).rejects.toThrow('no')
  expect(await next).toBe('done')
})

test('a queue has a length for each name, and a wait its end', async () => {
  const { work, end } = stagedWork()
  const gate = openGate({ ...turns, room: 1, queueLength: 1, waitMs: 20 })
  const first = gate.run(['a'], work('a1'))
  const second = gate.run(['a'], work('a2'))
  await expect(gate.run(['a'], work('a3'))).rejects.toMatchObject({
    code: 'overloaded',
    message: 'full a',
    retryAfterSeconds: 6,
  })
  const other = gate.run(['b'], work('b1'))
  await expect(second).rejects.toMatchObject({ code: 'overloaded', ...late })
  await expect(other).rejects.toThrow('late')
  await end('a1')
  expect(await first).toBe('a1')
  // Visitors that gave up take no turn.
  expect(await gate.run(['a'], async () => 'free')).toBe('free')
})

test('work that comes as other work ends goes behind what waits', async () => {
  const gate = openGate({ room: 1 })
  const done: string[] = []
  const busy = async (): Promise<void> => {
    const work = () => once().then(() => done.push('busy'))
    for (let at = 0; at < 3; at += 1) await gate.run(['p'], work)
  }
  await Promise.all([busy(), gate.run(['p'], async () => void done.push('other'))])
  expect(done).toEqual(['busy', 'other', 'busy', 'busy'])
})

test('a signal that is aborted ends the wait with its reason, and lets nobody in who came with it', async () => {
  const gate = openGate({ room: 1 })
  const leave = await gate.enter(one)
  const left = new AbortController()
  const waiting = gate.enter(one, { signal: left.signal })
  left.abort(new Error('gone'))
  await expect(waiting).rejects.toThrow('gone')
  expect(gate.waiting()).toBe(0)
  leave()
  await expect(gate.enter(one, { signal: left.signal })).rejects.toThrow('gone')
  await expect(gate.run(one, async () => 'in', { signal: left.signal })).rejects.toThrow('gone')
  expect(gate.tryEnter(two)).toBeDefined()
})

/** Shares of amounts, as large answers have them. */
const shared = (perName = 100) => openGate({ room: 100, isShared: true, perName })

test('a holder of more than a fair share waits until some is given back; a neighbour does not', async () => {
  const gate = shared()
  const letGo = [40, 40].map((amount) => gate.hold(one, amount))
  const waiting = entering(gate.enter(one, { amount: 10 }))
  await gate.enter(two, { amount: 10 })
  expect(waiting.isIn).toBe(false)
  letGo[0]?.()
  await waiting.entered
})

test('another part of the same name finds room where the first has its share', async () => {
  const gate = shared()
  gate.hold(one, 60)
  const waiting = entering(gate.enter(one, { amount: 10 }))
  await gate.enter(['one', 'other'], { amount: 10 })
  expect(waiting.isIn).toBe(false)
})

test('amounts that were entered count, and all who find room afterwards are let in', async () => {
  const gate = shared()
  const all = Array.from({ length: 20 }, () => entering(gate.enter(one, { amount: 10 })))
  const leave = await all[0]?.entered
  await once()
  const inside = all.filter(({ isIn }) => isIn).length
  expect(inside).toBeGreaterThan(3)
  expect(inside).toBeLessThan(10)
  leave?.()
  for (const { entered } of all) (await entered)()
})

test('giving back twice gives back once; without a failure of its own a wait ends as overloaded', async () => {
  const gate = shared()
  const [first] = [60, 60].map((amount) => gate.hold(one, amount))
  first?.()
  first?.()
  expect(gate.tryEnter(one)).toBeUndefined()
  await expect(gate.enter(one, { waitMs: 1 })).rejects.toMatchObject({ code: 'overloaded', retryAfterSeconds: 1 })
})

test('a name has so many entries at a time, whatever its parts; held amounts are no entries', async () => {
  const gate = openGate({ room: 1_000, isShared: true, perName: 1 })
  gate.hold(one, 10)
  const leave = await gate.enter(one, { amount: 10 })
  const waiting = entering(gate.enter(['one', 'other'], { amount: 10 }))
  const leaveToo = await gate.enter(two, { amount: 10 })
  leaveToo()
  leaveToo()
  await once()
  expect(waiting.isIn).toBe(false)
  leave()
  await waiting.entered
})

test('a room that changes is asked for each time', () => {
  let room = 1
  const gate = openGate({ room: () => room })
  expect(gate.tryEnter(one)).toBeDefined()
  expect(gate.tryEnter(one)).toBeUndefined()
  room = 2
  expect(gate.tryEnter(one)).toBeDefined()
})
