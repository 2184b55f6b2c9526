import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { expectStatus, operatorToken, type TestApp } from '../harness/app.ts'
import { execute, openAppWithSource, type Held, type Source } from '../harness/source.ts'

const polled = { timeout: 60_000 }

let t: TestApp
let source: Source
let origin: string
let projectId: string
beforeAll(async () => {
  ;({ t, source } = await openAppWithSource())
  origin = await t.listen()
  projectId = await t.project()
})
afterAll(() => t.close())

/** Calls, and hangs up once the external API has been called. */
async function hangUp(path: string, body: object, headers: Record<string, string> = {}): Promise<Held> {
  const leaving = new AbortController()
  const held = source.hold()
  const answer = fetch(`${origin}${path}`, {
    method: 'POST',
    signal: leaving.signal,
    headers: { authorization: `Bearer ${operatorToken}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })
  await expect.poll(held.asked, polled).toBe(1)
  leaving.abort()
  await expect(answer).rejects.toThrow('aborted')
  return held
}

const requestFor = (datasourceId: string) => ({
  project_id: projectId,
  datasource_id: datasourceId,
  connect_spec: { name: datasourceId, id: 'http_api', config: { url: source.url, method: 'GET' } },
  url: source.url,
  method: 'GET',
})
const versionsOf = async (datasourceId: string): Promise<number[]> => {
  const path = `/v1/projects/${projectId}/data-objects?datasource_id=${datasourceId}`
  const { body } = await expectStatus(200, t.operator.get(path))
  const objects: Array<{ kind: string; version: number }> = body.data
  return objects.filter(({ kind }) => kind === 'response_data').map(({ version }) => version)
}
const faults = (): unknown[] => t.observations.filter(({ kind }) => kind === 'request-failed' || kind === 'fault')

describe('a caller who hangs up', () => {
  test('ends the test of a connection', async () => {
    const held = await hangUp('/v1/http/test-connection', { url: source.url, method: 'GET' })
    await expect.poll(held.dropped, polled).toBe(1)
    expect(faults()).toEqual([])
  })

  test('ends an execute: nothing is stored, the next may begin at once and the datasource is as it was', async () => {
    source.answer([{ a: 1 }])
    await expectStatus(200, execute(t.operator, { projectId, datasourceId: 'ds_left', url: source.url }))
    const held = await hangUp('/v1/http/execute-request', requestFor('ds_left'))
    await expect.poll(held.dropped, polled).toBe(1)
    source.answer([{ a: 3 }])
    await expectStatus(200, execute(t.operator, { projectId, datasourceId: 'ds_left', url: source.url }))
    expect(await versionsOf('ds_left')).toEqual([2, 1])
    expect(faults()).toEqual([])
  })

  test('leaves no mark of failure on the datasource', async () => {
    source.answer([{ a: 1 }])
    await expectStatus(200, execute(t.operator, { projectId, datasourceId: 'ds_unmarked', url: source.url }))
    await hangUp('/v1/http/execute-request', requestFor('ds_unmarked'))
    const busy = async () =>
      (await t.app.store.db.selectFrom('leases').selectAll().where('name', 'like', 'datasource/%').execute()).length
    await expect.poll(busy, polled).toBe(0)
    const datasource = await t.operator.get(`/v1/projects/${projectId}/datasources/ds_unmarked`)
    expect(datasource.body).toMatchObject({ last_error: null })
  })

  test('with an Idempotency-Key finds its answer when it asks again', async () => {
    const key = { 'idempotency-key': 'asked-twice' }
    const held = await hangUp('/v1/http/execute-request', requestFor('ds_kept'), key)
    const again = t.operator.post('/v1/http/execute-request', requestFor('ds_kept'), key)
    held.letGo([{ a: 2 }])
    const answer = await expectStatus(200, again)
    expect(answer.body.data_object_id).toMatch(/^obj_/)
    expect(held.asked()).toBe(1)
    expect(await versionsOf('ds_kept')).toEqual([1])
  })
})
