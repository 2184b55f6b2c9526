import { freePort } from '../anchors/spawned.ts'
import { filled, openBenchApp } from '../installation.ts'
import { callInTurns, queryTarget } from '../load.ts'
import { median, ratioOf } from '../report.ts'
import type { Row } from '../row.ts'
import { startServer, type RunningServer } from '../serve.ts'
import type { Database } from '../../server/store/index.ts'

const [keyCount, projectCount, queriesOfProject] = [100_000, 1_000, 10]
const rowCount = 10_000
/** Two processes that do the same differ by up to 8 %, each for as long as it lives: so each side is started several times. */
const starts = 4
/** Many and short: the speed of a shared machine changes within a second. */
const turns = 80
/** A service that has just opened a thousand projects compiles and collects for half a minute; asked is what comes after. */
const warmMs = 10_000
const turnMs = 100
const connections = 32

type Sizes = { keys: number; projects: number }
/** An installation, and the port of its service while it runs. */
type Place = { projectIds: string[]; port: number; secret: string; dataDir: string; remove: () => Promise<void> }
type Pair = { empty: Place; full: Place }
type Measured = { alone: number[]; among: number[]; emptyMb: number; fullMb: number }

/** The same calls of one project, alone and among all the others, of which each has been called. */
export const scaleRow: Row = {
  name: 'scale',
  async measure({ scale, say }) {
    const sizes = { keys: Math.round(keyCount * scale), projects: Math.max(2, Math.round(projectCount * scale)) }
    say(`${sizes.keys} keys, ${sizes.projects} projects with ${queriesOfProject} deployments each`)
    const places = { empty: await openPlace(null), full: await openPlace(sizes) }
    try {
      const measured: Measured[] = []
      for (let at = 0; at < starts; at += 1) measured.push(await measureStart(places, at % 2 === 0))
      const [alone, among] = [measured.flatMap((each) => each.alone), measured.flatMap((each) => each.among)]
      const emptyMb = median(measured.map((each) => each.emptyMb))
      const fullMb = median(measured.map((each) => each.fullMb))
      const each = measured.map((one) => `${((ratioOf(one.alone, one.among) - 1) * 100).toFixed(1)} %`)
      say(`by start: ${each.join(', ')}`)
      const what = '100,000 keys, 10,000 deployments, 1,000 projects open'
      return [
        {
          what: `${what}: slower by`,
          against: 'one project, one key, the same calls',
          ours: `${median(among).toFixed(0)}/s`,
          theirs: `${median(alone).toFixed(0)}/s`,
          value: (ratioOf(alone, among) - 1) * 100,
          unit: '%',
          goal: { less: 5 },
        },
        {
          what: `${what}: more memory`,
          against: 'the same',
          ours: `${fullMb.toFixed(0)} MB`,
          theirs: `${emptyMb.toFixed(0)} MB`,
          value: fullMb - emptyMb,
          unit: 'MB',
          goal: { less: 150 },
        },
      ]
    } finally {
      await places.full.remove()
      await places.empty.remove()
    }
  },
}

/** Starts both, calls every project once, and then one project of each in turns. */
async function measureStart({ empty, full }: Pair, emptyFirst: boolean): Promise<Measured> {
  const servers = new Map<Place, RunningServer>()
  const settled = async (): Promise<void> => {
    for (const server of servers.values()) await server.settled()
  }
  try {
    for (const place of emptyFirst ? [empty, full] : [full, empty]) {
      servers.set(place, await startServer(place.dataDir, place.port))
    }
    await settled()
    for (const place of [full, empty]) {
      for (const projectId of place.projectIds) await callOnce(place, projectId)
    }
    // The answers of lookups are written in the background, for each project by itself.
    await settled()
    const taken = await callInTurns([targetOf(empty), targetOf(full)], { turns, turnMs, connections, warmMs })
    const [alone = [], among = []] = taken.map((each) => each.turns.map(({ rate }) => rate))
    await settled()
    const memoryOf = (place: Place): number => servers.get(place)?.allMb() ?? NaN
    return { alone, among, emptyMb: memoryOf(empty), fullMb: memoryOf(full) }
  } finally {
    for (const server of servers.values()) await server.close()
  }
}

