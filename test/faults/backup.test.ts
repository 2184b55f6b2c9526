import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openCli, type Cli } from '../harness/cli.ts'
import { openInstallation, type Installation, type Project } from '../harness/installation.ts'

let folder: string
let cli: Cli
let installation: Installation
let project: Project
let isStopped = false

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-backup-'))
  // As root the database runs as someone else, who has to pass.
  await chmod(folder, 0o711)
  installation = await openInstallation()
  cli = await openCli(installation.url)
  project = await installation.project({
    orders_of: {
      sql: 'select id, region from orders where region = $region order by id',
      description: 'Orders of a region',
    },
  })
})
afterAll(async () => {
  await cli.close()
  if (!isStopped) await installation.close()
  await rm(folder, { recursive: true, force: true, maxRetries: 10 })
})

const rowsOf = async (of: Installation): Promise<unknown> => {
  const answer = await of.call(project, 'orders_of', { region: 'north' })
  return answer.status === 200 ? ((await answer.json()) as { data: unknown }).data : answer.status
}

describe('a backup', () => {
  const place = (): string => join(folder, 'monday')

  test('is made while calls are answered, and none of them fails', async () => {
    const done = new AbortController()
    const statuses = new Set<number>()
    const calls = (async () => {
      while (!done.signal.aborted) {
        statuses.add((await installation.call(project, 'orders_of', { region: 'north' })).status)
      }
    })()
    const made = await cli.json('backup', place(), '--data', installation.dataDir).finally(() => done.abort())
    await calls
    expect(statuses).toEqual(new Set([200]))
    expect(made).toMatchObject({ missing_files: [] })
    expect(made.rows).toBeGreaterThan(10)
    expect(made.files).toBeGreaterThan(1)
    expect(await cli.run('backup', place(), '--data', installation.dataDir)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('name a new folder'),
    })
  })

  test('brings everything back once the data folder is destroyed', async () => {
    const before = await rowsOf(installation)
    // Also what the service has written since: it is not in the backup, and must not be in what is restored.
    await installation.manage('POST', '/v1/projects', { name: 'Made after the backup' })
    await installation.close()
    isStopped = true
    const data = join(folder, 'restored')
    expect(await cli.run('restore', place(), '--data', data)).toMatchObject({ code: 0, stderr: '' })
    expect(await cli.run('restore', place(), '--data', data)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('is not empty'),
    })
    const again = await openInstallation({ dataDir: data })
    try {
      expect(await rowsOf(again)).toEqual(before)
      const { data: projects } = await again.manage('GET', '/v1/projects')
      expect((projects as Array<{ name: string }>).map(({ name }) => name)).toEqual(['Shop'])
      // What was restored goes on: new data, a new version.
      await again.fetchTable(project.projectId, 'more', [{ a: 1 }])
    } finally {
      await again.close()
    }
  })

  test('that is damaged, or of another version, is refused', async () => {
    const manifest = join(place(), 'backup.json')
    const text = await readFile(manifest, 'utf8')
    await writeFile(manifest, text.replace(/"sha256": "\w{8}/, '"sha256": "00000000'))
    const refused = await cli.run('restore', place(), '--data', join(folder, 'newer'))
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('newer or another version') })
    await rm(manifest)
    const partial = await cli.run('restore', place(), '--data', join(folder, 'partial'))
    expect(partial).toMatchObject({ code: 1, stderr: expect.stringContaining('no whole backup') })
  })
})
