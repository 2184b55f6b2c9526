import { afterAll, beforeAll, expect, test } from 'vitest'
import { expectStatus, openTestApp, type TestApp } from '../harness/app.ts'
import { openQueryProject } from '../harness/queries.ts'

let t: TestApp
beforeAll(async () => {
  t = await openTestApp({ SLUICE_DATABASE_CONNECTIONS: '6' })
})
afterAll(() => t.close())

/** Holds what everybody waits for who adds something to a project, until it is told to let go. */
async function holdProject(projectId: string): Promise<() => Promise<void>> {
  const [held, over] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const { db } = t.app.store
  const holding = db.transaction().execute(async (transaction) => {
    await transaction.selectFrom('projects').select('id').where('id', '=', projectId).forUpdate().execute()
    held.resolve()
    await over.promise
  })
  await held.promise
  return async () => {
    over.resolve()
    await holding
  }
}

test('those who wait for a lock of one project leave connections for another', async () => {
  const [crowded, other] = [await openQueryProject(t), await openQueryProject(t)]
  const editor = await t.member(crowded.projectId, 'editor')
  const letGo = await holdProject(crowded.projectId)
  const adding = Array.from({ length: 20 }, (_, at) =>
    editor.post(crowded.path, { name: `query_${at}`, sql: 'SELECT count(*) AS n FROM orders' }),
  )
  // As many as may wait with a connection do.
  await expect.poll(() => waitingForLocks(), { timeout: 10_000 }).toBeGreaterThan(1)
  const neighbour = await t.member(other.projectId, 'editor')
  for (let at = 0; at < 5; at += 1) await expectStatus(200, neighbour.get(other.path))
  await expectStatus(201, neighbour.post(other.path, { name: 'own', sql: 'SELECT count(*) AS n FROM orders' }))
  expect(await waitingForLocks()).toBeGreaterThan(1)
  await letGo()
  for (const added of await Promise.all(adding)) expect(added.status).toBe(201)
})

async function waitingForLocks(): Promise<number> {
  const { rows } = await t.app.store.pool.query<{ count: string }>(
    "select count(*) from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()",
  )
  return Number(rows[0]?.count)
}
