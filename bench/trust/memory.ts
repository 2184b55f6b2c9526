import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { enableCompileCache } from 'node:module'
import { parseArgs } from 'node:util'
import { openEncoder, type Encoder } from '../../server/router/index.ts'
import { childrenOf, memoryOf, type Memory } from './processes.ts'

/**
 * `npm run bench -- memory [--threads 2]` (Linux)
 * What the models cost: the memory of the encoder's processes after they have read texts of every length, less that of
 * as many bare processes of Node, which would be there for any native code. Pages of files count once. The first run on
 * a machine packs the models and compiles the modules; what counts is the second.
 */
const { values } = parseArgs({ options: { threads: { type: 'string', default: '2' } } })
const threads = Number(values.threads)
const goalMb = 120

// As `npm start` does: what is compiled and packed lies there.
enableCompileCache('node_modules/.cache/sluice')
const bare = await bareMemory(threads)
const encoder = await openEncoder({
  modelDir: 'models/question-encoder',
  readerDir: 'models/question-reader',
  threads,
})
await readEveryLength(encoder)
const held = await memoryOf(await childrenOf())
await encoder.close()
console.log(`bare Node        ${shown(bare)}`)
console.log(`with the models  ${shown(held)}`)
const modelsMb = held.ownMb + held.dataMb - bare.ownMb - bare.dataMb
console.log(
  `goal memory of the models in ${threads} processes < ${goalMb} MB: ${modelsMb.toFixed(0)} MB ${modelsMb < goalMb ? 'met' : 'NOT met'} (with the code that runs them ${(modelsMb + held.codeMb - bare.codeMb).toFixed(0)} MB)`,
)

function shown({ ownMb, dataMb, codeMb }: Memory): string {
  return `${ownMb.toFixed(0)} MB of their own, ${dataMb.toFixed(0)} MB of model files, ${codeMb.toFixed(0)} MB of code`
}

async function bareMemory(count: number): Promise<Memory> {
  const children = Array.from({ length: count }, () =>
    spawn(process.execPath, ['-e', "process.stdout.write('up'); setInterval(() => {}, 1e6)"], { env: {} }),
  )
  try {
    await Promise.all(children.map((child) => once(child.stdout, 'data')))
    return await memoryOf(children.map((child) => child.pid ?? 0))
  } finally {
    for (const child of children) child.kill('SIGKILL')
    await Promise.all(children.map((child) => once(child, 'exit')))
  }
}

/** Each process, from one word to the longest input that the product gives it, as often as settles what it keeps. */
async function readEveryLength({ encode, reader }: Encoder): Promise<void> {
  if (reader === null) throw new TypeError('The reader could not be opened.')
  const { token, max_tokens: most } = reader.constants
  for (let round = 0; round < 3; round += 1) {
    for (let length = 4; length <= most; length += 4) {
      const ids = Array.from({ length }, (_, at) => (at === 0 ? token.cls : 2_000 + ((at * 37 + round) % 20_000)))
      const asked = Array.from({ length: threads }, () => [
        encode([Array.from({ length: Math.min(length, 64) }, (_, at) => `word${at}`).join(' ')]),
        reader.score({ ids, questionTokens: Math.ceil(length / 3) }),
      ])
      await Promise.all(asked.flat())
    }
  }
}
