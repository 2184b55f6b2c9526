/**
 * What recording takes of the throughput of real calls, with and without it in turn: `node bench/usage-share.ts`. The
 * recorder's database runs on the same cores. Goal: under 5 %, of calls that run a query and of answers
 * given again from memory, which are the cheapest there are.
 */
import { orders } from '../test/harness/tables.ts'
import { callInTurns, queryTarget } from './load.ts'
import { openBenchApp } from './installation.ts'
import { median } from './report.ts'
import { cpuMsHere } from './serve.ts'

const rounds = 7
const forMs = 2_000
const warmUpMs = 500
const rowCount = 10_000

const { app, port, secret, close, remove } = await openBenchApp({
  tables: [{ name: 'orders', rows: orders(rowCount) }],
  queries: [
    { name: 'lookup', sql: 'SELECT * FROM orders WHERE id = $id' },
    { name: 'kept', sql: 'SELECT * FROM orders WHERE id < 20 ORDER BY id', cache_seconds: 3600 },
  ],
})

const recorder = { ...app.usage }
const record: typeof app.usage.observe = (event) => recorder.observe(event)
for (const [name, most] of [
  ['lookup', rowCount],
  ['kept', 0],
] as const) {
  const ratios: number[] = []
  const shares: number[] = []
  const shown: string[] = []
  for (let round = 0; round < rounds; round += 1) {
    app.usage.observe = record
    const recorded = await measured(name, most)
    app.usage.observe = () => {}
    const silent = await measured(name, most)
    ratios.push(recorded.rate / silent.rate)
    shares.push(recorded.micros / silent.micros - 1)
    shown.push(`${recorded.rate.toFixed(0)}/${silent.rate.toFixed(0)}`)
  }
  console.log(`${name}: ${median(ratios).toFixed(3)}× the calls without recording (a second: ${shown.join(', ')})`)
  console.log(`  processor time of a call, all processes: ${(median(shares) * 100).toFixed(1)} % more with recording`)
}
console.log(`dropped: ${app.usage.dropped()}`)
await close()
await remove()
process.exit(0)

async function measured(name: string, most: number): Promise<{ rate: number; micros: number }> {
  const before = await cpuMsHere()
  const target = { ...queryTarget({ port, secret }, name, most > 0 ? '{"id":{id}}' : '{}'), most }
  const [taken] = await callInTurns([target], { turnMs: forMs, warmMs: warmUpMs })
  const rate = taken?.turns[0]?.rate ?? 0
  // What was recorded is written before the next round begins.
  await recorder.flush()
  const spentMs = (await cpuMsHere()) - before
  return { rate, micros: (spentMs * 1_000) / ((rate * (forMs + warmUpMs)) / 1_000) }
}
