/**
 * What several machines would do, from what one does: `node bench/simulate.ts`. It measures calls of a kept answer and of
 * a small group-by on this machine, feeds the processor time of each part into a simulation (`bench/simulation.ts`), holds
 * that against runs it was not fed with, and then simulates 3, 10 and 100 replicas. Goal: within 20 % of what is measured.
 */
import { availableParallelism } from 'node:os'
import { parseArgs } from 'node:util'
import { orders } from '../test/harness/tables.ts'
import { callInTurns, queryTarget } from './load.ts'
import { openBenchApp } from './installation.ts'
import { startServer } from './serve.ts'
import { machineOf, processOn, simulate, type Machine, type Process, type Simulated, type Step } from './simulation.ts'

const { values } = parseArgs({
  options: {
    /** Cores of each machine of a replica, and of the database's, in what is foretold. */
    cores: { type: 'string', default: '4' },
    'database-cores': { type: 'string', default: '8' },
    /** What Redis works for one call of a limited key: a script of three commands on its one thread. */
    'redis-micros': { type: 'string', default: '15' },
  },
})
const port = 4496
const forMs = 4_000
const warmUpMs = 500
/** The run that the simulation is fed with. Pauses are taken from a single caller, who waits for nobody. */
const fedWith = 16
const heldAgainst = [4, 8, 32, 64]
const executorsOfReplica = 2
const executorThreads = 4
const kinds = ['kept', 'grouped'] as const
type Kind = (typeof kinds)[number]

/** Microseconds of a call. */
type Costs = { client: number; api: number; executors: number; database: number; pause: number }

const bench = await openBenchApp({
  tables: [{ name: 'orders', rows: orders(100_000) }],
  queries: [
    { name: 'kept', sql: 'select * from orders where id < 20 order by id', cache_seconds: 3_600 },
    {
      name: 'grouped',
      sql: 'select region, count(*) as n, sum(amount) as total from orders where id > $id group by region',
    },
  ],
})
await bench.close()
const server = await startServer(bench.dataDir, port)
const costs = new Map<Kind, Costs>()
try {
  for (const kind of kinds) costs.set(kind, await fitted(kind))
  console.log(
    `\nmeasured and simulated on ${availableParallelism()} cores, caller included (fed with ${fedWith} connections)`,
  )
  for (const kind of kinds) await hold(kind)
} finally {
  await server.close()
  await bench.remove()
}
for (const kind of kinds) foretell(kind)
process.exit(0)

type Loaded = { rate: number; p50Ms: number; p99Ms: number; clientMicros: number }

async function measured(kind: Kind, connections: number): Promise<Loaded> {
  const at = { port, secret: bench.secret }
  const target = kind === 'grouped' ? { ...queryTarget(at, kind, '{"id":{id}}'), most: 100_000 } : queryTarget(at, kind)
  const [taken] = await callInTurns([target], { turnMs: forMs, warmMs: warmUpMs, connections })
  const { rate = 0, clientMicros = 0, p50Ms = 0, p99Ms = 0 } = taken?.turns[0] ?? {}
  return { rate, clientMicros, p50Ms, p99Ms }
}

async function fitted(kind: Kind): Promise<Costs> {
  await measured(kind, fedWith)
  const before = await server.cpuMsByPart()
  const { rate, clientMicros } = await measured(kind, fedWith)
  const after = await server.cpuMsByPart()
  // The half second in which the caller warms up is answered too.
  const calls = (rate * (forMs + warmUpMs)) / 1_000
  const each = (part: keyof typeof after): number => ((after[part] - before[part]) * 1_000) / calls
  const [api, executors, database] = [each('api'), kind === 'kept' ? 0 : each('executors'), each('rest')]
  const alone = await measured(kind, 1)
  const pause = Math.max(0, alone.p50Ms * 1_000 - clientMicros - api - executors)
  const shown = { client: clientMicros, api, executors, database, pause }
  console.log(
    `${kind}: µs of a call ${Object.entries(shown)
      .map(([part, micros]) => `${part} ${micros.toFixed(0)}`)
      .join(', ')}`,
  )
  return shown
}

type Replica = { api: Process; executors: Process[] }

function replicaOn(machine: Machine): Replica {
  const executors = Array.from({ length: executorsOfReplica }, () => processOn(machine, 'executors', executorThreads))
  return { api: processOn(machine, 'API', 1), executors }
}

