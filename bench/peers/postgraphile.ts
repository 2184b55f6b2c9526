import { join } from 'node:path'
import { Client } from 'pg'
import { freePort, startProgram } from '../anchors/spawned.ts'
import { groupsOf } from '../worlds.ts'
import { installNpm } from './install.ts'
import type { Peer } from './peer.ts'

const version = '4.14.1'

/** GraphQL over the same tuned PostgreSQL; groups are a function of the database, as it wants them. */
export const postgraphile: Peer = {
  name: `PostGraphile ${version}`,
  async open(worlds, cache) {
    const folder = await installNpm(cache, `postgraphile-${version}`, [`postgraphile@${version}`])
    const { sockets } = await worlds.postgres()
    await createGroups(sockets)
    const port = await freePort()
    const connection = `postgres://postgres@localhost/postgres?host=${encodeURIComponent(sockets)}`
    const server = await startProgram(port, '/graphql', {
      command: process.execPath,
      args: [join(folder, 'node_modules/postgraphile/cli.js'), '--connection', connection, '--schema', 'public']
        .concat('--host', '127.0.0.1', '--port', String(port), '--disable-graphiql', '--disable-query-log')
        .concat('--max-pool-size', '8'),
      env: { NODE_ENV: 'production' },
    })
    const headers = { 'content-type': 'application/json' }
    const asked = (query: string, variables: string) => ({
      port,
      pid: server.pid,
      path: '/graphql',
      headers,
      body: `{"query":${JSON.stringify(query)},"variables":${variables}}`,
    })
    const fields = 'id name price active day at region quantity'
    return {
      ...server,
      lookup: asked(`query ($id: BigInt!) { datumById(id: $id) { ${fields} } }`, '{"id":"{id}"}'),
      groups: asked(
        'query ($from: Int!) { orderGroups(quantityFrom: $from) { nodes { region orders average } } }',
        '{"from":{id}}',
      ),
    }
  },
}

async function createGroups(sockets: string): Promise<void> {
  const client = new Client({ host: sockets, user: 'postgres', database: 'postgres' })
  await client.connect()
  try {
    await client.query(
      `create or replace function order_groups(quantity_from integer) returns table (region text, orders bigint, average float8)
         language sql stable as $$ ${groupsOf('data', '$1').replaceAll('region', 'data.region')} $$`,
    )
  } finally {
    await client.end()
  }
}
