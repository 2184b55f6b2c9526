import { rm } from 'node:fs/promises'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { operatorToken } from '../harness/app.ts'
import { makeDataDir } from '../harness/data-dir.ts'
import { endService, startService, type ServiceProcess } from '../harness/process.ts'

const environment = { SLUICE_CANARY_INTERVAL_SECONDS: '1', SLUICE_EXECUTOR_PROCESSES: '1', SLUICE_SPARE_EXECUTORS: '0' }

let dataDir: string
let service: ServiceProcess
beforeEach(async () => {
  dataDir = await makeDataDir()
  service = await startService(dataDir, environment)
})
afterEach(async () => {
  await endService(service)
  await rm(dataDir, { recursive: true, force: true })
})

type Answer = { status: number; body: any } // oxlint-disable-line typescript/no-explicit-any -- a test asserts on whatever came back

async function send(method: string, path: string, body: unknown, secret = operatorToken): Promise<Answer> {
  const answer = await fetch(`${service.url}/v1/${path}`, {
    method,
    headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  return { status: answer.status, body: await answer.json() }
}

async function made(path: string, body: unknown): Promise<Record<string, string>> {
  const { status, body: answer } = await send('POST', path, body)
  if (status >= 300) throw new Error(`${path}: ${JSON.stringify(answer)}`)
  return answer
}

test('a process that is killed in the middle of a canary leaves it as it was, and the next one goes on with it', async () => {
  const { id: projectId = '' } = await made('projects', { name: 'p' })
  const permissions = [{ project_id: projectId, environments: '*' }]
  const secrets: string[] = []
  for (let at = 0; at < 20; at += 1) {
    secrets.push((await made('api-keys', { name: 'k', plan: 'unlimited', permissions }))['secret'] ?? '')
  }
  const query = { name: 'one', description: 'One', sql: 'SELECT 1 AS one' }
  await made(`projects/${projectId}/queries`, query)
  await made(`projects/${projectId}/queries/one/deploy`, {})
  await send('PUT', `projects/${projectId}/queries/one`, { description: 'One', sql: 'SELECT 2 AS one' })
  const canary = { percent: 50, step: { percent: 50, seconds: 5 } }
  const { id: releaseId = '' } = await made(`projects/${projectId}/releases`, { queries: [{ name: 'one' }], canary })
  const versions = async (): Promise<number[]> => {
    const answers = await Promise.all(secrets.map((secret) => send('POST', 'queries/one', {}, secret)))
    return answers.map(({ body }) => body.version)
  }
  const before = await versions()
  expect(new Set(before)).toEqual(new Set([1, 2]))

  service.kill('SIGKILL')
  await service.exited
  service = await startService(dataDir, environment)
  const after = await versions()
  // It may have stepped meanwhile: then more keys have the new version, and none that had it has lost it.
  for (const [at, version] of before.entries()) if (version === 2) expect(after[at]).toBe(2)

  const status = async (): Promise<string> => {
    return (await send('GET', `projects/${projectId}/releases/${releaseId}`, undefined)).body.status
  }
  await expect.poll(status, { timeout: 60_000, interval: 500 }).toBe('released')
  expect(new Set(await versions())).toEqual(new Set([2]))
})