async function openPlace(sizes: Sizes | null): Promise<Place> {
  const rows = Array.from({ length: rowCount }, (_, id) => ({ id, name: `name ${id}`, price: id / 10 }))
  const queries = Array.from({ length: queriesOfProject }, (_, at) => ({
    name: `query_${at}`,
    sql: `SELECT *, ${at} AS n FROM data WHERE id = $id`,
  }))
  const bench = await openBenchApp({ tables: [{ name: 'data', rows }], queries })
  const { store } = bench.app
  const projects = await filled(bench, async () => {
    if (sizes !== null) await fill(store, bench.projectId, sizes)
    return store.db.selectFrom('projects').select('id').execute()
  })
  return {
    projectIds: [bench.projectId, ...projects.map(({ id }) => id).filter((id) => id !== bench.projectId)],
    port: await freePort(),
    secret: bench.secret,
    dataDir: bench.dataDir,
    remove: () => bench.remove(),
  }
}

function targetOf(place: Place, projectId = place.projectIds[0] ?? '') {
  const target = queryTarget(place, 'query_0', '{"id":{id}}')
  return { ...target, most: rowCount, headers: { ...target.headers, 'x-sluice-project': projectId } }
}

async function callOnce(place: Place, projectId: string): Promise<void> {
  const { path, headers } = targetOf(place, projectId)
  const url = `http://127.0.0.1:${place.port}${path}`
  const answer = await fetch(url, { method: 'POST', headers, body: '{"id":1}' })
  if (!answer.ok) throw new Error(`${projectId}: ${answer.status} ${await answer.text()}`)
  await answer.arrayBuffer()
}

/** What a project consists of, in the order in which rows name each other, and which of their columns are ids. */
const cloned: Array<{ table: string; where: string; ids: string[] }> = [
  { table: 'projects', where: 'id = $1', ids: ['id'] },
  { table: 'environments', where: 'project_id = $1', ids: ['project_id'] },
  { table: 'datasources', where: 'project_id = $1', ids: ['id', 'project_id'] },
  { table: 'data_objects', where: 'project_id = $1', ids: ['id', 'project_id', 'datasource_id'] },
  { table: 'data_parts', where: 'project_id = $1', ids: ['id', 'project_id', 'datasource_id'] },
  {
    table: 'version_parts',
    where: 'data_object_id in (select id from data_objects where project_id = $1)',
    ids: ['data_object_id', 'part_id'],
  },
  { table: 'queries', where: 'project_id = $1', ids: ['id', 'project_id'] },
  {
    table: 'query_versions',
    where: 'query_id in (select id from queries where project_id = $1)',
    ids: ['id', 'query_id'],
  },
  { table: 'deployments', where: 'project_id = $1', ids: ['project_id', 'query_id', 'version_id'] },
]

/** By SQL: through the API it would take a quarter of an hour. The copies have the same tables and queries. */
async function fill({ pool }: Database, projectId: string, { keys, projects }: Sizes): Promise<void> {
  const other = (column: string): string => `'${column}', left(t.${column}, -4) || lpad(n::text, 4, '0')`
  for (const { table, where, ids } of cloned) {
    const changed = `jsonb_build_object(${ids.map(other).join(', ')})`
    await pool.query(
      `insert into ${table} select (jsonb_populate_record(t, ${changed})).*
         from ${table} t, generate_series(1, $2::int) n where ${where}`,
      [projectId, projects - 1],
    )
  }
  // Of yesterday: what changed in the last minutes is looked at again and again.
  await pool.query(
    `insert into api_keys (id, name, secret_hash, start, last4, plan, changed_at)
       select 'key_bench' || lpad(n::text, 17, '0'), 'Key ' || n, sha256(n::text::bytea), 'sk_live_be', '0000', 'pro',
         now() - interval '1 day'
         from generate_series(1, $1::int) n`,
    [keys],
  )
  await pool.query(
    `insert into api_key_permissions (key_id, position, project_id, environments)
       select 'key_bench' || lpad(n::text, 17, '0'), 0, left($2, -4) || lpad((1 + n % $3)::text, 4, '0'), '{production}'
         from generate_series(1, $1::int) n`,
    [keys, projectId, projects - 1],
  )
  // The key that calls reaches every project.
  await pool.query('update api_key_permissions set project_id = null where project_id = $1', [projectId])
  await pool.query('analyze')
}
