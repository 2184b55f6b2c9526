/** How long `npm start` takes to be ready, on an empty data folder and on the same folder again. `npm run bench:start` */
import { spawn } from 'node:child_process'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'

const root = join(import.meta.dirname, '..')
const port = '4499'

const dataDir = await mkdtemp(join(tmpdir(), 'sluice-bench-'))
await chmod(dataDir, 0o711)
try {
  const empty = await start()
  const again = [await start(), await start(), await start()].toSorted((left, right) => left - right)
  console.log(`empty folder     ${empty.toFixed(2)} s until ready (goal 6)`)
  console.log(`existing folder  ${again[1]?.toFixed(2)} s until ready (goal 2; median of 3)`)
} finally {
  await rm(dataDir, { recursive: true, force: true })
}

/** Seconds from the command to the first good answer of /readyz. */
async function start(): Promise<number> {
  const begin = performance.now()
  const env = { ...process.env, PORT: port, SLUICE_DATA_DIR: dataDir, SLUICE_LOG_LEVEL: 'warn' }
  const child = spawn(process.execPath, ['scripts/start.mjs'], { cwd: root, env, stdio: 'ignore' })
  const exited = new Promise((resolve) => child.once('exit', resolve))
  try {
    for (const deadline = begin + 60_000; performance.now() < deadline;) {
      const answer = await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => undefined)
      if (answer?.status === 200) return (performance.now() - begin) / 1000
      await wait(20)
    }
    throw new Error('not ready in 60 s')
  } finally {
    child.kill('SIGTERM')
    await exited
  }
}
