import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { freePort, startProgram } from '../anchors/spawned.ts'
import { callInTurns, queryTarget, type Taken } from '../load.ts'
import { median, ratioOf } from '../report.ts'
import type { Row } from '../row.ts'

const turns = 120
const turnMs = 120

/** An answer that is given again from memory, beside a route of Fastify that has nothing to do but send those bytes. */
export const kept: Row = {
  name: 'kept',
  async measure({ worlds }) {
    const world = await worlds.data()
    const ours = { ...queryTarget(world, 'kept'), pid: world.server.apiPid }
    const answer = await fetch(`http://127.0.0.1:${ours.port}${ours.path}`, {
      method: 'POST',
      headers: ours.headers ?? {},
      body: '{}',
    })
    const file = join(await worlds.folder(), 'kept.json')
    await writeFile(file, Buffer.from(await answer.arrayBuffer()))
    const port = await freePort()
    const program = join(import.meta.dirname, '../anchors/route-server.ts')
    const bare = await startProgram(port, '/', { command: process.execPath, args: [program, String(port), file] })
    try {
      const theirs = { port, path: '/', headers: { 'content-type': 'application/json' }, body: '{}', pid: bare.pid }
      const [mine, plain] = await callInTurns([ours, theirs], { turns, turnMs, warmMs: 3_000 })
      const rates = (taken: Taken | undefined): number[] => (taken?.turns ?? []).map(({ rate }) => rate)
      const told = (taken: Taken | undefined): string =>
        `${median(rates(taken)).toFixed(0)}/s, ${median((taken?.turns ?? []).map(({ micros }) => micros)).toFixed(0)} µs of the processor`
      return [
        {
          what: 'kept answer',
          against: 'bare Fastify route, same bytes',
          ours: told(mine),
          theirs: told(plain),
          value: ratioOf(rates(mine), rates(plain)),
          unit: '×',
          goal: { atLeast: 0.8 },
        },
      ]
    } finally {
      await bare.close()
    }
  },
}
