import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { confidenceNames } from '../../server/router/learned/router-constants.ts'
import { openEncoder } from '../../server/router/index.ts'
import { cachedEncoder, vectorCachePath } from './cached-encoder.ts'
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
    cache: { type: 'string', default: vectorCachePath },
  },
})
const newcomersFolder = 'bench/routing/newcomers'
// Learned from nowhere: the figures on it are what a newcomer may expect.
const heldOut = 'held_out'
const sets = await readSets(positionals[0] ?? '.')
const encoder = await cachedEncoder(
  await openEncoder({ modelDir: 'models/question-encoder', threads: 2 }),
  values.cache,
)
const newcomers = (await readSets(newcomersFolder)).filter(({ name }) => name !== heldOut)
const samples = await collect(encoder, sets, newcomers)
await encoder.save()

const learned = learnFrom(samples)
await writeFile(values.out, `${JSON.stringify(learned, null, 2)}\n`)
console.log(JSON.stringify(learned, null, 2))
if (values.cross !== undefined) {
  await mkdir(values.cross, { recursive: true })
  for (const { name } of [...sets, ...newcomers]) {
    const others = learnFrom(samples.filter(({ set }) => set !== name))
    await writeFile(join(values.cross, `${name}.json`), JSON.stringify(others, null, 2))
  }
}
await encoder.close()

function learnFrom(given: Sample[]) {
  const ranker = fitRanker(given)
  const of = (size: Sample['size']): Sample[] => given.filter((sample) => sample.size === size)
  const many = fitConfidence(of('many'), ranker, { names: confidenceNames.many, zero: { accepted: 0.95 } })
  const few = fitConfidence(of('few'), ranker, { names: confidenceNames.few, zero: { farRefused: 0.97 } })
  // Learned from other questions, by `bench/trust/calibration.ts`, and to be learned again after this.
  return { ranker, confidence: { many, few }, share: encoder.constants.share }
}
