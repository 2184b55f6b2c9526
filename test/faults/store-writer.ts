import { setTimeout as wait } from 'node:timers/promises'
import { openDatabase } from '../../server/store/index.ts'

/** Writes rows for as long as it lives and says which were acknowledged: what it has said must never be lost. */
const [dataDir = '', migrationsDir = ''] = process.argv.slice(2)

function say(event: Record<string, unknown>): void {
  process.stdout.write(`${JSON.stringify(event)}\n`)
}

async function write(): Promise<void> {
  const database = await openDatabase({
    dataDir,
    migrationsDir,
    connections: 2,
    timeoutMs: 5_000,
    observe: (observation) => say({ ...observation, error: undefined }),
  })
  let stopping = false
  process.once('SIGTERM', () => {
    stopping = true
  })
  const { rows } = await database.pool.query<{ number: number }>('select number from acknowledged order by number')
  const numbers = rows.map(({ number }) => number)
  say({ kind: 'ready', numbers })
  const isStopping = () => stopping
  for (let number = (numbers.at(-1) ?? 0) + 1; !isStopping(); number += 1) {
    try {
      await database.pool.query('insert into acknowledged values ($1)', [number])
      say({ kind: 'acknowledged', number })
    } catch {
      await wait(5)
    }
  }
  await database.close()
}

try {
  await write()
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
  process.exitCode = 1
}
