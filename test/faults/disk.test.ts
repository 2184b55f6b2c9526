import { chmod, mkdir, rm, statfs, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, inject, onTestFinished, test } from 'vitest'
import { copyCluster, makeDataDir, makePassableFolder } from '../harness/data-dir.ts'
import { openInstallation, type Installation, type Project } from '../harness/installation.ts'
import { endService, runService } from '../harness/process.ts'
import { mayMount, mayThrottle, mountOnItself, mountSmallDisk, mountThrottledDisk, remount, unmount } from './mounts.ts'

const rows = (count: number) =>
  Array.from({ length: count }, (_, id) => ({ id, text: `${id} ${Math.random()}`.repeat(9) }))

/** The status and the error of a call that may well fail. */
async function attempt(
  installation: Installation,
  path: string,
  body: unknown,
  secret = installation.operator,
): Promise<{ status: number; error?: string }> {
  const answer = await fetch(installation.url + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(40_000),
  })
  const { error } = (await answer.json()) as { error?: string }
  return { status: answer.status, ...(error !== undefined && { error }) }
}

function execute(installation: Installation, { projectId }: Project, count: number) {
  installation.source.answer(rows(count))
  const request = { url: installation.source.url, method: 'GET' }
  return attempt(installation, '/v1/http/execute-request', {
    project_id: projectId,
    datasource_id: 'ds_disk',
    connect_spec: { name: 'disk', id: 'http_api', config: request },
    ...request,
  })
}

const read = (installation: Installation, { secret }: Project) =>
  attempt(installation, '/v1/queries/order_count', {}, secret)
const count = { order_count: { sql: 'SELECT count(*) AS orders FROM orders' } }

test.skipIf(!mayMount)(
  'a full disk refuses what needs room, serves the rest, and is forgotten once there is room',
  async () => {
    const dataDir = await makePassableFolder()
    mountSmallDisk(dataDir, 400)
    await copyCluster(inject('clusterDir'), dataDir)
    const installation = await openMounted(dataDir, () => unmount(dataDir))
    const project = await installation.project(count)
    expect(await read(installation, project)).toEqual({ status: 200 })
    const ballast = join(dataDir, 'ballast')
    const { bavail, bsize } = await statfs(dataDir)
    await writeFile(ballast, Buffer.alloc(bavail * bsize - 65_536, 1)).catch(() => undefined)
    const refused = await execute(installation, project, 50_000)
    expect(refused.status, JSON.stringify(refused)).toBeGreaterThanOrEqual(500)
    expect(refused.error).toBe('overloaded')
    for (let at = 0; at < 5; at += 1) expect(await read(installation, project)).toEqual({ status: 200 })
    await rm(ballast)
    await expect
      .poll(async () => (await execute(installation, project, 100)).status, { timeout: 60_000, interval: 500 })
      .toBe(200)
    expect((await attempt(installation, '/v1/projects', { name: 'after' })).status).toBe(201)
    expect(await read(installation, project)).toEqual({ status: 200 })
  },
)

test.skipIf(!mayMount)('a disk that can only be read refuses new data and serves what is there', async () => {
  const dataDir = await makeDataDir()
  const files = join(dataDir, 'files')
  await mkdir(files, { mode: 0o700 })
  mountOnItself(files)
  const installation = await openMounted(dataDir, () => unmount(files))
  const project = await installation.project(count)
  expect((await execute(installation, project, 100)).status).toBe(200)
  // Whatever is being prepared ends first: a file that is open for writing keeps its disk writable.
  await expect.poll(() => tryReadOnly(files), { timeout: 30_000 }).toBe(true)
  const refused = await execute(installation, project, 100)
  expect(refused).toEqual({ status: 503, error: 'overloaded' })
  expect(await read(installation, project)).toEqual({ status: 200 })
  remount(files, 'rw')
  expect((await execute(installation, project, 100)).status).toBe(200)
})

test.skipIf(!mayMount)('a data folder that cannot be written stops the start with a line that names it', async () => {
  const dataDir = await makeDataDir()
  mountOnItself(dataDir)
  onTestFinished(async () => {
    unmount(dataDir)
    await rm(dataDir, { recursive: true, force: true })
  })
  remount(dataDir, 'ro')
  const { code, output } = await runService({ SLUICE_DATA_DIR: dataDir, PORT: '0' })
  expect(code).toBe(1)
  expect(output).toMatch(/^Sluice cannot start: .*read-only/m)
  expect(output).toContain(dataDir)
})

test.skipIf(!mayThrottle)('a slow disk makes writes wait, and calls of queries do not wait for them', async () => {
  const dataDir = await makePassableFolder()
  const disk = mountThrottledDisk(dataDir, 800)
  await chmod(dataDir, 0o711)
  await copyCluster(inject('clusterDir'), dataDir)
  const installation = await openMounted(dataDir, disk.remove)
  onTestFinished(() => disk.slow(null))
  const project = await installation.project(count)
  expect((await execute(installation, project, 100)).status).toBe(200)
  const queries = `/v1/projects/${project.projectId}/queries`
  await installation.manage('POST', queries, { name: 'fetched', sql: 'SELECT count(*) AS rows FROM disk' })
  await installation.manage('POST', `${queries}/fetched/deploy`, { environment: 'production' })
  expect(await read(installation, project)).toEqual({ status: 200 })
  disk.slow({ bytes: 300_000, writes: 25 })
  const writes = Promise.all([
    execute(installation, project, 20_000),
    attempt(installation, '/v1/projects', { name: 'slow' }),
  ])
  // `read` gives up long before a write to this disk would end: 24 MB at 300 kB a second.
  for (let at = 0; at < 20; at += 1) expect(await read(installation, project)).toEqual({ status: 200 })
  const [executed, created] = await writes
  disk.slow(null)
  // Done, or refused in words: the table is the old one or the new one, and the project is there or is not.
  expect([200, 503, 504]).toContain(executed.status)
  const counted = await (await installation.call(project, 'fetched')).json()
  expect(counted).toMatchObject({ data: [{ rows: executed.status === 200 ? 20_000 : 100 }] })
  expect([201, 503]).toContain(created.status)
  const { data } = await installation.manage('GET', '/v1/projects')
  const names = (data as Array<{ name: string }>).map(({ name }) => name)
  expect(names.includes('slow')).toBe(created.status === 201)
  await expect
    .poll(async () => (await execute(installation, project, 200)).status, { timeout: 60_000, interval: 500 })
    .toBe(200)
})

/** What is mounted goes while nobody uses it and before its folder is removed. */
/** The service on a disk of its own, which goes with it, also where it does not start. */
async function openMounted(dataDir: string, removeDisk: () => void): Promise<Installation> {
  const installation = await openInstallation({ dataDir }).catch((error: unknown) => {
    removeDisk()
    throw error
  })
  onTestFinished(async () => {
    await endService(installation.service)
    removeDisk()
    await installation.close()
  })
  return installation
}

function tryReadOnly(folder: string): boolean {
  try {
    remount(folder, 'ro')
    return true
  } catch {
    return false
  }
}
