import { rm } from 'node:fs/promises'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { makeDataDir } from '../harness/data-dir.ts'
import { operatorToken } from '../harness/app.ts'
import { startService, type ServiceProcess } from '../harness/process.ts'

const headers = { authorization: `Bearer ${operatorToken}`, 'content-type': 'application/json' }

let dataDir: string
let service: ServiceProcess
let projectId: string
let key: string
beforeEach(async () => {
  dataDir = await makeDataDir()
  service = await startService(dataDir)
  projectId = (await make('projects', { name: 'p' })).id
  const permissions = [{ project_id: projectId, environments: '*' }]
  key = (await make('api-keys', { name: 'k', plan: 'unlimited', permissions })).secret
})
afterEach(async () => {
  service.kill('SIGTERM')
  await service.exited
  await rm(dataDir, { recursive: true, force: true })
})

async function make(path: string, body: Record<string, unknown>): Promise<{ id: string; secret: string }> {
  const answer = await fetch(`${service.url}/v1/${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
  return (await answer.json()) as { id: string; secret: string }
}

type Told = { id: string; answeredAtMs: number }

/** Calls one after the other for a while; a query that is not there is a call like any other. */
async function callFor(durationMs: number): Promise<Told[]> {
  const told: Told[] = []
  const sent = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  for (const endMs = performance.now() + durationMs; performance.now() < endMs;) {
    const answer = await fetch(`${service.url}/v1/queries/nothing`, { method: 'POST', headers: sent, body: '{}' })
    await answer.arrayBuffer()
    told.push({ id: answer.headers.get('x-request-id') ?? '', answeredAtMs: performance.now() })
  }
  return told
}

async function kept(): Promise<Set<string>> {
  const ids = new Set<string>()
  for (let cursor: string | null = ''; cursor !== null;) {
    const path = `${service.url}/v1/projects/${projectId}/requests?limit=200${cursor && `&cursor=${cursor}`}`
    const page = (await (await fetch(path, { headers })).json()) as { data: Told[]; next_cursor: string | null }
    for (const { id } of page.data) ids.add(id)
    cursor = page.next_cursor
  }
  return ids
}

async function again(signal: NodeJS.Signals): Promise<void> {
  service.kill(signal)
  await service.exited
  service = await startService(dataDir)
}

test('a crash loses at most the calls of its last moments, and figures and log agree about the rest', async () => {
  const told = await callFor(4_000)
  const killedAtMs = performance.now()
  await again('SIGKILL')
  const there = await kept()
  // A second, and one more that a busy machine may take to write.
  const due = told.filter(({ answeredAtMs }) => answeredAtMs < killedAtMs - 2_000)
  expect(due.length).toBeGreaterThan(20)
  expect(due.filter(({ id }) => !there.has(id))).toEqual([])
  const answer = await fetch(`${service.url}/v1/projects/${projectId}/metrics`, { headers })
  const { totals } = (await answer.json()) as { totals: { requests: number; errors: number } }
  expect(totals).toMatchObject({ requests: there.size, errors: there.size })
})

test('a stop loses none', async () => {
  const told = await callFor(300)
  await again('SIGTERM')
  const there = await kept()
  expect(told.filter(({ id }) => !there.has(id))).toEqual([])
})
