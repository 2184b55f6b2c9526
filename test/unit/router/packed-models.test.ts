import { execFile } from 'node:child_process'
import { mkdtemp, readdir, rm, stat, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { packedModels } from '../../../server/router/encoder/packed-models.ts'

const run = promisify(execFile)
const path = join(process.cwd(), 'models/question-encoder/model_quantized.onnx')
const models = [{ path, sha256: 'of the encoder' }]

let cache: string
let folder: string
beforeAll(async () => {
  cache = await mkdtemp(join(tmpdir(), 'sluice-packed-'))
  folder = (await packedModels(models, cache)) ?? ''
}, 60_000)
afterAll(() => rm(cache, { recursive: true, force: true }))

/** What a model says that is opened as the encoder's process opens it, and which weights it has mapped. */
async function opened(packedFolder: string): Promise<{ says: string; mapsPacked: boolean }> {
  const script = join(cache, 'open.mjs')
  const from = join(process.cwd(), 'server/router/encoder/model-session.ts')
  await writeFile(
    script,
    `import { readFileSync } from 'node:fs'
     import { createHash } from 'node:crypto'
     import { openModel, probeModel } from ${JSON.stringify(from)}
     const says = await probeModel(await openModel(${JSON.stringify(path)}, ${JSON.stringify(packedFolder)}))
     const mapsPacked = readFileSync('/proc/self/maps', 'utf8').includes('.weights')
     console.log(JSON.stringify({ says: createHash('sha256').update(says).digest('hex'), mapsPacked }))`,
  )
  const { stdout } = await run(process.execPath, ['--no-warnings', script], { timeout: 60_000 })
  return JSON.parse(stdout) as { says: string; mapsPacked: boolean }
}

test('a model is packed once, says the same as before, and its weights are mapped', async () => {
  expect((await readdir(folder)).toSorted()).toEqual([
    'question-encoder.onnx',
    'question-encoder.said',
    'question-encoder.weights',
  ])
  const { ctimeMs } = await stat(folder)
  expect(await packedModels(models, cache)).toBe(folder)
  expect((await stat(folder)).ctimeMs).toBe(ctimeMs)
  const shipped = await opened('')
  expect(shipped.mapsPacked).toBe(false)
  expect(await opened(folder)).toEqual({ says: shipped.says, mapsPacked: true })
}, 60_000)

test('one that says another thing than when it was packed, or is gone, is passed over', async () => {
  const shipped = await opened('')
  await writeFile(join(folder, 'question-encoder.said'), 'another thing')
  expect((await opened(folder)).says).toBe(shipped.says)
  await truncate(join(folder, 'question-encoder.onnx'), 10)
  expect(await opened(folder)).toEqual(shipped)
}, 60_000)

test('where nothing can be packed, nothing is', async () => {
  expect(await packedModels([{ path: join(cache, 'none.onnx'), sha256: 'none' }], cache)).toBeNull()
  expect((await readdir(cache)).filter((name) => name.startsWith('models-'))).toHaveLength(1)
}, 60_000)
