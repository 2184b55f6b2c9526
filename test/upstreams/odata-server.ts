import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort, npmModules, serverProcess, type RealServer } from './server.ts'
import { sqliteOrders } from './sqlite-orders.ts'

const definition = `
@requires: 'any' @path: '/shop'
service Shop {
  @cds.query.limit: { default: 100, max: 100 }
  entity Orders { key id : Integer; customer : String; amount : Integer; updated_at : String; }
  entity Goods {
    key id : UUID; price : Decimal(9, 2); weight : Double; sold : Boolean; day : Date; at : Timestamp; large : Int64;
  }
}
`
const packageFile = {
  name: 'shop',
  cds: {
    requires: {
      auth: 'dummy',
      db: { kind: 'sqlite', impl: '@cap-js/sqlite', driver: 'node', credentials: { url: 'shop.db' } },
    },
  },
}

/** SAP CAP: OData v4, its next link relative to the address. */
export async function openCap(): Promise<RealServer> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-upstream-'))
  const port = await freePort()
  await mkdir(join(folder, 'srv'))
  await writeFile(join(folder, 'package.json'), JSON.stringify(packageFile))
  await writeFile(join(folder, 'srv/shop.cds'), definition)
  await symlink(npmModules, join(folder, 'node_modules'))
  const store = sqliteOrders(join(folder, 'shop.db'))
  store.run('create table orders (id integer primary key, customer text, amount, updated_at text)')
  store.run('create view Shop_Orders as select * from orders')
  store.run(`create view Shop_Goods as select '00000000-0000-4000-8000-00000000000' || id as id, amount + 0.25 as price,
    id / 3.0 as weight, id = 1 as sold, '2026-01-0' || id as day, updated_at as at, 9007199254740993 as large from orders`)
  const program = join(npmModules, '@sap/cds/bin/serve.js')
  const { start, kill } = serverProcess(port, () => ({
    program: process.execPath,
    args: [program, '--port', String(port)],
    cwd: folder,
    env: { NODE_ENV: 'production' },
  }))
  const filter = { $filter: { value: "updated_at ge '{{last_value}}'", required: true } }
  return {
    name: 'SAP CAP',
    host: `127.0.0.1:${port}`,
    datasource: {
      config: {
        url: `http://127.0.0.1:${port}/shop/Orders`,
        method: 'GET',
        parameters: filter,
        responsePathExtractor: 'value',
      },
      pagination: { type: 'next_link', path: '["@odata.nextLink"]' },
      load: {
        mode: 'merge',
        primary_key: ['id'],
        cursor: { field: 'updated_at', initial_value: '2000-01-01T00:00:00Z' },
      },
    },
    detected: { rows: 'value', pagination: { type: 'next_link', path: '["@odata.nextLink"]' } },
    drift: 'a word among the amounts',
    start,
    kill,
    orders: async () => store.all(),
    put: async (orders) => store.put(orders),
    spoil: async (at) => store.run(`update orders set amount = 'unknown', updated_at = '${at}' where id = 7`),
    mend: async (at) => store.run(`update orders set amount = 7 * 37, updated_at = '${at}' where id = 7`),
    close: async () => {
      await kill()
      await rm(folder, { recursive: true, force: true })
    },
  }
}
