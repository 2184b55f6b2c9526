import { createHash } from 'node:crypto'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import { Client } from 'pg'
import { createEmptyDatabase } from '../harness/database.ts'
import {
  datasette,
  freePort,
  merged,
  npmProgram,
  python,
  serverProcess,
  type Order,
  type RealServer,
} from './server.ts'
import { sqliteOrders } from './sqlite-orders.ts'

const orderTable = 'create table orders (id integer primary key, customer text, amount, updated_at text)'

async function makeFolder(): Promise<{ folder: string; remove: () => Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-upstream-'))
  return { folder, remove: () => rm(folder, { recursive: true, force: true }) }
}

/** SQLite over HTTP. Its columns have no type: one word among the amounts is all it takes. */
export async function openDatasette(): Promise<RealServer> {
  const { folder, remove } = await makeFolder()
  const port = await freePort()
  const store = sqliteOrders(join(folder, 'shop.db'))
  store.run(orderTable)
  const { start, kill } = serverProcess(port, () => ({
    program: datasette,
    args: ['serve', 'shop.db', '--host', '127.0.0.1', '--port', String(port)],
    cwd: folder,
  }))
  const url = `http://127.0.0.1:${port}/shop/orders.json?_shape=objects&_size=100`
  return {
    name: 'Datasette',
    host: `127.0.0.1:${port}`,
    datasource: {
      config: { url, method: 'GET', responsePathExtractor: 'rows' },
      pagination: { type: 'next_link', path: 'next_url' },
      load: merged('updated_at__gte'),
    },
    detected: { rows: 'rows', pagination: { type: 'link_header' } },
    drift: 'a word among the amounts',
    start,
    kill,
    orders: async () => store.all(),
    put: async (orders) => store.put(orders),
    spoil: async (at) => store.run(`update orders set amount = 'unknown', updated_at = '${at}' where id = 7`),
    mend: async (at) => store.run(`update orders set amount = 7 * 37, updated_at = '${at}' where id = 7`),
    close: async () => {
      await kill()
      await remove()
    },
  }
}

/** A file of JSON over HTTP, pages by the Link header. It learns of changes through its API. */
export async function openJsonServer(): Promise<RealServer> {
  const { folder, remove } = await makeFolder()
  const port = await freePort()
  const file = join(folder, 'db.json')
  await writeFile(file, '{"orders":[]}')
  const { start, kill } = serverProcess(port, () => ({
    program: npmProgram('json-server'),
    args: ['--host', '127.0.0.1', '--port', String(port), '--quiet', 'db.json'],
    cwd: folder,
  }))
  /** Not while it is being written. */
  const read = async (): Promise<Order[]> => {
    for (let tries = 0; ; tries += 1) {
      try {
        return (JSON.parse(await readFile(file, 'utf8')) as { orders: Order[] }).orders
      } catch (error) {
        if (tries === 100) throw error
        await wait(50)
      }
    }
  }
  const change = async (order: Partial<Order> & { id: number }): Promise<void> => {
    const answer = await fetch(`http://127.0.0.1:${port}/orders/${order.id}`, {
      method: 'PATCH',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(order),
    })
    if (!answer.ok) throw new Error(`json-server answered ${answer.status}`)
    // It answers before its file is written.
    const isWritten = async (): Promise<boolean> =>
      isDeepStrictEqual((await read()).find(({ id }) => id === order.id)?.amount, order.amount)
    for (const deadline = Date.now() + 10_000; !(await isWritten()); await wait(50)) {
      if (Date.now() > deadline) throw new Error('json-server does not write its file')
    }
  }
  return {
    name: 'json-server',
    host: `127.0.0.1:${port}`,
    datasource: {
      config: { url: `http://127.0.0.1:${port}/orders?_page=1&_limit=100`, method: 'GET' },
      pagination: { type: 'link_header' },
      load: merged('updated_at_gte'),
    },
    detected: { rows: '', pagination: { type: 'link_header' } },
    drift: 'an amount that is an object',
    start,
    kill,
    orders: read,
    async put(orders) {
      // The many at first go into its file, which it reads when it starts.
      const known = await read()
      const changed = new Set(orders.map(({ id }) => id))
      await kill()
      await writeFile(file, JSON.stringify({ orders: [...known.filter(({ id }) => !changed.has(id)), ...orders] }))
      await start()
    },
    spoil: (at) => change({ id: 7, amount: { value: 1, currency: 'EUR' } as unknown as number, updated_at: at }),
    mend: (at) => change({ id: 7, amount: 7 * 37, updated_at: at }),
    close: async () => {
      await kill()
      await remove()
    },
  }
}

const graphql = `query Orders($after: Cursor, $since: Datetime!) {
  ordersSince(first: 100, after: $after, since: $since) {
    nodes { id: rowId customer amount updatedAt }
    pageInfo { hasNextPage endCursor }
  }
}`

