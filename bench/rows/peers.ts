import { callInTurns, queryTarget, type Taken, type Target } from '../load.ts'
import { p99Figure } from '../p99.ts'
import { datasette } from '../peers/datasette.ts'
import { peerCache } from '../peers/install.ts'
import type { Peer, RunningPeer } from '../peers/peer.ts'
import { postgraphile } from '../peers/postgraphile.ts'
import { roapi } from '../peers/roapi.ts'
import { median, ratioOf, type Figure } from '../report.ts'
import type { Row } from '../row.ts'
import type { DataWorld } from '../worlds.ts'

const peers: Peer[] = [datasette, roapi, postgraphile]
/** Tried on 17 November 2026 with the public registries. */
const notInstallable = [
  {
    what: 'PostgREST',
    why: 'its program comes from its release page, or has to be compiled from Haskell; no registry of npm, Python, Go or Debian 12 has it built',
  },
  {
    what: 'Cube',
    why: 'its server refuses to start without a native part (1.7.43: "Unable to load @cubejs-backend/native") that a script of its package fetches from its release page',
  },
  { what: 'VulcanSQL', why: 'its packages are gone from the npm registry (404 for @vulcan-sql/cli)' },
  { what: 'pREST', why: 'the Go module proxy does not give it' },
]
const lookups = { most: 1_000_000, connections: 32, turns: 60, turnMs: 400 }
const groups = { most: 100, connections: 8, turns: 31, turnMs: 1_000 }

/** The same rows, the same client, in turns. Fastify + PostgreSQL is here, too, for the groups. */
export const peersRow: Row = {
  name: 'peers',
  async measure({ worlds, say, miss }) {
    const world = await worlds.data()
    const figures: Figure[] = []
    for (const peer of peers) {
      say(peer.name)
      let running: RunningPeer | undefined
      try {
        running = await peer.open(worlds, peerCache)
      } catch (error) {
        miss({ what: peer.name, why: error instanceof Error ? error.message.slice(0, 300) : String(error) })
        continue
      }
      try {
        figures.push(...(await beside(world, peer.name, running)))
      } finally {
        await running.close()
      }
    }
    for (const each of notInstallable) miss(each)
    const http = await (await worlds.postgres()).serve()
    try {
      const headers = { 'content-type': 'application/json' }
      const byHand = { port: http.port, pid: http.pid, path: '/groups', headers, body: '{"least":{id}}' }
      const work = { what: groupsName, name: 'Fastify + PostgreSQL', ...groups }
      return [...figures, ...(await compare(work, ourGroups(world), byHand))]
    } finally {
      await http.close()
    }
  },
}

const lookupName = 'point lookup, 1M rows, 32 connections'
const groupsName = 'small group-by of a slot over 1M rows, 8 connections'

function ourGroups(world: DataWorld): Target {
  return queryTarget(world, 'groups', '{"least":{id}}')
}

async function beside(world: DataWorld, name: string, peer: RunningPeer): Promise<Figure[]> {
  const ours = queryTarget(world, 'lookup', '{"id":{id}}')
  return [
    ...(await compare({ what: lookupName, name, ...lookups, most: world.rowCount }, ours, peer.lookup)),
    ...(await compare({ what: groupsName, name, ...groups }, ourGroups(world), peer.groups)),
  ]
}

type Work = { what: string; name: string; most: number; connections: number; turns: number; turnMs: number }

/** Ahead in answers a second, and behind in no percentile. */
async function compare({ what, name, most, ...order }: Work, ours: Target, theirs: Target): Promise<Figure[]> {
  const [mine, other] = await callInTurns(
    [ours, theirs].map((target) => ({ ...target, most })),
    order,
  )
  if (mine === undefined || other === undefined) throw new Error('nothing was measured')
  const rates = (taken: Taken): number[] => taken.turns.map(({ rate }) => rate)
  const told = (taken: Taken): string => `${median(rates(taken)).toFixed(0)}/s`
  return [
    {
      what,
      against: name,
      ours: told(mine),
      theirs: told(other),
      value: ratioOf(rates(mine), rates(other)),
      unit: '×',
      goal: { atLeast: 1 },
    },
    p99Figure({ what, against: name, mine, theirs: other }),
  ]
}
