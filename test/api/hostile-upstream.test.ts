import { afterAll, beforeAll, expect, test } from 'vitest'
import { expectStatus, openTestApp, type TestApp } from '../harness/app.ts'
import { openQueryProject, type QueryProject } from '../harness/queries.ts'
import { execute } from '../harness/source.ts'
import { openUpstream, type Upstream } from '../harness/upstream.ts'

let t: TestApp
let q: QueryProject
let upstream: Upstream
beforeAll(async () => {
  upstream = await openUpstream()
  t = await openTestApp(
    {
      SLUICE_OUTBOUND_ALLOW: upstream.host,
      SLUICE_EXECUTE_TIMEOUT_MS: '3000',
    },
    { bounds: { executeTryTimeoutMs: 1500, outboundTries: 1 } },
  )
  q = await openQueryProject(t)
  await q.deploy({ name: 'one', sql: 'SELECT id FROM orders WHERE id = $id::INTEGER' })
})
afterAll(async () => {
  await t.close()
  await upstream.close()
})

test('APIs that never end, drip, cut off or burst cost their own executes, and others are answered meanwhile', async () => {
  const paths = ['/slow-headers', '/drip', '/endless', '/bomb', '/deep', '/truncated', '/short-body', '/close', '/loop']
  const projectId = await t.project()
  // However slow the machine is: a call that is held up by an execute is not answered before that ends.
  let answeredBeside = 0
  for (let round = 0; round < 5 && answeredBeside <= 20; round += 1) {
    const open = new Set(paths)
    const executes = paths.map(async (path) => {
      const datasourceId = `ds_${path.slice(1).replaceAll('-', '_')}_${projectId}`
      const answer = await execute(t.operator, { projectId, datasourceId, url: `${upstream.origin}${path}` })
      open.delete(path)
      return answer
    })
    while (open.size > 0 && answeredBeside <= 20) {
      const begun = [...open]
      await expectStatus(200, q.caller.post('/v1/queries/one', { id: 1 }))
      answeredBeside += Number(begun.every((path) => open.has(path)))
    }
    for (const [at, { status, body }] of (await Promise.all(executes)).entries()) {
      expect([400, 413, 502, 504], `${paths[at]}: ${JSON.stringify(body)}`).toContain(status)
      expect(body.message.length).toBeGreaterThan(10)
    }
  }
  expect(answeredBeside).toBeGreaterThan(20)
  const { body } = await t.operator.get(`/v1/projects/${projectId}/data-objects`)
  expect(body.data).toEqual([])
})
