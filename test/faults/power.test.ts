import { execFileSync } from 'node:child_process'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { openCli } from '../harness/cli.ts'
import { openInstallation } from '../harness/installation.ts'
import {
  endService,
  installationTree,
  isAlive,
  killAll,
  startService,
  type ServiceProcess,
} from '../harness/process.ts'
import { openSource } from '../harness/source.ts'
import { openLedger } from './ledger.ts'
import { mayCutPower, mountCuttableDisk, type CuttableDisk } from './mounts.ts'

const rounds = Math.ceil(Number(process.env['FAULT_ROUNDS'] ?? 10) / 5)
const roundLimitMs = 120_000

async function openDisk(): Promise<{ folder: string; disk: CuttableDisk }> {
  const parent = await mkdtemp(join(tmpdir(), 'sluice-power-'))
  execFileSync('chmod', ['711', parent])
  const folder = join(parent, 'disk')
  await mkdir(folder)
  const disk = mountCuttableDisk(folder, 1_024)
  onTestFinished(async () => {
    disk.remove()
    await rm(parent, { recursive: true, force: true, maxRetries: 10 })
  })
  return { folder, disk }
}

async function ended(pids: number[]): Promise<void> {
  killAll(pids)
  await expect.poll(() => pids.filter(isAlive)).toEqual([])
}

test.skipIf(!mayCutPower)(
  `the power goes at any moment of loads, merges, releases and keys, ${rounds} times`,
  { timeout: rounds * roundLimitMs + 120_000 },
  async () => {
    const { folder, disk } = await openDisk()
    const dataDir = join(folder, 'data')
    await mkdir(dataDir, { mode: 0o711 })
    const source = await openSource()
    let service: ServiceProcess | undefined
    onTestFinished(async () => {
      if (service !== undefined) await ended(installationTree(service.pid, dataDir))
      await source.close()
    })
    const environment = { SLUICE_OUTBOUND_ALLOW: source.host, SLUICE_LOG_LEVEL: 'error' }
    const ledger = openLedger(source)
    service = await startService(dataDir, environment)
    await ledger.begin(service.url)
    for (let round = 1; round <= rounds; round += 1) {
      const over = new AbortController()
      const wrong: string[] = []
      const working = [...ledger.acts.map((act) => ledger.write(act, over.signal)), ledger.look(over.signal, wrong)]
      await wait(500 + Math.random() * 4_000)
      const all = installationTree(service.pid, dataDir)
      disk.cutPower()
      await ended(all)
      over.abort()
      await Promise.all(working)
      await service.exited
      disk.start()
      expect(wrong, `round ${round}`).toEqual([])
      service = await startService(dataDir, environment)
      expect(await ledger.faults(service.url), `round ${round}`).toEqual([])
    }
    expect(await ledger.jobFaults()).toEqual([])
    await endService(service)
    process.stdout.write(`power, ${rounds} rounds: ${JSON.stringify(ledger.figures())}\n`)
    expect(ledger.figures().merges).toBeGreaterThan(0)
    expect(ledger.figures().deploys).toBeGreaterThan(0)
  },
)

test.skipIf(!mayCutPower)('a back-up that was said to be made is there when the power goes', async () => {
  const { folder, disk } = await openDisk()
  const installation = await openInstallation()
  onTestFinished(() => installation.close())
  const cli = await openCli(installation.url)
  onTestFinished(() => cli.close())
  const project = await installation.project({ orders_of: { sql: 'select id, region from orders order by id' } })
  const rows = async (of: typeof installation): Promise<unknown> =>
    ((await (await of.call(project, 'orders_of', {})).json()) as { data: unknown }).data
  const before = await rows(installation)
  expect(before).toHaveLength(30)
  expect(await cli.run('backup', join(folder, 'monday'), '--data', installation.dataDir)).toMatchObject({ code: 0 })
  // Names get there; what stands in files gets there when it was synced.
  await wait(2_000)
  disk.cutPower()
  disk.start()
  const data = join(folder, 'restored')
  expect(await cli.run('restore', join(folder, 'monday'), '--data', data)).toMatchObject({ code: 0, stderr: '' })
  // What was restored was said to be there, too.
  await wait(2_000)
  disk.cutPower()
  disk.start()
  const again = await openInstallation({ dataDir: data })
  try {
    expect(await rows(again)).toEqual(before)
  } finally {
    await again.close()
  }
})
