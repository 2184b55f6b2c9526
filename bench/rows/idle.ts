import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { freePort } from '../anchors/spawned.ts'
import type { Row } from '../row.ts'
import { startServer } from '../serve.ts'

const restAfterSeconds = 10

/** The example project has been set up; then nothing happens for as long as the service waits before it rests. */
export const idle: Row = {
  name: 'idle',
  async measure({ worlds }) {
    const dataDir = join(await worlds.folder(), 'idle')
    const settings = { SLUICE_EXAMPLE: 'on', SLUICE_REST_AFTER_SECONDS: String(restAfterSeconds) }
    const server = await startServer(dataDir, await freePort(), { settings })
    try {
      await server.settled()
      const busyMb = server.allMb()
      await wait((restAfterSeconds + 20) * 1_000)
      return [
        {
          what: 'idle memory of the whole tree (proportional set size)',
          against: '–',
          ours: `${busyMb.toFixed(0)} MB before it rests`,
          theirs: '–',
          value: server.allMb(),
          unit: 'MB',
          goal: { less: 300 },
        },
      ]
    } finally {
      await server.close()
    }
  },
}
