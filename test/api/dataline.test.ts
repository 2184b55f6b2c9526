import { afterAll, beforeAll, expect, test } from 'vitest'
import { buildDataline } from '../../server/data/index.ts'
import { Failure } from '../../server/failure.ts'
import { expectStatus, type TestApp } from '../harness/app.ts'
import { execute, openAppWithSource, type Source } from '../harness/source.ts'

let t: TestApp
let source: Source
let projectId: string
beforeAll(async () => {
  // Jobs are not started: a test does their work when it wants it done.
  ;({ t, source } = await openAppWithSource())
  projectId = await t.project()
})
afterAll(() => t.close())

async function fetchNames(datasourceId: string, names: string[]): Promise<string> {
  source.answer(names.map((name) => ({ name })))
  const { body } = await expectStatus(200, execute(t.operator, { projectId, datasourceId, url: source.url }))
  return body.data_object_id
}

function prepare(datasourceId: string, objectId: string, app: Parameters<typeof buildDataline>[0] = t.app) {
  const job = { projectId, sourceId: datasourceId, input: { data_object_id: objectId } }
  return buildDataline(app, { job, signal: new AbortController().signal, progress: () => undefined })
}

async function valuesOf(datasourceId: string): Promise<string[]> {
  const values = t.app.store.db.selectFrom('columnValues').select('value').where('datasourceId', '=', datasourceId)
  return (await values.execute()).map(({ value }) => value).toSorted()
}

test('a job that comes late brings no older values back; one whose successor is not ready brings its own', async () => {
  const first = await fetchNames('ds_late', ['Ada'])
  const second = await fetchNames('ds_late', ['Grace', 'Alan'])
  await prepare('ds_late', first)
  expect(await valuesOf('ds_late')).toEqual(['Ada'])
  await prepare('ds_late', second)
  expect(await valuesOf('ds_late')).toEqual(['Alan', 'Grace'])
  await prepare('ds_late', first)
  expect(await valuesOf('ds_late')).toEqual(['Alan', 'Grace'])
})

test('where the memory does not reach for a copy the file serves; any other failure is one', async () => {
  const objectId = await fetchNames('ds_wide', ['Ada'])
  const failing = (failure: Failure) => ({
    ...t.app,
    builder: { ...t.app.builder, buildNative: () => Promise.reject(failure) },
  })
  await expect(prepare('ds_wide', objectId, failing(new Failure('internal_error')))).rejects.toThrow(Failure)
  expect(await valuesOf('ds_wide')).toEqual([])
  await prepare('ds_wide', objectId, failing(new Failure('result_too_large', { reason: 'memory_limit' })))
  expect(await valuesOf('ds_wide')).toEqual(['Ada'])
  const { body } = await t.operator.get(`/v1/projects/${projectId}/data-objects?datasource_id=ds_wide`)
  expect(body.data.map(({ kind }: { kind: string }) => kind).toSorted()).toEqual(['request_config', 'response_data'])
  const described = await t.operator.get(`/v1/projects/${projectId}/data-objects/${objectId}`)
  expect(described.body.profile.columns).toMatchObject([{ name: 'name', distinct_count: 1 }])
})
