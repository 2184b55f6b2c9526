import { setTimeout as wait } from 'node:timers/promises'
import { describe, expect, onTestFinished, test } from 'vitest'
import { makeDataDir } from '../harness/data-dir.ts'
import { openInstallation, type Installation, type Project } from '../harness/installation.ts'
import { installationTree, isAlive, killAll, postmasterTree, processTree } from '../harness/process.ts'

const slowQuery = {
  sql: 'SELECT count(*) AS n FROM range(1000000) a(i), range(1000000) b(j) WHERE j < $steps::BIGINT AND i * j = -1',
  slots: { type: 'object', properties: { steps: { type: 'integer' } }, required: ['steps'] },
}
const inFlightMs = 3_000
/** Further apart than one request that arrives several times. */
const betweenRequestsMs = 400
/** The service finishes what is in flight, closes its database and its processes. */
const stopLimitMs = 40_000

type Stage = { installation: Installation; project: Project; steps: number; tree: number[] }

/** As people start it: npm, the shell it runs, the launcher and the service in one process group, that of the first. */
async function openGroup(): Promise<Stage> {
  const installation = await openInstallation({
    dataDir: await makeDataDir(),
    // Far beyond what is awaited below: nothing but the calls is waited for.
    environment: { SLUICE_SHUTDOWN_TIMEOUT_MS: '60000' },
    program: 'setsid',
    command: ['npm', 'start', '--silent'],
  })
  onTestFinished(async () => {
    killAll(installationTree(installation.service.pid, installation.dataDir))
    await installation.close()
  })
  const project = await installation.project({
    slow: slowQuery,
    order_count: {
      sql: 'SELECT count(*) AS orders FROM orders',
      description: 'How many orders there are',
      examples: [{ question: 'how many orders are there' }],
    },
  })
  // The encoder runs once somebody asks.
  expect((await installation.ask(project, 'how many orders are there')).status).toBe(200)
  return {
    installation,
    project,
    steps: await stepsFor(installation, project),
    tree: installationTree(installation.service.pid, installation.dataDir),
  }
}

/** How much the slow query must do here to take as long as it should. */
async function stepsFor(installation: Installation, project: Project): Promise<number> {
  const steps = 100
  await (await installation.call(project, 'slow', { steps: 1 })).text()
  const startedMs = performance.now()
  const answer = await installation.call(project, 'slow', { steps })
  expect(answer.status).toBe(200)
  await answer.text()
  return Math.ceil((steps * inFlightMs) / (performance.now() - startedMs))
}

type Outcome = { status: number; body: string } | string

/** A query in an executor and a request to an external API, both under way. */
async function begin({ installation, project, steps }: Stage): Promise<{
  outcomes: Promise<Outcome[]>
  letGo: () => void
}> {
  const held = installation.source.hold()
  const settle = async (call: Promise<Response>): Promise<Outcome> => {
    try {
      const answer = await call
      return { status: answer.status, body: await answer.text() }
    } catch (error) {
      return String(error)
    }
  }
  const limit = AbortSignal.timeout(stopLimitMs)
  const query = settle(installation.call(project, 'slow', { steps }, limit))
  const outbound = settle(
    fetch(`${installation.url}/v1/http/test-connection`, {
      method: 'POST',
      headers: { authorization: `Bearer ${installation.operator}`, 'content-type': 'application/json' },
      body: JSON.stringify({ url: installation.source.url, method: 'GET' }),
      signal: limit,
    }),
  )
  await expect.poll(held.asked, { timeout: 10_000 }).toBe(1)
  // The query was sent before; its executor works by now.
  await wait(100)
  return { outcomes: Promise.all([query, outbound]), letGo: () => held.letGo([{ id: 1 }]) }
}

async function exitedWithin(installation: Installation, limitMs: number): Promise<boolean> {
  return Promise.race([installation.service.exited.then(() => true), wait(limitMs, false, { ref: false })])
}

const toGroup = ({ installation }: Stage, signal: NodeJS.Signals): void =>
  void process.kill(-installation.service.pid, signal)
/** As a service manager that stops all that belongs to a unit; PostgreSQL, which heeds it, is told by the service. */
const toEach = ({ installation }: Stage, signal: NodeJS.Signals): void => {
  const database = new Set(postmasterTree(installation.dataDir))
  killAll(
    processTree(installation.service.pid).filter((pid) => !database.has(pid)),
    signal,
  )
}

describe('a stop finishes what is in flight', () => {
  test.for([
    ['Ctrl-C in a terminal', toGroup, 'SIGINT'],
    ['SIGTERM to the whole process group', toGroup, 'SIGTERM'],
    ['SIGTERM to every process', toEach, 'SIGTERM'],
  ] as const)('%s, twice', async ([, tell, signal]) => {
    const stage = await openGroup()
    // npm, the launcher, the service, executors, an encoder and PostgreSQL at the least.
    expect(stage.tree.length).toBeGreaterThanOrEqual(7)
    const { outcomes, letGo } = await begin(stage)
    tell(stage, signal)
    await wait(betweenRequestsMs)
    tell(stage, signal)
    await wait(betweenRequestsMs)
    letGo()
    const [query, outbound] = await outcomes
    expect(query).toMatchObject({ status: 200 })
    expect(JSON.parse((query as { body: string }).body)).toMatchObject({ data: [{ n: 0 }] })
    expect(outbound).toMatchObject({ status: 200 })
    expect(JSON.parse((outbound as { body: string }).body)).toMatchObject({ success: true })
    expect(await exitedWithin(stage.installation, stopLimitMs)).toBe(true)
    await expect.poll(() => stage.tree.filter(isAlive), { timeout: stopLimitMs }).toEqual([])
  })

  test('a third request ends it at once', async () => {
    const stage = await openGroup()
    const { outcomes, letGo } = await begin(stage)
    for (let request = 1; request <= 3; request += 1) {
      toGroup(stage, 'SIGINT')
      await wait(betweenRequestsMs)
    }
    // Nobody let the call go, and yet it is over.
    const over = await Promise.race([outcomes, wait(inFlightMs, undefined, { ref: false })])
    expect(over?.every((outcome) => typeof outcome === 'string')).toBe(true)
    letGo()
    expect(await exitedWithin(stage.installation, 5_000)).toBe(true)
  })
})
