import { setTimeout as wait } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { openInstallation, percentile } from '../harness/installation.ts'
import { endService, installationTree, isAlive } from '../harness/process.ts'
import { callSteadily, measureCapacity, openCaller, type Interval } from './load.ts'
import { sampleOf, type Sample } from './sample.ts'

const minutes = Number(process.env['SOAK_MINUTES'] ?? 30)
const intervalMs = minutes >= 10 ? 60_000 : 15_000
const capacityMs = 15_000
const callers = 16
const share = 0.8
const hostileShare = 0.05
const maxAtOnce = 256
/** Caches fill and processes grow to their size first. */
const warmUpShare = 1 / 6
const maxGrowth = 1.1
/** Below that a percentile of a busy machine says nothing. */
const stableBelowMs = 100
const settleMs = 10_000

const orders = Array.from({ length: 5_000 }, (_, id) => ({
  id,
  region: id % 2 === 0 ? 'north' : 'south',
  amount: (id * 37) % 1_000,
  note: `order ${id} `.repeat(4),
}))
const slots = (properties: Record<string, unknown>) => ({
  slots: { type: 'object', properties, required: Object.keys(properties) },
})
const queries = {
  one: { sql: 'SELECT * FROM sales WHERE id = $id', ...slots({ id: { type: 'integer' } }) },
  by_region: {
    sql: 'SELECT region, count(*) AS n, sum(amount) AS total FROM sales WHERE region = $region GROUP BY region',
    ...slots({ region: { type: 'string' } }),
  },
  kept: { sql: 'SELECT count(*) AS n FROM sales', cache_seconds: 30 },
  page: {
    sql: 'SELECT id, amount FROM sales WHERE id >= $from ORDER BY id LIMIT 100',
    ...slots({ from: { type: 'integer' } }),
  },
  large: { sql: "SELECT i, repeat('x', 600) AS x FROM range(20000) t(i)" },
  endless: {
    sql: 'SELECT count(*) AS n FROM range(10000000) a(i), range(10000000) b(j) WHERE i * j = -1',
    timeout_ms: 500,
  },
  order_count: {
    sql: 'SELECT count(*) AS orders FROM orders',
    description: 'How many orders there are',
    examples: [{ question: 'how many orders are there' }, { question: 'number of orders' }],
  },
}

test(
  `${minutes} minutes at ${share * 100} % of what it can do`,
  { timeout: (minutes + 10) * 60_000, retry: 0 },
  async () => {
    const installation = await openInstallation()
    onTestFinished(() => installation.close())
    const { service, dataDir } = installation
    const { projectId } = await installation.project({})
    await installation.fetchTable(projectId, 'sales', orders)
    for (const [name, query] of Object.entries(queries)) {
      const path = `/v1/projects/${projectId}/queries`
      await installation.manage('POST', path, { name, ...query })
      await installation.manage('POST', `${path}/${name}/deploy`, { environment: 'production', force: true })
    }
    const permissions = [{ project_id: projectId, environments: '*' }]
    const key = await installation.manage('POST', '/v1/api-keys', { name: 'soak', plan: 'unlimited', permissions })
    const caller = openCaller(installation, { projectId, secret: String(key['secret']) })
    onTestFinished(caller.close)
    await measureCapacity(caller, { callers, ms: capacityMs / 3, hostileShare })
    const capacity = await measureCapacity(caller, { callers, ms: capacityMs, hostileShare })
    const perSecond = capacity * share
    say(`capacity ${Math.round(capacity)} calls a second; ${Math.round(perSecond)} a second for ${minutes} minutes`)

    const before = sampleOf(service.pid, dataDir)
    const intervals: Array<Interval & Sample> = []
    for (const endMs = performance.now() + minutes * 60_000; performance.now() < endMs;) {
      const interval = await callSteadily(caller, { perSecond, ms: intervalMs, hostileShare, maxAtOnce })
      intervals.push({ ...interval, ...sampleOf(service.pid, dataDir) })
      say(JSON.stringify(intervals.at(-1)))
    }
    caller.close()
    await wait(settleMs)
    const after = sampleOf(service.pid, dataDir)
    const tree = installationTree(service.pid, dataDir)
    await endService(service)

    const steady = intervals.slice(Math.ceil(intervals.length * warmUpShare))
    const third = Math.max(1, Math.floor(steady.length / 3))
    const median = (field: 'memoryMb' | 'p99', part: typeof steady) =>
      percentile(
        part.map((each) => each[field]),
        0.5,
      )
    const [early, late] = [steady.slice(0, third), steady.slice(-third)]
    const figures = {
      capacity: Math.round(capacity),
      calls: intervals.reduce((total, { calls }) => total + calls, 0),
      failed: intervals.reduce((total, { failed }) => total + failed, 0),
      skipped: intervals.reduce((total, { skipped }) => total + skipped, 0),
      memoryMb: [median('memoryMb', early), median('memoryMb', late)],
      p99: [median('p99', early), median('p99', late)],
      handles: [before.handles, after.handles],
      processes: [before.processes, after.processes],
      files: [before.files, after.files],
    }
    say(JSON.stringify(figures))
    const statuses = new Set(intervals.flatMap((each) => Object.keys(each.statuses)))
    expect([...statuses].filter((name) => name.endsWith('500'))).toEqual([])
    expect(figures.failed).toBe(0)
    expect(median('memoryMb', late)).toBeLessThan(median('memoryMb', early) * maxGrowth)
    expect(median('p99', late)).toBeLessThan(Math.max(stableBelowMs, median('p99', early) * 2))
    // Connections of the pool and of callers come and go; what leaks grows with the calls.
    expect(after.handles).toBeLessThanOrEqual(before.handles + 32)
    expect(after.processes).toBeLessThanOrEqual(before.processes + 1)
    expect(after.files).toBeLessThanOrEqual(before.files + 5)
    expect(tree.filter(isAlive)).toEqual([])
  },
)

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}
