import { setTimeout as wait } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { openSource } from '../harness/source.ts'
import { openCluster, type Cluster, type Part } from './cluster.ts'
import { openLedger, type Ledger } from './ledger.ts'
import { meter, prepare, sender, startTraffic, type Stage } from './traffic.ts'

const minutes = Number(process.env['TEST_SCALE'] ?? 10)
/** Of a key, to be held for all replicas together. */
const plan = { perMinute: 300, burst: 10 }

/** For whoever reads the run; a summary goes with it whether it failed or not. */
const say = (line: string): void => void process.stdout.write(`${line}\n`)
const now = (): number => Math.round(performance.now())

test(
  'callers of three replicas see each part killed in turn, and nothing wrong',
  async () => {
    const source = await openSource()
    const cluster = await openCluster({
      SLUICE_OUTBOUND_ALLOW: source.host,
      SLUICE_PLANS: `metered=${plan.perMinute}/${plan.burst},pro=600/100,unlimited`,
      SLUICE_OWNER_PLANS: 'metered,unlimited',
    })
    try {
      const violations = await run(cluster, await prepare(sender(cluster.url), source))
      expect(violations).toEqual([])
    } catch (error) {
      say(cluster.outputs().slice(-20_000))
      throw error
    } finally {
      await cluster.close()
      await source.close()
    }
  },
  (minutes + 10) * 60_000,
)

async function run(cluster: Cluster, stage: Stage): Promise<string[]> {
  const ledger = openLedger(now)
  const ending = new AbortController()
  // Every replica has read what it is asked for, so that what comes later is no first time.
  for (let round = 0; round < 12; round += 1) {
    await stage.send({ path: '/v1/queries/order_by_id', body: { id: 1 }, secret: stage.secret })
    const body = { query: 'Which orders came from the north?', project_id: stage.projectId }
    await stage.send({ path: '/v1/query', body, secret: stage.secret })
  }
  const killedWith: Cluster['killedWith'] = (port) => cluster.killedWith(port)
  const traffic = startTraffic(stage, ledger, { now, signal: ending.signal, killedWith })
  const meterSeconds = Math.min(60, minutes * 12)
  const { passed, sent } = await meter(stage, meterSeconds)
  const allowed = plan.burst + (plan.perMinute / 60) * meterSeconds
  say(`limits: ${passed} of ${sent} calls passed where ${allowed} may`)
  await killInTurn(cluster.parts, ledger, (minutes * 60 - meterSeconds) * 1000)
  ending.abort()
  await traffic.ended
  report(ledger)
  expect(passed).toBeLessThanOrEqual(allowed * 1.01)
  expect(passed).toBeGreaterThanOrEqual((allowed - plan.burst) * 0.99)
  await nothingIsLost(stage, traffic)
  return ledger.violations()
}

/** Longer than a call waits for a database, so that callers see that it is away. */
const awayMs = 13_000

/** Each part once, spread over the time that is left. */
async function killInTurn(parts: Part[], ledger: Ledger, leftMs: number): Promise<void> {
  const named = (name: string): Part => {
    const part = parts.find((each) => each.name.startsWith(name))
    if (part === undefined) throw new Error(`There is no ${name}.`)
    return part
  }
  const turns = ['api-2', 'worker-1', 'Redis', 'S3', 'PostgreSQL'].map(named)
  const spanMs = leftMs / turns.length
  for (const part of turns) {
    const startedMs = now()
    await wait(Math.min(10_000, spanMs / 6))
    const isBack = ledger.begin(part.name)
    await part.kill()
    await wait(awayMs)
    await part.start()
    isBack()
    await wait(Math.max(0, spanMs - (now() - startedMs)))
  }
}

function report({ counts, outages, faults }: Ledger): void {
  for (const [operation, { ok, failed }] of counts) say(`${operation}: ${ok} right, ${failed} failed`)
  for (const { part, fromMs, backMs } of outages) {
    const during = faults.filter(
      ({ startedMs }) => startedMs >= fromMs - 1_000 && startedMs < (backMs ?? now()) + 5_000,
    )
    const lastMs = Math.max(0, ...during.map(({ endedMs }) => endedMs - (backMs ?? 0)))
    const kinds = [...new Set(during.map(({ operation, outcome }) => `${operation} ${outcome}`))].join(', ')
    const away = Math.round(((backMs ?? now()) - fromMs) / 1000)
    say(`${part} away for ${away} s: ${during.length} failed (${kinds}), the last ${lastMs} ms after it was back`)
  }
}

/** Every write that was acknowledged is there, and every job that was begun has ended. */
async function nothingIsLost(
  { send, secret, projectId }: Stage,
  traffic: ReturnType<typeof startTraffic>,
): Promise<void> {
  const value = async (name: string, column: string): Promise<number> =>
    Number((await send({ path: `/v1/queries/${name}`, body: {}, secret })).body.data[0]?.[column])
  await wait(2_000)
  expect(await value('ticks', 'v')).toBeGreaterThanOrEqual(traffic.loads.last())
  expect(await value('current', 'k')).toBeGreaterThanOrEqual(traffic.releases.last())
  const unfinished = async (): Promise<number> => {
    const { body } = await send({ method: 'GET', path: `/v1/projects/${projectId}/jobs?limit=200` })
    return (body.data as Array<{ status: string }>).filter(({ status }) => ['queued', 'running'].includes(status))
      .length
  }
  await expect.poll(unfinished, { timeout: 120_000, interval: 1_000 }).toBe(0)
}
