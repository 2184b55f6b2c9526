import { openBare } from '../data.ts'
import { callInTurns, queryTarget, usualConnections, type Taken, type Target } from '../load.ts'
import { undisturbed } from '../others.ts'
import { p99Figure } from '../p99.ts'
import { ratioOf, median, type Figure } from '../report.ts'
import type { Bench, Row } from '../row.ts'
import type { DataWorld } from '../worlds.ts'

/** A process keeps for its life how well its code was compiled, theirs by up to a half: so it is started several times. */
const starts = 5
const turns = 16
const turnMs = 300
const warmMs = 3_000
const roundMs = 600
const roundsAStart = 8
const what = 'point lookup, 1M rows, 32 connections, all checks on'

/** A key, its limit, checked slots and a record are part of ours; of theirs, the query alone. */
export const lookup: Row = {
  name: 'lookup',
  async measure(bench: Bench): Promise<Figure[]> {
    const world = await bench.worlds.data()
    const ours = { ...queryTarget(world, 'lookup', '{"id":{id}}'), most: world.rowCount, pid: world.server.apiPid }
    const { mine, theirs, withBare, bare } = await measureStarts(bench, world, ours)
    const against = 'Fastify + PostgreSQL, same client'
    return [
      rateFigure({ against, mine, theirs }),
      p99Figure({ what, against, mine, theirs }),
      {
        what,
        against: 'bare DuckDB in-process, prepared, as many callers',
        ours: `${median(withBare).toFixed(0)}/s`,
        theirs: `${median(bare).toFixed(0)}/s`,
        value: ratioOf(withBare, bare),
        unit: '×',
        goal: { atLeast: 4 },
      },
    ]
  },
}

type Measured = { mine: Taken; theirs: Taken; withBare: number[]; bare: number[] }

/** Both anchors after each start, so that neither is measured within half a minute in which the host is fast or slow. */
async function measureStarts({ worlds, say }: Bench, world: DataWorld, ours: Target): Promise<Measured> {
  const postgres = await worlds.postgres()
  const measured: Measured = { mine: { turns: [] }, theirs: { turns: [] }, withBare: [], bare: [] }
  const byStart: string[] = []
  for (let at = 0; at < starts; at += 1) {
    const http = await postgres.serve()
    try {
      const headers = { 'content-type': 'application/json' }
      const byHand = { ...ours, port: http.port, pid: http.pid, path: '/lookup', headers }
      const [first, second] = await callInTurns([ours, byHand], { turns, turnMs, warmMs })
      if (first === undefined || second === undefined) throw new Error('nothing was measured')
      measured.mine.turns.push(...first.turns)
      measured.theirs.turns.push(...second.turns)
      byStart.push(`${ratioOf(rates(first), rates(second)).toFixed(2)}×`)
    } finally {
      await http.close()
    }
    const rounds = await besideDuckDb(world, ours)
    measured.withBare.push(...rounds.ours)
    measured.bare.push(...rounds.theirs)
  }
  say(`by start: ${byStart.join(', ')}`)
  return measured
}

function rates(taken: Taken): number[] {
  return taken.turns.map(({ rate }) => rate)
}

function rateFigure({ against, mine, theirs }: { against: string; mine: Taken; theirs: Taken }): Figure {
  const told = (taken: Taken): string =>
    `${median(rates(taken)).toFixed(0)}/s, ${median(taken.turns.map(({ micros }) => micros)).toFixed(0)} µs of its process`
  const value = ratioOf(rates(mine), rates(theirs))
  return { what, against, ours: told(mine), theirs: told(theirs), value, unit: '×', goal: { atLeast: 1 } }
}

async function besideDuckDb(world: DataWorld, target: Target): Promise<{ ours: number[]; theirs: number[] }> {
  const [ours, theirs]: [number[], number[]] = [[], []]
  // The first round warms both sides up.
  for (let round = 0; round <= roundsAStart; round += 1) {
    const { bare, mine } = await undisturbed(async () => {
      const rate = await bareLookups(world)
      const [taken] = await callInTurns([target], { turnMs: roundMs })
      return { bare: rate, mine: taken?.turns[0]?.rate ?? 0 }
    })
    if (round === 0) continue
    theirs.push(bare)
    ours.push(mine)
  }
  return { ours, theirs }
}

/** The same file, prepared once for each of as many connections. */
async function bareLookups({ tables, rowCount }: DataWorld): Promise<number> {
  const bare = await openBare(tables.data, 1)
  const instance = await Promise.all(
    Array.from({ length: usualConnections }, async () =>
      (await bare.connect()).prepare('SELECT * FROM native.data WHERE id = $1::BIGINT'),
    ),
  )
  let calls = 0
  const untilMs = performance.now() + roundMs
  await Promise.all(
    instance.map(async (statement) => {
      while (performance.now() < untilMs) {
        statement.bindBigInt(1, BigInt(Math.floor(Math.random() * rowCount)))
        await (await statement.run()).getRowObjects()
        calls += 1
      }
    }),
  )
  bare.close()
  return (calls * 1_000) / roundMs
}
