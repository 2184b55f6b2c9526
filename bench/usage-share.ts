/**
 * What recording takes of the throughput of real calls, with and without it in turn: `node bench/usage-share.ts`. The
 * recorder's database runs on the same cores. Goal: under 5 % of the calls that run a query.
 */
import { spawn } from 'node:child_process'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openApp } from '../server/app.ts'
import { readConfig } from '../server/config.ts'
import { buildHttp } from '../server/http/index.ts'
import { orders, putTable } from '../test/harness/tables.ts'

const rounds = 7
const roundMs = 2_000
const rowCount = 10_000

const dataDir = await mkdtemp(join(tmpdir(), 'sluice-bench-'))
await chmod(dataDir, 0o711)
const operator = 'operator-token-of-the-bench'
const config = readConfig({
  SLUICE_DATA_DIR: dataDir,
  SLUICE_MANAGEMENT_TOKEN: operator,
  SLUICE_EXAMPLE: 'off',
  SLUICE_LOG_LEVEL: 'silent',
})
if ('mistakes' in config) throw new Error(config.mistakes.join('\n'))
const app = await openApp(config)
const http = await buildHttp(app)
await http.listen({ port: 0, host: '127.0.0.1' })
const { port } = http.server.address() as AddressInfo

const { id: projectId } = await manage('/v1/projects', { name: 'Bench' })
await putTable(app, projectId, { name: 'orders', rows: orders(rowCount), native: true })
const path = `/v1/projects/${projectId}/queries`
await manage(path, { name: 'lookup', sql: 'SELECT * FROM orders WHERE id = $id' })
await manage(path, { name: 'kept', sql: 'SELECT * FROM orders WHERE id < 20 ORDER BY id', cache_seconds: 3600 })
for (const name of ['lookup', 'kept']) await manage(`${path}/${name}/deploy`, {})
const permissions = [{ project_id: projectId, environments: '*' }]
const { secret } = await manage('/v1/api-keys', { name: 'bench', plan: 'unlimited', permissions })

const recorder = { ...app.usage }
for (const [name, most] of [
  ['lookup', rowCount],
  ['kept', 0],
] as const) {
  const ratios: number[] = []
  const shown: string[] = []
  for (let round = 0; round < rounds; round += 1) {
    app.usage.observe = recorder.observe
    const recorded = await load(`/v1/queries/${name}`, most)
    app.usage.observe = () => {}
    const silent = await load(`/v1/queries/${name}`, most)
    ratios.push(recorded / silent)
    shown.push(`${recorded}/${silent}`)
  }
  const [median = 0] = ratios.toSorted((left, right) => left - right).slice(Math.floor(rounds / 2))
  console.log(`${name}: ${median.toFixed(3)}× the calls without recording (a second: ${shown.join(', ')})`)
}
console.log(`shed: ${app.usage.shed()}`)
await http.close()
await app.close()
await rm(dataDir, { recursive: true, force: true })
process.exit(0)

async function manage(path: string, body: object): Promise<{ id: string; secret: string }> {
  const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${operator}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  if (!answer.ok) throw new Error(await answer.text())
  return (await answer.json()) as { id: string; secret: string }
}

async function load(path: string, most: number): Promise<number> {
  const args = [String(port), path, secret, '32', String(roundMs), String(most)]
  const child = spawn(process.execPath, [join(import.meta.dirname, 'load.ts'), ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let text = ''
  for await (const part of child.stdout) text += String(part)
  return Number(text)
}
