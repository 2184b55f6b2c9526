import { setTimeout as wait } from 'node:timers/promises'
import { download } from '../download.ts'
import { freePort } from '../anchors/spawned.ts'
import { watchPeak } from '../processes.ts'
import { undisturbed } from '../others.ts'
import { median, type Figure } from '../report.ts'
import type { Row } from '../row.ts'
import { startServer } from '../serve.ts'

const starts = 5
const rounds = 3
const restMs = 500
const startMs = 3_000
const firstByte: Figure['goal'] = { less: 50 }

/** The very first call after a start opens the project's data and compiles what no call has needed yet. */
export const streaming: Row = {
  name: 'streaming',
  async measure({ worlds }) {
    const { dataDir, secret, rowCount } = await worlds.installation()
    const runs: Run[] = []
    for (let start = 0; start < starts; start += 1)
      runs.push(await undisturbed(() => streamAfterStart(dataDir, secret)))
    const again = runs.flatMap((run) => run.again)
    const short = again.find(({ lines }) => lines !== rowCount)
    if (short !== undefined) throw new Error(`${short.lines} rows came of ${rowCount}`)
    const what = '1M rows streamed as NDJSON'
    const amount = (name: string, value: number, unit: 'ms' | 'MB', goal: Figure['goal']): Figure => ({
      what: `${what}: ${name}`,
      against: '–',
      ours:
        unit === 'ms'
          ? `whole in ${(median(again.map(({ totalMs }) => totalMs)) / 1_000).toFixed(2)} s`
          : 'resident, API process',
      theirs: '–',
      value,
      unit,
      goal,
    })
    return [
      amount('first byte, first call after a start', median(runs.map(({ firstMs }) => firstMs)), 'ms', firstByte),
      amount('first byte', median(again.map(({ firstMs }) => firstMs)), 'ms', firstByte),
      amount('most memory', Math.max(...runs.map(({ peakMb }) => peakMb)), 'MB', { less: 150 }),
    ]
  },
}

type Run = { firstMs: number; again: Awaited<ReturnType<typeof download>>[]; peakMb: number }

async function streamAfterStart(dataDir: string, secret: string): Promise<Run> {
  const port = await freePort()
  const server = await startServer(dataDir, port)
  try {
    // Of what a start leaves behind, 20 MB go once nobody has called for two seconds.
    await wait(startMs)
    await server.settled()
    const call = { port, secret, path: '/v1/queries/everything', accept: 'application/x-ndjson' }
    const peak = watchPeak(() => server.apiMb())
    const { firstMs } = await download(call)
    const again: Run['again'] = []
    for (let round = 0; round < rounds; round += 1) {
      // What a hundred megabytes leave behind, here and there, is not part of the next call.
      await wait(restMs)
      again.push(await download({ ...call, countsLines: true }))
    }
    return { firstMs, again, peakMb: peak.stop() }
  } finally {
    await server.close()
  }
}
