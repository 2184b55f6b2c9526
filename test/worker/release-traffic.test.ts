import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openDeployments } from '../../server/queries/deployed/deployments.ts'
import { expectStatus, openTestApp, type TestApp } from '../harness/app.ts'
import { openQueryProject, type QueryProject } from '../harness/queries.ts'
import { rounds } from '../harness/rounds.ts'

let t: TestApp
let q: QueryProject
beforeAll(async () => {
  t = await openTestApp({ SLUICE_QUERY_QUEUE_LENGTH: '4096' })
  q = await openQueryProject(t)
})
afterAll(() => t.close())

const names = ['first', 'second', 'third'] as const
const releases = rounds(6, 50)
const callers = rounds(100, 1_000)
/** Every row says which release made it. */
const sqlOf = (name: string, number: number): string => `SELECT ${number} AS a, '${name}' AS name, ${number} AS b`

async function write(number: number): Promise<void> {
  // Kept answers: what is tried here is what callers see, not how many queries two cores run at once.
  const queries = names.map((name) => ({ name, sql: sqlOf(name, number), cache_seconds: 3_600 }))
  await expectStatus(200, t.operator.put(`/v1/projects/${q.projectId}/definition`, { definition: 1, queries }))
}
const release = (body: Record<string, unknown> = {}) =>
  expectStatus(200, t.operator.post(`/v1/projects/${q.projectId}/releases`, { queries: 'all', ...body }))

test(`${callers} callers during ${releases} releases: no call fails, and who has seen a release sees nothing older`, async () => {
  await write(1)
  await release()
  const over = new AbortController()
  let calls = 0
  const failures: string[] = []
  const mixtures: string[] = []
  const client = async (at: number): Promise<void> => {
    // What this client has seen last, of whatever query.
    let seen = 0
    for (let turn = at; !over.signal.aborted; turn += 1) {
      const name = names[turn % names.length] ?? 'first'
      const { status, body } = await q.caller.post(`/v1/queries/${name}`, {})
      calls += 1
      if (status !== 200) {
        failures.push(`${status} ${JSON.stringify(body)}`)
        return
      }
      const [row] = body.data as { a: number; b: number; name: string }[]
      if (row === undefined || row.a !== row.b || row.a !== body.version || row.name !== name || row.a < seen) {
        mixtures.push(`${name} answered ${JSON.stringify(body)} after ${seen}`)
      }
      seen = Math.max(seen, row?.a ?? 0)
      // People and programs do something with an answer; without it a thousand loops leave no time for a release.
      await wait(2 * callers + at)
    }
  }
  const traffic = Array.from({ length: callers }, (_, at) => client(at))
  try {
    for (let number = 2; number <= releases + 1; number += 1) {
      await write(number)
      const { body } = await release({ message: `release ${number}` })
      expect(body.queries).toHaveLength(names.length)
    }
  } finally {
    over.abort()
    await Promise.all(traffic)
  }
  expect(failures).toEqual([])
  expect(mixtures).toEqual([])
  expect(calls).toBeGreaterThan(callers)
}, 900_000)

test('another process switches a release as a whole, however many queries it has', async () => {
  const many = Array.from({ length: 60 }, (_, at) => `many_${at}`)
  const numberOf = (deployments: Awaited<ReturnType<typeof openDeployments>>) => (name: string) =>
    deployments.find({ projectId: q.projectId, environment: 'staging', name })?.version.number
  const other = await openDeployments({ store: t.app.store, observe: () => undefined })
  const seen: string[] = []
  // Looked at whenever anything has changed there: always one version of all.
  const stop = other.onChange(() => {
    seen.push([...new Set(many.map(numberOf(other)))].join(' and '))
  })
  try {
    for (const name of many) await expectStatus(201, t.operator.post(q.path, { name, sql: sqlOf(name, 1) }))
    const queries = many.map((name) => ({ name }))
    await release({ environment: 'staging', queries })
    for (const name of many) await expectStatus(200, t.operator.put(`${q.path}/${name}`, { sql: sqlOf(name, 2) }))
    await release({ environment: 'staging', queries })
    const removed = queries.map((each) => Object.assign(each, { remove: true }))
    await release({ environment: 'staging', queries: removed, force: true })
    await expect.poll(() => other.list(q.projectId, 'staging'), { timeout: 30_000 }).toEqual([])
    expect(new Set(seen)).toEqual(new Set(['1', '2', '']))
  } finally {
    stop()
    await other.close()
  }
}, 120_000)
