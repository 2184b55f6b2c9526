import { rm } from 'node:fs/promises'
import { setTimeout as wait } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { makeDataDir } from '../harness/data-dir.ts'
import {
  endService,
  killAll,
  postmasterTree,
  processTree,
  startService,
  type ServiceProcess,
} from '../harness/process.ts'
import { openSource } from '../harness/source.ts'
import { openLedger } from './ledger.ts'

/** `npm test -- faults` asks for a hundred. */
const rounds = Number(process.env['FAULT_ROUNDS'] ?? 10)
const seed = Number(process.env['TEST_SEED'])
const roundLimitMs = 120_000

const victims = ['the service', 'PostgreSQL', 'a session of PostgreSQL', 'an executor', 'everything'] as const

test(`kill -9 at any moment, ${rounds} times`, { timeout: rounds * roundLimitMs + 120_000 }, async () => {
  const dataDir = await makeDataDir()
  const source = await openSource()
  let service: ServiceProcess | undefined
  onTestFinished(async () => {
    if (service !== undefined) killAll(processTree(service.pid))
    killAll(postmasterTree(dataDir))
    await source.close()
    await rm(dataDir, { recursive: true, force: true, maxRetries: 10 })
  })
  const environment = { SLUICE_OUTBOUND_ALLOW: source.host, SLUICE_LOG_LEVEL: 'error' }
  const ledger = openLedger(source)
  service = await startService(dataDir, environment)
  await ledger.begin(service.url)
  const chance = randomFrom(seed)
  const killed: Record<string, number> = {}
  for (let round = 1; round <= rounds; round += 1) {
    const where = `seed ${seed}, round ${round}`
    const over = new AbortController()
    const wrong: string[] = []
    const working = [...ledger.acts.map((act) => ledger.write(act, over.signal)), ledger.look(over.signal, wrong)]
    await wait(chance() * 1_500)
    const victim = victims[Math.floor(chance() * victims.length)] ?? 'everything'
    killed[victim] = (killed[victim] ?? 0) + 1
    killAll(pidsOf(victim, service.pid, dataDir, chance))
    // What survived goes on for a while, until it is killed in its turn.
    await wait(chance() * 1_000)
    killAll(processTree(service.pid))
    over.abort()
    await Promise.all(working)
    await service.exited
    expect(wrong, `${where}, ${victim}`).toEqual([])
    service = await startService(dataDir, environment)
    expect(await ledger.faults(service.url), `${where}, after ${victim}`).toEqual([])
    expect(errorsIn(service.output()), `${where}, the start after ${victim}`).toEqual([])
  }
  expect(await ledger.jobFaults(), `seed ${seed}`).toEqual([])
  await endService(service)
  process.stdout.write(`seed ${seed}, ${rounds} rounds: ${JSON.stringify({ ...killed, ...ledger.figures() })}\n`)
  expect(ledger.figures().projects).toBeGreaterThan(rounds)
  expect(ledger.figures().deploys).toBeGreaterThan(0)
})

function pidsOf(victim: (typeof victims)[number], service: number, dataDir: string, chance: () => number): number[] {
  const children = processTree(service).slice(1)
  const [postmaster = 0, ...sessions] = postmasterTree(dataDir)
  const database = new Set([postmaster, ...sessions])
  const any = (pids: number[]): number[] => pids.slice(Math.floor(chance() * pids.length)).slice(0, 1)
  return {
    'the service': [service],
    PostgreSQL: [postmaster],
    'a session of PostgreSQL': any(sessions),
    // Executors for reads and for files, spares and encoders.
    'an executor': any(children.filter((pid) => !database.has(pid))),
    everything: [service, ...children, ...database],
  }[victim]
}

/** What a start had to complain about. That its database replays its log is no complaint. */
function errorsIn(output: string): string[] {
  return output.split('\n').filter((line) => /"level":(50|60|"error"|"fatal")/.test(line))
}

/** The same moments and victims for the same seed (mulberry32). */
function randomFrom(start: number): () => number {
  let state = start
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}