/** In, over an executor where one runs, and out again: a third of the API's work is before the query. */
function stepsThrough({ api, executors }: Replica, costsOf: Costs, random: () => number): Step[] {
  const smoothness = 4
  const executor = executors[Math.floor(random() * executors.length)]
  if (costsOf.executors === 0 || executor === undefined) return [{ process: api, micros: costsOf.api, smoothness }]
  return [
    { process: api, micros: costsOf.api / 3, smoothness },
    { process: executor, micros: costsOf.executors, smoothness },
    { process: api, micros: (costsOf.api * 2) / 3, smoothness },
  ]
}

async function hold(kind: Kind): Promise<void> {
  const cost = costs.get(kind)
  if (cost === undefined) return
  for (const connections of heldAgainst) {
    const machine = machineOf(availableParallelism())
    const replica = replicaOn(machine)
    const [client, database] = [processOn(machine, 'client'), processOn(machine, 'database', 2)]
    const simulated = simulate({
      callers: { connections },
      stepsOf: (random) => [
        { process: client, micros: cost.client, smoothness: 4 },
        ...stepsThrough(replica, cost, random),
      ],
      pauseMicros: cost.pause,
      after: () => [{ process: database, micros: cost.database }],
      processes: [client, database, replica.api, ...replica.executors],
      seconds: 5,
    })
    const real = await measured(kind, connections)
    const compared = (name: string, is: number, said: number, digits: number): string =>
      `${name} ${is.toFixed(digits)} and ${said.toFixed(digits)} (${percent(said / is - 1)})`
    console.log(
      `${kind.padEnd(8)} ${String(connections).padStart(3)} connections  ${compared('calls a second', real.rate, simulated.rate, 0)}, ${compared('p50 ms', real.p50Ms, simulated.p50Ms, 1)}, ${compared('p99 ms', real.p99Ms, simulated.p99Ms, 1)}`,
    )
  }
}

/** Where more calls a second begin to wait: half of the calls take twice as long as on an idle installation. */
function foretell(kind: Kind): void {
  const cost = costs.get(kind)
  if (cost === undefined) return
  console.log(
    `\n${kind}: replicas of ${values.cores} cores, a database of ${values['database-cores']}, one Redis; calls come by chance`,
  )
  for (const replicas of [1, 3, 10, 100]) {
    const idle = simulatedAt(cost, replicas, 10 * replicas)
    let [fits, beyond] = [0, (2 * Number(values.cores) * replicas * 1e6) / (cost.api + cost.executors)]
    for (let turn = 0; turn < 8; turn += 1) {
      const middle = (fits + beyond) / 2
      const { p50Ms, rate } = simulatedAt(cost, replicas, middle)
      if (p50Ms < 2 * idle.p50Ms && rate > 0.97 * middle) fits = middle
      else beyond = middle
    }
    const at = simulatedAt(cost, replicas, fits)
    const [busiest = '', share = 0] = [...at.used].toSorted(([, left], [, right]) => right - left)[0] ?? []
    console.log(
      `${String(replicas).padStart(4)} replicas bend at ${Math.round(fits).toLocaleString('en')} calls a second (p50 ${at.p50Ms.toFixed(1)}, p99 ${at.p99Ms.toFixed(1)} ms): ${busiest}, ${percent(share)} busy`,
    )
  }
}

function simulatedAt(cost: Costs, count: number, perSecond: number): Simulated {
  const replicas = Array.from({ length: count }, () => replicaOn(machineOf(Number(values.cores))))
  const databaseCores = Number(values['database-cores'])
  const database = processOn(machineOf(databaseCores), 'database', databaseCores)
  const redis = processOn(machineOf(1), 'Redis')
  const callsSimulated = 60_000
  return simulate({
    callers: { perSecond },
    stepsOf: (random) => {
      const replica = replicas[Math.floor(random() * count)]
      if (replica === undefined) return []
      return [
        { process: redis, micros: Number(values['redis-micros']), smoothness: 4 },
        ...stepsThrough(replica, cost, random),
      ]
    },
    pauseMicros: cost.pause,
    after: () => [{ process: database, micros: cost.database }],
    processes: [database, redis, ...replicas.flatMap(({ api, executors }) => [api, ...executors])],
    seconds: callsSimulated / perSecond,
  })
}

function percent(share: number): string {
  return `${(share * 100).toFixed(0)} %`
}
