import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { openEncoder } from '../../server/questions/index.ts'
import { cachedEncoder } from './cached-encoder.ts'
import { collect, type Sample } from './collect.ts'
import { readSets } from './format.ts'
import { fitConfidence, fitRanker } from './fit.ts'

/**
 * Learns the router's constants: `node bench/routing/learn.ts <folder> [--out constants.json] [--cross <folder>]`.
 * With `--cross` it also writes, for each set, constants learned without it: what a project never seen may expect.
 */
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    out: { type: 'string', default: 'models/question-encoder/router_constants.json' },
    cross: { type: 'string' },
    cache: { type: 'string', default: '/tmp/routing-vectors' },
  },
})
const sets = await readSets(positionals[0] ?? '.')
const encoder = await cachedEncoder(
  await openEncoder({ modelDir: 'models/question-encoder', threads: 2 }),
  values.cache,
)
const samples = await collect(encoder, sets)
await encoder.save()

const learned = learnFrom(samples)
await writeFile(values.out, `${JSON.stringify(learned, null, 2)}\n`)
console.log(JSON.stringify(learned, null, 2))
if (values.cross !== undefined) {
  await mkdir(values.cross, { recursive: true })
  for (const { name } of sets) {
    const others = learnFrom(samples.filter(({ set }) => set !== name))
    await writeFile(join(values.cross, `${name}.json`), JSON.stringify(others, null, 2))
  }
}
await encoder.close()

function learnFrom(given: Sample[]) {
  const ranker = fitRanker(given)
  return { ranker, confidence: fitConfidence(given, ranker), ambiguousMargin: 0.15 }
}
