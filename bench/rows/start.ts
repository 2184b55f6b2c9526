import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '../anchors/spawned.ts'
import { undisturbed } from '../others.ts'
import { median, type Figure } from '../report.ts'
import type { Row } from '../row.ts'
import { startServer } from '../serve.ts'

const rounds = 5

/** From the command to the first answered call, with the example project in the making, as it comes. */
export const start: Row = {
  name: 'start',
  async measure({ scale }) {
    const [empty, existing]: [number[], number[]] = [[], []]
    // The first compiles modules and packs the models, once on a machine.
    for (let round = 0; round <= Math.ceil(rounds * scale); round += 1) {
      const dataDir = await mkdtemp(join(tmpdir(), 'sluice-bench-'))
      await chmod(dataDir, 0o711)
      try {
        const first = await startOnce(dataDir)
        const second = await undisturbed(() => startOnce(dataDir))
        if (round === 0) continue
        empty.push(first)
        existing.push(second)
      } finally {
        await rm(dataDir, { recursive: true, force: true, maxRetries: 10 })
      }
    }
    return [figure('existing folder', existing, 1.2), figure('empty folder', empty, 2.5)]
  },
}

function figure(folder: string, times: number[], goalSeconds: number): Figure {
  const seconds = times.map((ms) => (ms / 1_000).toFixed(2))
  return {
    what: `npm start to ready, ${folder}`,
    against: '–',
    ours: `${seconds.join(', ')} s`,
    theirs: '–',
    value: median(times) / 1_000,
    unit: 's',
    goal: { less: goalSeconds },
  }
}

async function startOnce(dataDir: string): Promise<number> {
  const port = await freePort()
  const settings = { SLUICE_EXAMPLE: 'on', SLUICE_LOG_LEVEL: 'warn' }
  const server = await startServer(dataDir, port, { settings, command: ['npm', 'start', '--silent'] })
  await server.settled()
  await server.close()
  return server.readyMs
}
