import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { newId } from '../../server/ids.ts'
import { openDeployments } from '../../server/queries/deployed/deployments.ts'
import { openTestApp, type TestApp } from '../harness/app.ts'

let t: TestApp
beforeAll(async () => {
  t = await openTestApp()
})
afterAll(() => t.close())

const count = 10_000

test('10,000 deployments: read at start within seconds, held in less than 60 MB, found at once', async () => {
  const projectId = await t.project()
  await fill(projectId)
  const before = heldBytes()
  const startedMs = performance.now()
  const deployments = await openDeployments({ store: t.app.store, observe: () => undefined })
  expect(performance.now() - startedMs).toBeLessThan(10_000)
  expect(heldBytes() - before).toBeLessThan(60_000_000)
  const foundMs = performance.now()
  for (let index = 0; index < count; index += 1) {
    expect(deployments.has(projectId, 'production', `query_${index}`)).toBe(true)
  }
  expect(performance.now() - foundMs).toBeLessThan(1_000)
  expect(deployments.projectsWith('query_77', 'production')).toEqual([projectId])
  await deployments.close()
})

/** Of the heap, without what is only waiting to be collected. */
function heldBytes(): number {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  collect()
  return process.memoryUsage().heapUsed
}

async function fill(projectId: string): Promise<void> {
  const slots = { type: 'object', properties: { region: { type: 'string' }, year: { type: 'integer' } }, required: [] }
  const content = {
    description: 'Orders of a region in a year',
    sql: `SELECT id, region, amount FROM orders WHERE region = $region AND year = $year ${'-- wide '.repeat(30)}`,
    slots: JSON.stringify(slots),
    examples: JSON.stringify([
      { question: 'orders in the north in 2024', parameters: { region: 'north', year: 2024 } },
    ]),
    contentHash: 'x',
  }
  for (let from = 0; from < count; from += 1_000) {
    const rows = Array.from({ length: 1_000 }, (_, index) => {
      return { name: `query_${from + index}`, queryId: newId('query'), versionId: newId('version') }
    })
    await t.app.store.db
      .insertInto('queries')
      .values(rows.map((row) => ({ ...content, id: row.queryId, projectId, name: row.name, updatedBy: 'test' })))
      .execute()
    const frozen = {
      ...content,
      version: 1,
      columns: JSON.stringify([{ name: 'id', type: 'BIGINT' }]),
      tables: JSON.stringify({ orders: ['id', 'region'] }),
      createdBy: 'test',
    }
    await t.app.store.db
      .insertInto('queryVersions')
      .values(rows.map((row) => ({ ...frozen, id: row.versionId, queryId: row.queryId })))
      .execute()
    const places = rows.map(({ name, queryId, versionId }) => ({
      projectId,
      environment: 'production',
      name,
      queryId,
      versionId,
      deployedBy: 'test',
    }))
    await t.app.store.db.insertInto('deployments').values(places).execute()
  }
}
