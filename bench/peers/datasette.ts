import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { freePort, startProgram } from '../anchors/spawned.ts'
import { openDuckDb } from '../data.ts'
import { groupsOf } from '../worlds.ts'
import { installPython } from './install.ts'
import type { Peer } from './peer.ts'

const version = '0.65.5'

/** SQLite over HTTP; the file is immutable to it, which is its quickest way. */
export const datasette: Peer = {
  name: `Datasette ${version}`,
  async open(worlds, cache) {
    const programs = await installPython(cache, `datasette==${version}`)
    const { dataPath } = await worlds.data()
    const folder = await worlds.folder()
    const file = join(folder, 'shop.db')
    await writeSqlite(file, dataPath)
    const metadata = join(folder, 'datasette.json')
    await writeFile(
      metadata,
      JSON.stringify({ databases: { shop: { queries: { groups: { sql: groupsOf('data', ':least') } } } } }),
    )
    const port = await freePort()
    const settings = ['sql_time_limit_ms', '60000', 'default_cache_ttl', '0']
    const server = await startProgram(port, '/-/versions.json', {
      command: join(programs, 'datasette'),
      args: ['serve', '-i', file, '--host', '127.0.0.1', '--port', String(port), '--metadata', metadata].concat(
        '--setting',
        settings.slice(0, 2),
        '--setting',
        settings.slice(2),
      ),
    })
    const target = { port, method: 'GET' as const, pid: server.pid }
    return {
      ...server,
      lookup: { ...target, path: '/shop/data/{id}.json?_shape=array' },
      groups: { ...target, path: '/shop/groups.json?_shape=array&least={id}' },
    }
  },
}

async function writeSqlite(file: string, dataPath: string): Promise<void> {
  const database = new DatabaseSync(file)
  database.exec(
    'create table data (id integer primary key, name text, price real, active integer, day text, at text, region text, quantity integer)',
  )
  const insert = database.prepare('insert into data values (?, ?, ?, ?, ?, ?, ?, ?)')
  const { connection, close } = await openDuckDb(1)
  const rows = await connection.stream(
    `SELECT id::VARCHAR, name, price, active::INTEGER, day::VARCHAR, "at"::VARCHAR, region, quantity FROM '${dataPath}'`,
  )
  database.exec('begin')
  for await (const chunk of rows.yieldRows()) {
    for (const [id, ...others] of chunk) insert.run(Number(id), ...(others as Array<string | number>))
  }
  database.exec('commit')
  database.close()
  close()
}
