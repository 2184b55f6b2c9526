import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { mappedModel } from '../../../server/router/encoder/mapped-model.ts'

const run = promisify(execFile)
const path = 'models/question-encoder/model_quantized.onnx'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-mapped-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

test('what is left of a model is its graph, and names every large weight as a place in the file', async () => {
  const graph = Buffer.from(mappedModel(path))
  const whole = await readFile(path)
  expect(graph.length).toBeLessThan(whole.length / 20)
  // A key of an entry, then its value behind two bytes of tag and length.
  const offsets = [...graph.toString('latin1').matchAll(/offset..(\d+)/gs)].map(([, offset]) => Number(offset))
  expect(offsets.length).toBeGreaterThan(30)
  expect(Math.max(...offsets)).toBeLessThan(whole.length)
})

test('it says the same as the model itself, to the last bit', async () => {
  // Native code runs in a process of its own, as in the product.
  const script = join(folder, 'compare.mjs')
  const from = join(process.cwd(), 'server/router/encoder/mapped-model.ts')
  const runtime = import.meta.resolve('onnxruntime-node')
  await writeFile(
    script,
    `import { InferenceSession, Tensor } from ${JSON.stringify(runtime)}
     import { mappedModel } from ${JSON.stringify(from)}
     const path = ${JSON.stringify(join(process.cwd(), path))}
     const extra = { session: { model_external_initializers_file_folder_path: ${JSON.stringify(dirname(join(process.cwd(), path)))} } }
     const ids = BigInt64Array.from([101, 2129, 2116, 4449, 102], BigInt)
     const feeds = {
       input_ids: new Tensor('int64', ids, [1, 5]),
       attention_mask: new Tensor('int64', new BigInt64Array(5).fill(1n), [1, 5]),
       token_type_ids: new Tensor('int64', new BigInt64Array(5), [1, 5]),
     }
     const sessions = [await InferenceSession.create(path), await InferenceSession.create(mappedModel(path), { extra })]
     const [one, other] = await Promise.all(sessions.map((session) => session.run(feeds)))
     const bytes = ({ last_hidden_state: { data } }) => Buffer.from(data.buffer, data.byteOffset, data.byteLength)
     console.log(bytes(one).length, bytes(one).equals(bytes(other)))`,
  )
  const { stdout } = await run(process.execPath, ['--no-warnings', script], { timeout: 60_000 })
  expect(stdout.trim()).toBe(`${5 * 384 * 4} true`)
})

test('a file that is no model is refused, not read for ever', async () => {
  const broken = join(folder, 'broken.onnx')
  await writeFile(broken, Buffer.alloc(64, 0xff))
  expect(() => mappedModel(broken)).toThrow(TypeError)
})
