import { execFile } from 'node:child_process'
import { mkdtemp, readdir, rm, stat, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { packedModels } from '../../../server/router/encoder/packed-models.ts'

const run = promisify(execFile)
const pathOf = (name: string): string => join(process.cwd(), 'models', name, 'model_quantized.onnx')
const models = [
  { path: pathOf('question-encoder'), sha256: 'of the encoder' },
  { path: pathOf('question-reader'), sha256: 'of the reader' },
]

let cache: string
let folder: string
beforeAll(async () => {
  cache = await mkdtemp(join(tmpdir(), 'sluice-packed-'))
  folder = (await packedModels(models, cache)) ?? ''
}, 60_000)
afterAll(() => rm(cache, { recursive: true, force: true }))

/** What the models say that are opened as the encoder's process opens them, and which weights they have mapped. */
async function opened(packedFolder: string): Promise<{ says: string[]; maps: string[] }> {
  const script = join(cache, 'open.mjs')
  const from = join(process.cwd(), 'server/router/encoder/model-session.ts')
  await writeFile(
    script,
    `import { readFileSync } from 'node:fs'
     import { createHash } from 'node:crypto'
     import { encoderLevel, openModel, probeModel, readerLevel } from ${JSON.stringify(from)}
     const opened = []
     for (const [path, level] of ${JSON.stringify(models.map(({ path }) => path))}.map((path, at) => [path, [encoderLevel, readerLevel][at]])) {
       opened.push(await probeModel(await openModel(path, level, ${JSON.stringify(packedFolder)})))
     }
     const says = opened.map((said) => createHash('sha256').update(said).digest('hex'))
     const maps = [...new Set(readFileSync('/proc/self/maps', 'utf8').match(/question-\\w+\\.weights/g) ?? [])].sort()
     console.log(JSON.stringify({ says, maps }))`,
  )
  const { stdout } = await run(process.execPath, ['--no-warnings', script], { timeout: 60_000 })
  return JSON.parse(stdout) as { says: string[]; maps: string[] }
}

test('each model is packed once, says the same as before, and its weights are mapped', async () => {
  expect((await readdir(folder)).toSorted()).toEqual([
    'question-encoder.onnx',
    'question-encoder.said',
    'question-encoder.weights',
    'question-reader.onnx',
    'question-reader.said',
    'question-reader.weights',
  ])
  const { ctimeMs } = await stat(folder)
  expect(await packedModels(models, cache)).toBe(folder)
  expect((await stat(folder)).ctimeMs).toBe(ctimeMs)
  const shipped = await opened('')
  expect(shipped.maps).toEqual([])
  expect(await opened(folder)).toEqual({
    says: shipped.says,
    maps: ['question-encoder.weights', 'question-reader.weights'],
  })
}, 60_000)

test('one that says another thing than when it was packed, or is gone, is passed over', async () => {
  const shipped = await opened('')
  await writeFile(join(folder, 'question-encoder.said'), 'another thing')
  expect((await opened(folder)).says).toEqual(shipped.says)
  await truncate(join(folder, 'question-encoder.onnx'), 10)
  expect(await opened(folder)).toEqual({ says: shipped.says, maps: ['question-reader.weights'] })
}, 60_000)

test('where nothing can be packed, nothing is', async () => {
  expect(await packedModels([{ path: join(cache, 'none.onnx'), sha256: 'none' }], cache)).toBeNull()
  expect((await readdir(cache)).filter((name) => name.startsWith('models-'))).toHaveLength(1)
}, 60_000)
