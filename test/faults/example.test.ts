import { spawnSync } from 'node:child_process'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { operatorToken } from '../harness/app.ts'
import { serverCommand, startService, type ServiceProcess } from '../harness/process.ts'

const headers = { authorization: `Bearer ${operatorToken}` }
const withExample = { SLUICE_EXAMPLE: 'on', SLUICE_LOG_LEVEL: 'warn' }

let dataDir: string
let service: ServiceProcess
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'sluice-example-'))
  await chmod(dataDir, 0o711)
})
afterEach(async () => {
  service.kill('SIGTERM')
  await service.exited
  await rm(dataDir, { recursive: true, force: true })
})

async function start(environment: Record<string, string>, readyPath = '/readyz'): Promise<void> {
  service = await startService(dataDir, environment, await serverCommand('--welcome'), process.execPath, readyPath)
}

async function stop(): Promise<void> {
  service.kill('SIGTERM')
  await service.exited
}

/** The lines that a person would paste, once they are printed. */
async function printedLines(): Promise<string[]> {
  for (const deadline = Date.now() + 60_000; Date.now() < deadline;) {
    const lines = service.output().match(/^ *curl .*$/gm)
    if (lines !== null) return lines.map((line) => line.trim())
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  throw new Error(`nothing was printed:\n${service.output()}`)
}

async function projects(): Promise<Array<{ id: string; name: string }>> {
  const answer = await fetch(`${service.url}/v1/projects`, { headers })
  return ((await answer.json()) as { data: Array<{ id: string; name: string }> }).data
}

function paste(line: string): { data: unknown[] } {
  const { stdout } = spawnSync('bash', ['-c', line], { encoding: 'utf8', timeout: 30_000 })
  const answer = JSON.parse(stdout) as { data?: unknown[] }
  if (answer.data === undefined) throw new Error(`${line} was answered with ${stdout}`)
  return { data: answer.data }
}

test(
  'the first start makes it; its lines work when pasted, at this start and the next',
  { timeout: 300_000 },
  async () => {
    await start(withExample)
    // Who waited for /readyz need not wait again.
    const [project] = await projects()
    const post = async (path: string, body: object, authorization = headers.authorization) => {
      const init = { method: 'POST', headers: { authorization, 'content-type': 'application/json' } }
      return (await fetch(service.url + path, { ...init, body: JSON.stringify(body) })).json()
    }
    const permissions = [{ project_id: project?.id, environments: ['production'] }]
    const { secret } = (await post('/v1/api-keys', { name: 'First', permissions })) as { secret: string }
    const question = { query: 'what are the top 5 coffee products', project_id: project?.id }
    expect(await post('/v1/query', question, `Bearer ${secret}`)).toMatchObject({
      parameters: { category: 'coffee', count: 5 },
    })
    // Its tests with rows pass, and show how: of the model, and of a question.
    const tested = await post(`/v1/projects/${project?.id}/tests/run`, {})
    expect(tested).toMatchObject({ passed: 2, failed: 0 })
    const first = await printedLines()
    expect(first.length).toBe(2)
    for (const line of first) expect(paste(line).data.length, line).toBeGreaterThan(0)
    await stop()
    await start(withExample)
    const second = await printedLines()
    for (const line of second) expect(paste(line).data.length, line).toBeGreaterThan(0)
    expect((await projects()).map((project) => project.name)).toEqual(['Example shop'])
  },
)

test('it never appears in an installation that was there before', { timeout: 300_000 }, async () => {
  await start({ SLUICE_EXAMPLE: 'off' })
  await stop()
  await start(withExample)
  await expect.poll(() => service.output(), { timeout: 30_000 }).toContain('/sign-in#slc_link_')
  expect(await projects()).toEqual([])
})

test('a start killed half-way leaves one example after the next', { timeout: 300_000 }, async () => {
  await start(withExample, '/healthz')
  await expect.poll(async () => (await projects()).length, { timeout: 60_000 }).toBe(1)
  expect((await fetch(`${service.url}/readyz`)).status).toBe(503)
  service.kill('SIGKILL')
  await service.exited
  await start(withExample)
  const [line = ''] = await printedLines()
  expect(paste(line).data.length).toBeGreaterThan(0)
  expect((await projects()).length).toBe(1)
})
