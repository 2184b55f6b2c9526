import { afterAll, beforeAll, expect, test } from 'vitest'
import { openFixture, type Fixture } from '../worker/engine-fixture.ts'

let fixture: Fixture
beforeAll(async () => {
  fixture = await openFixture()
})
afterAll(() => fixture.close())

test('a long list is inspected in about linear time, and others are answered meanwhile', async () => {
  const list = (count: number) =>
    `SELECT id FROM orders WHERE id IN (${Array.from({ length: count }, (_, i) => i).join()})`
  const bestOf = async (sql: string): Promise<number> => {
    const times: number[] = []
    for (let round = 0; round < 3; round += 1) {
      const startedMs = performance.now()
      await fixture.engine.inspect('project', fixture.catalog, { sql, slots: [] })
      times.push(performance.now() - startedMs)
    }
    return Math.min(...times)
  }
  // Ten times as long; when each value looked for its place in the text it was a hundred times.
  expect((await bestOf(list(15_000))) / (await bestOf(list(1_500)))).toBeLessThan(40)
  const order: string[] = []
  const long = [1, 2, 3].map(() =>
    fixture.engine.inspect('project', fixture.catalog, { sql: list(15_000), slots: [] }).then(() => order.push('long')),
  )
  const short = fixture.engine.inspect('neighbour', fixture.catalog, { sql: 'SELECT 1 AS x', slots: [] })
  await Promise.all([...long, short.then(() => order.push('short'))])
  expect(order.indexOf('short')).toBeLessThan(order.lastIndexOf('long'))
})
