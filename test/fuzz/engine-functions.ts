/**
 * Calls every function that authors may use with values that are deep, long, huge, negative, absent or odd, each in a real
 * executor, and reports what ended one: `npm test -- fuzz-engine --seconds 600 --seed 1`. What it finds goes into
 * server/engine/executor/inspect/refused-functions.ts.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import fc from 'fast-check'
import { openEngine } from '../../server/engine/index.ts'
import type { Failure } from '../../server/failure.ts'
import { engineOptions } from '../harness/engine-options.ts'
import { casts, functionCalls, listFunctions } from '../harness/function-calls.ts'

const { values: flags } = parseArgs({ options: { seconds: { type: 'string' }, seed: { type: 'string' } } })
const seconds = Number(flags.seconds ?? 300)
const seed = Number(flags.seed ?? Date.now() % 1_000_000)

const functions = await listFunctions()
say(`seed ${seed}, ${seconds} s, ${functions.length} signatures`)
const dir = await mkdtemp(join(tmpdir(), 'fuzz-'))
let lost = 0
let killed = 0
const engine = await openEngine({
  ...engineOptions,
  runDir: join(dir, 'run'),
  concurrencyPerExecutor: 1,
  quarantineMs: 1,
  observe: (event) => {
    // One that we kill because it cannot be interrupted costs its executor, and no other call.
    if (event.kind === 'executor-lost' && event.signal === 'SIGKILL') killed += 1
    else if (event.kind === 'executor-lost') lost += 1
  },
})
await engine.started
const counts = new Map<string, number>()
const finds: string[] = []
const deadlineMs = performance.now() + seconds * 1_000
for (let batch = 0; performance.now() < deadlineMs; batch += 1) {
  const statements = fc.sample(fc.oneof({ weight: 9, arbitrary: functionCalls(functions) }, casts), {
    numRuns: 200,
    seed: seed + batch,
  })
  for (const sql of statements) {
    if (performance.now() >= deadlineMs) break
    await tryOut(sql)
  }
}
await engine.close(1_000)
await rm(dir, { recursive: true, force: true })
say(JSON.stringify(Object.fromEntries([...counts].sort())))
say(finds.length === 0 ? 'Nothing ended an executor.' : `${finds.length} ended an executor:\n${finds.join('\n')}`)
process.exit(finds.length === 0 ? 0 : 1)

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}

async function tryOut(sql: string): Promise<void> {
  const before = { lost, killed }
  const limits = { slots: [], maxRows: 10, maxBytes: 1_000_000, timeoutMs: 5_000 }
  const outcome = await engine.read('fuzz', { version: '1', tables: [] }, { ...limits, sql }).then(
    () => 'answered',
    ({ code, reason }: Failure) => `${code} ${reason ?? ''}`.trim(),
  )
  counts.set(outcome, (counts.get(outcome) ?? 0) + 1)
  if (lost > before.lost || outcome === 'internal_error') finds.push(`${outcome}: ${sql}`)
  else if (killed > before.killed) say(`could not be interrupted: ${sql}`)
}
