import { setTimeout as wait } from 'node:timers/promises'
import { download } from '../download.ts'
import { freePort } from '../anchors/spawned.ts'
import { watchPeak } from '../processes.ts'
import { median, type Figure } from '../report.ts'
import type { Row } from '../row.ts'
import { startServer } from '../serve.ts'

const rounds = 5
const restMs = 500
const startMs = 3_000
const firstByte: Figure['goal'] = { less: 50 }

/** The very first call after a start opens the project's data and compiles what no call has needed yet. */
export const streaming: Row = {
  name: 'streaming',
  async measure({ worlds }) {
    const { dataDir, secret, rowCount } = await worlds.installation()
    const first: number[] = []
    const again: number[] = []
    const peaks: number[] = []
    const totals: number[] = []
    for (let round = 0; round < 3; round += 1) {
      const port = await freePort()
      const server = await startServer(dataDir, port)
      try {
        // Of what a start leaves behind, 20 MB go once nobody has called for two seconds.
        await wait(startMs)
        await server.settled()
        const call = { port, secret, path: '/v1/queries/everything', accept: 'application/x-ndjson' }
        const peak = watchPeak(() => server.apiMb())
        first.push((await download(call)).firstMs)
        for (let more = 0; more < rounds; more += 1) {
          // What a hundred megabytes leave behind, here and there, is not part of the next call.
          await wait(restMs)
          const { firstMs, totalMs, lines } = await download({ ...call, countsLines: true })
          if (lines !== rowCount) throw new Error(`${lines} rows came of ${rowCount}`)
          again.push(firstMs)
          totals.push(totalMs)
        }
        peaks.push(peak.stop())
      } finally {
        await server.close()
      }
    }
    const what = '1M rows streamed as NDJSON'
    const amount = (name: string, value: number, unit: 'ms' | 'MB', goal: Figure['goal']): Figure => ({
      what: `${what}: ${name}`,
      against: '–',
      ours: unit === 'ms' ? `whole in ${(median(totals) / 1_000).toFixed(2)} s` : 'resident, API process',
      theirs: '–',
      value,
      unit,
      goal,
    })
    return [
      amount('first byte, first call after a start', median(first), 'ms', firstByte),
      amount('first byte', median(again), 'ms', firstByte),
      amount('most memory', Math.max(...peaks), 'MB', { less: 150 }),
    ]
  },
}
