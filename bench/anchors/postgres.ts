import { execFileSync, spawn } from 'node:child_process'
import { chmod, chown, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { Client } from 'pg'
import { prepareBinaries } from '../../server/store/postgres/binaries.ts'

export type Postgres = { sockets: string; close(): Promise<void> }

const startLimitMs = 30_000
/** As root it runs as `nobody`: it refuses to be root. */
const account = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : undefined
/** For a small table that fits the memory, on few cores. Nothing that would make it less durable is turned off. */
const tuned = {
  listen_addresses: '',
  shared_buffers: '512MB',
  effective_cache_size: '4GB',
  work_mem: '64MB',
  maintenance_work_mem: '256MB',
  random_page_cost: '1.1',
  jit: 'off',
  max_connections: '50',
}

/** The same PostgreSQL that the service runs, tuned, with the rows of a CSV file, their key and statistics. */
export async function openPostgres(folder: string, csvPath: string): Promise<Postgres> {
  await mkdir(folder)
  await chmod(folder, 0o711)
  const binaries = prepareBinaries(folder, account)
  const [cluster, sockets] = [join(folder, 'cluster'), join(folder, 'run')]
  for (const made of [cluster, sockets]) {
    await mkdir(made, { mode: 0o700 })
    if (account !== undefined) await chown(made, account.uid, account.gid)
  }
  const environment = { ...account, cwd: '/', env: { PATH: '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' } }
  const init = [
    '--pgdata',
    cluster,
    '--username=postgres',
    '--auth=trust',
    '--no-sync',
    '--encoding=UTF8',
    '--locale=C',
  ]
  execFileSync(binaries.initdb, init, { ...environment, stdio: 'ignore' })
  const settings = Object.entries({ ...tuned, unix_socket_directories: sockets })
  const args = ['-D', cluster, ...settings.flatMap(([name, value]) => ['-c', `${name}=${value}`])]
  const child = spawn(binaries.postgres, args, { ...environment, stdio: 'ignore' })
  const exited = new Promise((resolve) => child.once('exit', resolve))
  const close = async (): Promise<void> => {
    child.kill('SIGINT')
    await exited
  }
  try {
    await fill(await reach(sockets), csvPath)
  } catch (error) {
    await close()
    throw error
  }
  return { sockets, close }
}

async function reach(sockets: string): Promise<Client> {
  for (const deadlineMs = performance.now() + startLimitMs; ; await wait(20)) {
    const client = new Client({ host: sockets, user: 'postgres', database: 'postgres' })
    client.on('error', () => undefined)
    const isThere = await client.connect().then(
      () => true,
      () => false,
    )
    if (isThere) return client
    if (performance.now() > deadlineMs) throw new Error('PostgreSQL does not start.')
  }
}

async function fill(client: Client, csvPath: string): Promise<void> {
  await client.query(
    `create table data (id bigint not null, name text, price float8, active boolean, day date, at timestamp, region text, quantity integer)`,
  )
  await client.query(`copy data from '${csvPath}' (format csv, header true)`)
  await client.query('alter table data add primary key (id)')
  await client.query('vacuum (analyze, freeze) data')
  await client.query('checkpoint')
  await client.end()
}
