import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { buildIndex, openEncoder, route, type Encoder, type ProjectIndex } from '../../../server/questions/index.ts'
import { depot } from './depot.ts'

// A Sunday.
const clock = { now: new Date('2026-11-15T10:00:00Z'), timeZone: 'Europe/Oslo' }

let encoder: Encoder
let index: ProjectIndex
beforeAll(async () => {
  encoder = await openEncoder({ modelDir: 'models/question-encoder', threads: 2 })
  index = await buildIndex(encoder, depot)
}, 60_000)
afterAll(() => encoder.close())

describe('a list takes each of its values once, and all of them are used', () => {
  test.each([
    ['everything at customs', ['at_customs']],
    ['shipments that are booked, in transit or delivered', ['booked', 'in_transit', 'delivered']],
    ['shipments in transit but not at customs', ['in_transit']],
    ['dangerous goods to the Netherlands, Italy and Germany', ['NL', 'IT', 'DE']],
  ])('%s', async (question, values) => {
    const routing = await route(index, question, clock)
    expect(routing.outcome).toBe('answer')
    expect(Object.values(routing.explanation.parameters)).toEqual([values])
    const leftAside = routing.explanation.unused.filter(({ text }) => !text.endsWith('customs'))
    expect(leftAside).toEqual([])
  })

  test('that leaves all of its values out is refused', async () => {
    for (const question of ['shipments that are not booked or lost', 'dangerous goods except to Germany and Italy']) {
      expect(await route(index, question, clock), question).toMatchObject({ outcome: 'no_match', because: 'opposed' })
    }
  })
})