/** PostgreSQL over GraphQL, pages by a cursor in the body. Another type of a column is another schema. */
export async function openPostGraphile(): Promise<RealServer> {
  const { folder, remove } = await makeFolder()
  const port = await freePort()
  const database = await createEmptyDatabase()
  const client = new Client({ connectionString: database.url })
  await client.connect()
  await client.query(
    'create table orders (id integer primary key, customer text, amount integer, updated_at timestamptz)',
  )
  // What a schema offers beyond its tables: here, what was changed since a moment.
  await client.query(
    `create function orders_since(since timestamptz) returns setof orders stable language sql
       as 'select * from orders where updated_at >= since order by id'`,
  )
  const { start, kill } = serverProcess(port, () => ({
    program: npmProgram('postgraphile'),
    args: [
      '-c',
      database.url,
      '-s',
      'public',
      '-n',
      '127.0.0.1',
      '-p',
      String(port),
      '-P',
      'postgraphile/presets/amber',
    ],
    cwd: folder,
    env: { GRAPHILE_ENV: 'production' },
  }))
  const alter = async (statement: string): Promise<void> => {
    await client.query(statement)
    // It reads the schema when it starts.
    await kill()
    await start()
  }
  return {
    name: 'PostGraphile',
    host: `127.0.0.1:${port}`,
    datasource: {
      config: {
        url: `http://127.0.0.1:${port}/graphql`,
        method: 'POST',
        body: {
          type: 'graphql',
          content: { query: graphql, variables: { after: null, since: '{{last_value}}' } },
        },
        responsePathExtractor: 'data.ordersSince.nodes',
      },
      load: {
        mode: 'merge',
        primary_key: ['id'],
        cursor: { field: 'updatedAt', initial_value: '2000-01-01T00:00:00Z' },
      },
      pagination: {
        type: 'cursor',
        in: 'body',
        path: 'data.ordersSince.pageInfo.endCursor',
        parameter: 'variables.after',
        has_more_path: 'data.ordersSince.pageInfo.hasNextPage',
      },
    },
    detected: {
      rows: 'data.ordersSince.nodes',
      pagination: {
        type: 'cursor',
        in: 'body',
        path: 'data.ordersSince.pageInfo.endCursor',
        parameter: 'variables.after',
      },
    },
    drift: 'a column whose type was altered to text',
    start,
    kill,
    async orders() {
      const { rows } = await client.query<Record<string, string>>('select * from orders order by id')
      return rows.map(({ id, customer = '', amount, updated_at: at = '' }) => ({
        id: Number(id),
        customer,
        amount: Number(amount),
        updated_at: new Date(at).toISOString().replace('.000Z', 'Z'),
      }))
    },
    async put(orders) {
      await client.query(
        `insert into orders select * from json_populate_recordset(null::orders, $1)
         on conflict (id) do update set customer = excluded.customer, amount = excluded.amount, updated_at = excluded.updated_at`,
        [JSON.stringify(orders)],
      )
    },
    spoil: () => alter(`alter table orders alter column amount type text using amount || ' EUR'`),
    mend: () => alter(`alter table orders alter column amount type integer using split_part(amount, ' ', 1)::integer`),
    close: async () => {
      await kill()
      await client.end()
      await database.drop()
      await remove()
    },
  }
}

/** Django REST framework behind OAuth2. Its next release leaves the amount out. */
export async function openDjango(): Promise<RealServer> {
  const { folder, remove } = await makeFolder()
  const port = await freePort()
  const store = sqliteOrders(join(folder, 'shop.db'))
  const [clientId, clientSecret] = ['sluice', 'the secret of a shop on loopback']
  const origin = `http://127.0.0.1:${port}`
  const servers = createHash('sha256').update(`${origin} ${origin}`).digest('base64url')
  const redirectUri = `http://localhost/connect/${servers.slice(0, 16)}`
  let without = ''
  const { start, kill } = serverProcess(port, () => ({
    program: python,
    args: [join(import.meta.dirname, 'django_shop.py'), folder, String(port), clientId, clientSecret, redirectUri],
    cwd: folder,
    env: { SHOP_WITHOUT: without },
  }))
  const release = async (left: string): Promise<void> => {
    without = left
    await kill()
    await start()
  }
  return {
    name: 'Django REST framework',
    host: `127.0.0.1:${port}`,
    datasource: {
      config: {
        url: `${origin}/orders/`,
        method: 'GET',
        responsePathExtractor: 'results',
        authType: 'OAuth2 Client Credentials',
        auth: {
          token_url: `${origin}/o/token/`,
          client_id: clientId,
          client_secret: clientSecret,
          scope: 'read',
        },
      },
      pagination: { type: 'next_link', path: 'next' },
      load: merged('updated_since'),
    },
    detected: { rows: 'results', pagination: { type: 'next_link', path: 'next' } },
    drift: 'a release that leaves the amount out',
    start,
    kill,
    orders: async () => store.all().map((order) => ({ ...order, updated_at: order.updated_at.replace(' ', 'T') })),
    put: async (orders) =>
      store.put(orders.map((order) => ({ ...order, updated_at: order.updated_at.replace('T', ' ').replace('Z', '') }))),
    spoil: () => release('amount'),
    mend: () => release(''),
    close: async () => {
      await kill()
      await remove()
    },
  }
}
