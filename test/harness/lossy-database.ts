import { once } from 'node:events'
import { connect, createServer, type AddressInfo } from 'node:net'
import { Client, Pool } from 'pg'

export type LossyDatabase = {
  /** Reaches the database over a connection that can break. */
  pool: Pool
  /** The next commit breaks its connection: before the server hears of it, or before its answer is back. */
  loseNext(what: 'commit' | 'answer'): void
  close(): Promise<void>
}

/** A network in front of a database that loses what a test wants lost. */
export async function openLossyDatabase(url: string): Promise<LossyDatabase> {
  const { host, port, user, database, password } = new Client({ connectionString: url })
  let losing: 'commit' | 'answer' | undefined
  const proxy = createServer((client) => {
    const server = host.startsWith('/') ? connect(`${host}/.s.PGSQL.${port}`) : connect(port, host)
    for (const socket of [client, server]) socket.on('error', () => undefined)
    let isLost = false
    const cut = (): void => {
      client.destroy()
      server.destroy()
    }
    client.on('data', (bytes) => {
      const what = bytes.includes('commit\0') ? losing : undefined
      if (what !== undefined) losing = undefined
      if (what === 'commit') return cut()
      isLost = what === 'answer'
      server.write(bytes)
    })
    server.on('data', (bytes) => (isLost ? cut() : client.write(bytes)))
    client.on('close', cut)
    server.on('close', cut)
  })
  await once(proxy.listen(0, '127.0.0.1'), 'listening')
  const address = { host: '127.0.0.1', port: (proxy.address() as AddressInfo).port }
  const pool = new Pool({ ...address, user, database, ...(typeof password === 'string' && { password }), max: 2 })
  pool.on('error', () => undefined)
  pool.on('connect', (client) => client.on('error', () => undefined))
  return {
    pool,
    loseNext: (what) => void (losing = what),
    async close() {
      await pool.end()
      proxy.close()
    },
  }
}
