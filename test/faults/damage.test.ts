import { open, readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { makeDataDir } from '../harness/data-dir.ts'
import { openInstallation, type Installation, type Project } from '../harness/installation.ts'
import { endService, killAll, postmasterTree, processTree, startService } from '../harness/process.ts'

const rows = (stamp: number) =>
  Array.from({ length: 2_000 }, (_, id) => ({ id, stamp, text: `${stamp} ${id} `.repeat(5) }))

/** Two versions of a table, prepared, and a query that says which of them it read. */
async function openVersions(): Promise<{ installation: Installation; project: Project; files: string[][] }> {
  const installation = await openInstallation({ dataDir: await makeDataDir() })
  onTestFinished(() => installation.close())
  const project = await installation.project({ nothing: { sql: 'SELECT 1 AS one' } })
  const seen: string[][] = [await filesOf(installation)]
  for (const stamp of [1, 2]) {
    const job = await installation.fetchTable(project.projectId, 'stamped', rows(stamp))
    await expect
      .poll(async () => (await installation.manage('GET', `/v1/jobs/${job}`))['status'], { timeout: 60_000 })
      .toBe('succeeded')
    seen.push(await filesOf(installation))
  }
  const path = `/v1/projects/${project.projectId}/queries`
  const sql =
    'SELECT min(stamp) AS least, max(stamp) AS most, count(*) AS rows, sum(length(text)) AS chars FROM stamped'
  await installation.manage('POST', path, { name: 'stamp', sql })
  await installation.manage('POST', `${path}/stamp/deploy`, { environment: 'production', force: true })
  const files = [1, 2].map((at) => (seen[at] ?? []).filter((file) => !(seen[at - 1] ?? []).includes(file)))
  return { installation, project, files }
}

async function filesOf({ dataDir }: Installation): Promise<string[]> {
  const entries = await readdir(join(dataDir, 'files'), { recursive: true, withFileTypes: true })
  return entries
    .filter((entry) => entry.isFile() && /\.(parquet|duckdb)$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
}

/** Bits that turn over by themselves: everywhere in the file, and no time of change. */
async function damage(paths: string[], ending: string): Promise<void> {
  for (const path of paths.filter((each) => each.endsWith(ending))) {
    const { size, atime, mtime } = await stat(path)
    const file = await open(path, 'r+')
    for (let at = 100; at < size; at += 512) await file.write(Buffer.from([0xa5, 0x5a]), 0, 2, at)
    await file.utimes(atime, mtime)
    await file.close()
  }
}

async function stampOf(url: string, { secret }: Project): Promise<unknown> {
  const answer = await fetch(`${url}/v1/queries/stamp`, {
    method: 'POST',
    headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
    body: '{}',
    signal: AbortSignal.timeout(30_000),
  })
  const { data, ...rest } = (await answer.json()) as { data?: Array<Record<string, unknown>> }
  const [row] = data ?? []
  if (row === undefined) return { status: answer.status, ...rest }
  return row['least'] === row['most'] && row['rows'] === 2_000 ? row['most'] : row
}

test('a damaged file is noticed at the next start, and the last whole version serves', async () => {
  const { installation, project, files } = await openVersions()
  const environment = { SLUICE_OUTBOUND_ALLOW: installation.source.host, SLUICE_LOG_LEVEL: 'error' }
  expect(await stampOf(installation.url, project)).toBe(2)
  await endService(installation.service)
  const [first = [], second = []] = files
  // The copy for speed first, then the record it was made from.
  for (const [ending, expected] of [
    ['.duckdb', 2],
    ['.parquet', 1],
  ] as const) {
    await damage(second, ending)
    const service = await startService(installation.dataDir, environment)
    expect(await stampOf(service.url, project), ending).toBe(expected)
    expect(service.output()).toContain('is damaged or gone')
    await endService(service)
  }
  await damage(first, '.duckdb')
  const service = await startService(installation.dataDir, environment)
  expect(await stampOf(service.url, project)).toBe(1)
  await endService(service)
})

test('a file that is damaged while it is served costs no call', async () => {
  const { installation, project, files } = await openVersions()
  expect(await stampOf(installation.url, project)).toBe(2)
  for (const ending of ['.duckdb', '.parquet']) await damage(files[1] ?? [], ending)
  // Executors that start anew read what is there now, not what they remember.
  const database = new Set(postmasterTree(installation.dataDir))
  const children = processTree(installation.service.pid).slice(1)
  killAll(children.filter((pid) => !database.has(pid)))
  await expect.poll(async () => (await fetch(`${installation.url}/readyz`)).status, { timeout: 60_000 }).toBe(200)
  expect(await stampOf(installation.url, project)).toBe(1)
  expect(installation.service.output()).toContain('is damaged or gone')
  // A refresh brings a version that is whole.
  await installation.fetchTable(project.projectId, 'stamped', rows(3))
  expect(await stampOf(installation.url, project)).toBe(3)
})
