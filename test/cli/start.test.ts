import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { endService, startService } from '../harness/process.ts'

let folder = ''
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-start-'))
})
afterEach(() => rm(folder, { recursive: true, force: true, maxRetries: 10 }))

/** What it has printed once it has said all that a start says. */
async function outputOfStart(...flags: string[]): Promise<string> {
  const environment = { XDG_CACHE_HOME: join(folder, 'cache') }
  const service = await startService(join(folder, 'data'), environment, ['cli/main.ts', 'start', ...flags])
  try {
    if (flags.length === 0) await vi.waitUntil(() => service.output().includes('sign-in#'), { timeout: 60_000 })
    else await vi.waitUntil(() => service.output().includes('"app-started"'), { timeout: 60_000 })
  } finally {
    await endService(service)
  }
  return service.output()
}

test('under a process manager the log is whole, and only the very first start lets somebody in', async () => {
  const first = await outputOfStart('--service')
  expect(first).toContain('sign-in#')
  const second = await outputOfStart('--service')
  expect(second).not.toContain('sign-in#')
  expect(second).toContain('"app-stopped"')
  const atTerminal = await outputOfStart()
  expect(atTerminal).toContain('sign-in#')
  expect(atTerminal).not.toContain('"app-started"')
})

test('a worker says how it is, and sends calls elsewhere', async () => {
  const command = ['cli/main.ts', 'start', '--service', '--role', 'worker']
  const service = await startService(join(folder, 'data'), { XDG_CACHE_HOME: join(folder, 'cache') }, command)
  try {
    const answer = await fetch(`${service.url}/v1/limits`)
    expect(answer.status).toBe(503)
    expect(await answer.text()).toContain('SLUICE_ROLE=worker')
  } finally {
    await endService(service)
  }
})
