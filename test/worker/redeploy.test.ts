import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openDeployments } from '../../server/queries/deployed/deployments.ts'
import { openDatabase } from '../../server/store/index.ts'
import { expectStatus, openTestApp, type TestApp } from '../harness/app.ts'
import { openQueryProject, type QueryProject } from '../harness/queries.ts'
import { rounds } from '../harness/rounds.ts'

let t: TestApp
let q: QueryProject
beforeAll(async () => {
  t = await openTestApp()
  q = await openQueryProject(t)
})
afterAll(() => t.close())

const redeployments = rounds(15, 200)
/** Every column says which version made it: an answer of two versions would show. */
const sqlOf = (version: number): string =>
  `SELECT ${version} AS a, id, ${version} AS b FROM orders WHERE id <= $most ORDER BY id`

test(`${redeployments} redeployments under traffic: no call fails, none mixes versions, none sees an older one than before it`, async () => {
  await q.deploy({ name: 'moving', sql: sqlOf(1) })
  let live = 1
  let calls = 0
  const over = new AbortController()
  const formats = ['application/json', 'application/x-ndjson', 'text/event-stream']
  const call = async (accept: string): Promise<void> => {
    const least = live
    const answer = await q.caller.post('/v1/queries/moving', { most: 5 }, { accept })
    const most = live + 1
    expect(answer.status, JSON.stringify(answer.body)).toBe(200)
    const version = Number(answer.headers['x-sluice-version'])
    expect(version).toBeGreaterThanOrEqual(least)
    expect(version).toBeLessThanOrEqual(most)
    const rows = rowsOf(answer.body, accept)
    expect(rows).toEqual([1, 2, 3, 4, 5].map((id) => ({ a: version, id, b: version })))
    calls += 1
  }
  const traffic = formats.concat('application/json').map(async (accept) => {
    while (!over.signal.aborted) await call(accept)
  })
  try {
    for (let version = 2; version <= redeployments + 1; version += 1) {
      await expectStatus(200, t.operator.put(`${q.path}/moving`, { sql: sqlOf(version) }))
      const report = await expectStatus(200, t.operator.post(`${q.path}/moving/deploy`, {}))
      expect(report.body).toMatchObject({ version, compatibility: 'compatible' })
      live = version
    }
  } finally {
    over.abort()
    await Promise.all(traffic)
  }
  expect(calls).toBeGreaterThan(redeployments)
}, 240_000)

test('another process has a new version soon after it is deployed, and none once it is undeployed', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'sluice-replica-'))
  const { databaseUrl } = t.app.config
  const observe = (): void => undefined
  const store = await openDatabase({ dataDir, databaseUrl, connections: 2, timeoutMs: 5_000, observe })
  const deployments = await openDeployments({ store, observe })
  try {
    await q.deploy({ name: 'shared', sql: 'SELECT 1 AS v' })
    const versionThere = (): number | undefined =>
      deployments.find({ projectId: q.projectId, environment: 'production', name: 'shared' })?.version.number
    await expect.poll(versionThere, { timeout: 60_000 }).toBe(1)
    await q.deploy({ name: 'shared', sql: 'SELECT 2 AS v' })
    await expect.poll(versionThere, { timeout: 60_000 }).toBe(2)
    await t.operator.post(`${q.path}/shared/undeploy`, {})
    await expect.poll(versionThere, { timeout: 60_000 }).toBeUndefined()
  } finally {
    await deployments.close()
    await store.close()
    await rm(dataDir, { recursive: true, force: true })
  }
})

function rowsOf(body: { data: unknown[] } | string, accept: string): unknown[] {
  if (typeof body !== 'string') return body.data
  if (accept === 'application/x-ndjson')
    return body
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
  return body
    .split('\n')
    .filter((line) => line.startsWith('data: {"type":"rows"'))
    .flatMap((line) => JSON.parse(line.slice(6)).rows)
}
