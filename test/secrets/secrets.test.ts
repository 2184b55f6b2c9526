import { afterAll, beforeAll, expect, test } from 'vitest'
import { installationTree } from '../harness/process.ts'
import { connect, grant, send } from './connections.ts'
import { actAsPeople, letClientIn, useCredentials } from './credentials.ts'
import { dumpOf, filesOf, finds, processesOf, type Place } from './planted.ts'
import { record, watch } from './records-and-alerts.ts'
import { canary, openStage, type Stage } from './stage.ts'

let stage: Stage
beforeAll(async () => {
  stage = await openStage()
  await stage.start()
}, 120_000)
afterAll(() => stage.close())

/** Everything that can be read, as who may read the most. */
async function readAll({ call }: Stage, projectId: string): Promise<void> {
  const project = `/v1/projects/${projectId}`
  const pages = ['', '/members', '/invitations', '/datasources', '/data-objects', '/jobs', '/metrics', '/requests']
  const more = ['/variables', '/alerts', '/queries', '/deployments', '/questions', '/evaluations', '/definition']
  const running = ['/alert-channels', '/timeline', '/views', '/metrics/queries']
  const releases = ['/openapi.json', '/releases', '/replays', '/replay-settings', '/counter-examples']
  for (const page of [...pages, ...more, ...running, ...releases]) await call('GET', `${project}${page}`)
  for (const page of [
    '/v1/audit',
    '/v1/audit/export',
    '/v1/limits',
    '/v1/api-keys',
    '/v1/management-tokens',
    '/readyz',
    '/v1/openapi.json',
  ])
    await call('GET', page)
  const { body } = await call('GET', `${project}/data-objects?limit=100`)
  for (const { id } of body['data'] as Array<{ id: string }>) {
    for (const part of ['', '/lineage', '/rows', '/download']) await call('GET', `${project}/data-objects/${id}${part}`)
  }
}

test('a secret stands nowhere but in the one answer that shows it', { timeout: 480_000 }, async () => {
  const { secrets, dataDir, answers, traces, service, made } = stage
  const { id: projectId } = await made('/v1/projects', { name: canary })
  await connect(stage, projectId)
  await made(`/v1/projects/${projectId}/queries`, { name: canary, sql: 'SELECT count(*) AS n FROM bearer' })
  await made(`/v1/projects/${projectId}/queries/${canary}/deploy`, { environment: 'production', force: true })
  const person = await actAsPeople(stage, projectId)
  await grant(stage, projectId, person)
  await letClientIn(stage, projectId, person)
  await record(stage, projectId)
  await useCredentials(stage, projectId)
  await send(stage, projectId)
  await watch(stage, projectId)
  await readAll(stage, projectId)
  const metrics = await fetch(`${service().url}/metrics`)
  const seen: Place[] = [
    { name: 'the metrics', content: Buffer.from(await metrics.text()) },
    ...(await processesOf(service().pid, installationTree(service().pid, dataDir))),
    ...(await dumpOf(dataDir)),
  ]
  await stage.stop()
  await stage.start()
  await readAll(stage, projectId)
  await stage.stop()
  // The line that lets the first person in is printed to be used.
  const written = stage
    .log()
    .split('\n')
    .filter((line) => line.startsWith('{'))
  const tree = await filesOf(dataDir)
  const groups: Record<string, Place[]> = {
    answers,
    log: [{ name: 'the log', content: Buffer.from(written.join('\n')) }],
    traces: [{ name: 'the traces', content: Buffer.concat(traces) }],
    folder: tree,
    rest: seen,
  }
  expect(metrics.status).toBe(200)
  // The search sees: what is no secret is found in every kind of place, but for the metrics, whose labels name nothing.
  for (const [name, places] of Object.entries(groups)) expect(finds({ canary }, places), name).not.toEqual([])
  process.stdout.write(
    `${Object.keys(secrets).length} secrets; searched ${answers.length} answers, ${written.length} lines of log, ` +
      `${traces.length} pieces of traces, ${tree.length} files, ${seen.length} tables, processes and metrics\n`,
  )
  expect(finds(secrets, Object.values(groups).flat())).toEqual([])
})

test('a secret is found however it is written', () => {
  const secret = 'planted/secret+1'
  const written = [
    secret,
    encodeURIComponent(secret),
    Buffer.from(secret).toString('hex'),
    ...['', 'u', 'us', 'usr:'].map((before) => Buffer.from(`${before}${secret} and more`).toString('base64')),
  ]
  const places = written.map((text, at) => ({ name: String(at), content: Buffer.from(`before ${text} after`) }))
  expect(finds({ it: secret }, places)).toHaveLength(written.length)
  expect(finds({ it: secret }, [{ name: 'x', content: Buffer.from('planted/secret 1') }])).toEqual([])
})
