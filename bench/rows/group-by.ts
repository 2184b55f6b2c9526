import { availableParallelism } from 'node:os'
import type { DuckDBPreparedStatement } from '@duckdb/node-api'
import { openBare } from '../data.ts'
import { download } from '../download.ts'
import { undisturbed } from '../others.ts'
import { median, ratioOf, type Figure } from '../report.ts'
import type { Row } from '../row.ts'
import { groupsOf, type DataWorld } from '../worlds.ts'

const rounds = 25
const values = 100

/** One caller; every call has another value, so that none is answered from what another one asked. */
export const groupBy: Row = {
  name: 'group-by',
  async measure({ worlds }) {
    const world = await worlds.data()
    const call = createCall(world)
    return [
      await beside(world, call, { threads: 1, goal: { atMost: 1.05 } }),
      await beside(world, call, { threads: availableParallelism(), goal: null }),
    ]
  },
}

/** By the client of downloads, which does less than `fetch` for a call. */
function createCall({ port, secret }: DataWorld): (least: number) => Promise<number> {
  const call = { port, secret, path: '/v1/queries/groups_of_many', accept: 'application/json' }
  return async (least) => (await download({ ...call, body: JSON.stringify({ least }) })).totalMs
}

type Options = { threads: number; goal: Figure['goal'] }

async function beside(
  world: DataWorld,
  call: (least: number) => Promise<number>,
  { threads, goal }: Options,
): Promise<Figure> {
  const bare = await openBare(world.tables.big, threads)
  const statement = await bare.connection.prepare(groupsOf('native.data', '$1::INTEGER'))
  const [ours, theirs]: [number[], number[]] = [[], []]
  for (let round = 0; round < rounds + 2; round += 1) {
    const least = (round * 37) % values
    // By turns the one and the other comes first: the second finds the processor awake.
    const [mine, plain] = await undisturbed(async () => {
      if (round % 2 === 0) return [await call(least), await bareCall(statement, least)] as const
      const first = await bareCall(statement, least)
      return [await call(least), first] as const
    })
    // Two rounds warm both sides up.
    if (round < 2) continue
    ours.push(mine)
    theirs.push(plain)
  }
  bare.close()
  return {
    what: 'small group-by of a slot over 10M rows',
    against: `bare DuckDB, ${threads === 1 ? 'one thread, as an executor has' : `${threads} threads`}`,
    ours: `${median(ours).toFixed(0)} ms`,
    theirs: `${median(theirs).toFixed(0)} ms`,
    value: ratioOf(ours, theirs),
    unit: '×',
    goal,
  }
}

async function bareCall(statement: DuckDBPreparedStatement, least: number): Promise<number> {
  const startedMs = performance.now()
  statement.bindInteger(1, least)
  JSON.stringify((await statement.runAndReadAll()).getRowObjectsJson())
  return performance.now() - startedMs
}
