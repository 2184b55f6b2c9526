import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { openEncoder, type Encoder } from '../../../server/router/index.ts'

const modelDir = 'models/question-encoder'
let encoder: Encoder
/** Processes of an encoder that other files share. */
let others: number[] = []
beforeAll(async () => {
  others = await encoderProcesses()
  encoder = await openEncoder({ modelDir, threads: 2, queueLength: 4 })
})
afterAll(async () => {
  await encoder.close()
})

const cosine = (left: Float32Array, right: Float32Array): number =>
  left.reduce((sum, value, at) => sum + value * (right[at] ?? 0), 0)

test('a vector has length one and does not depend on what else is asked', async () => {
  const [alone] = await encoder.encode(['which orders are late'])
  const [beside] = await encoder.encode(['which orders are late', 'top ten customers', 'a'])
  expect(cosine(alone ?? new Float32Array(), alone ?? new Float32Array())).toBeCloseTo(1, 5)
  expect(beside).toEqual(alone)
})

test('questions of one meaning lie closer than others', async () => {
  const [late, delayed, recipe] = await encoder.encode([
    'which orders are late',
    'show delayed orders',
    'a recipe for soup',
  ])
  if (late === undefined || delayed === undefined || recipe === undefined)
    throw new Error('Three texts, three vectors.')
  expect(cosine(late, delayed)).toBeGreaterThan(cosine(late, recipe) + 0.3)
})

test('a full queue is refused, not grown', async () => {
  const texts = Array.from({ length: 20 }, (_, at) => `question ${at}`)
  const answers = await Promise.allSettled(texts.map((text) => encoder.encode([text])))
  const refused = answers.filter(({ status }) => status === 'rejected')
  expect(refused.length).toBeGreaterThan(0)
  expect(
    refused.every((each) => each.status === 'rejected' && (each.reason as { code?: string }).code === 'overloaded'),
  ).toBe(true)
})

test('processes that die are replaced, and what they owed is refused', async () => {
  const [before] = await encoder.encode(['which orders are late'])
  const pids = await encoderProcesses()
  expect(pids).toHaveLength(2)
  // Stopped first, so that they owe it still when they die.
  for (const pid of pids) process.kill(pid, 'SIGSTOP')
  const owed = encoder.encode(['top ten customers'])
  for (const pid of pids) process.kill(pid, 'SIGKILL')
  await expect(owed).rejects.toMatchObject({ code: 'overloaded', retryAfterSeconds: 1 })
  // Both: one that comes later would be taken for another's in what follows.
  const replaced = async (): Promise<number> => (await encoderProcesses()).filter((pid) => !pids.includes(pid)).length
  await expect.poll(replaced).toBe(2)
  await expect
    .poll(() => encoder.encode(['which orders are late']).catch(() => undefined), { timeout: 60_000 })
    .toEqual([before])
})

test('a process that hangs is replaced, and nobody waits for it', async () => {
  const others = await encoderProcesses()
  const hanging = await openEncoder({ modelDir, threads: 1, silenceMs: 500 })
  try {
    const pid = (await encoderProcesses()).find((each) => !others.includes(each))
    if (pid === undefined) throw new Error('The encoder has a process.')
    process.kill(pid, 'SIGSTOP')
    await expect(hanging.encode(['which orders are late'])).rejects.toMatchObject({
      code: 'overloaded',
      cause: { message: expect.stringContaining('The encoder has ended') },
    })
    await expect
      .poll(() => hanging.encode(['which orders are late']).catch(() => []), { timeout: 60_000 })
      .toHaveLength(1)
  } finally {
    await hanging.close()
  }
})

test('where one process does not open, none stays behind', async () => {
  // Under a name of its own, by which its processes are told from those that other tests start at the same time.
  const folder = await mkdtemp(join(tmpdir(), 'sluice-encoder-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const ownDir = join(folder, 'model')
  await symlink(resolve(modelDir), ownDir)
  const fresh = (): Promise<number[]> => encoderProcesses(ownDir)
  // On a busy machine both may be open before one of them was seen: that proves nothing, and is tried again.
  const { kind, fallbackReason, close } = await tryUntil(
    async () => {
      const opening = openEncoder({ modelDir: ownDir, threads: 2 })
      let pid: number | undefined
      await expect.poll(async () => ([pid] = await fresh()), { timeout: 60_000, interval: 1 }).not.toEqual([])
      if (pid === undefined) throw new TypeError('No process has begun.')
      // Halted at first sight, or it would be open before it is killed.
      process.kill(pid, 'SIGSTOP')
      await expect.poll(fresh, { timeout: 60_000 }).toHaveLength(2)
      process.kill(pid, 'SIGKILL')
      return opening
    },
    ({ kind: found }) => found === 'lexical',
  )
  expect([kind, fallbackReason]).toEqual(['lexical', expect.stringContaining('The encoder has ended')])
  expect(await fresh()).toEqual([])
  await close()
})

test('processes that nobody asks for a while are ended, and the next text starts them again', async () => {
  const faults: unknown[] = []
  const folder = await mkdtemp(join(tmpdir(), 'sluice-encoder-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const ownDir = join(folder, 'model')
  await symlink(resolve(modelDir), ownDir)
  const running = (): Promise<number[]> => encoderProcesses(ownDir)
  const onFault = (error: unknown): void => void faults.push(error)
  const resting = await openEncoder({ modelDir: ownDir, threads: 2, restAfterMs: 200, onFault })
  onTestFinished(() => resting.close())
  const [before] = await resting.encode(['which orders are late'])
  await expect.poll(running, { timeout: 60_000 }).toEqual([])
  const texts = ['which orders are late', 'top ten customers', 'a recipe for soup']
  const again = await Promise.all(texts.map((text) => resting.encode([text])))
  expect(again[0]?.[0]).toEqual(before)
  expect(resting.isDown()).toBe(false)
  await expect.poll(running, { timeout: 60_000 }).toEqual([])
  // Other vectors than those it was opened with: nobody gets one, and the words say which file.
  const copy = await readFile(join(modelDir, 'model_quantized.onnx'))
  await rm(ownDir)
  await mkdir(ownDir)
  await writeFile(join(ownDir, 'model_quantized.onnx'), copy.fill((copy[9] ?? 0) ^ 1, 9, 10))
  expect(faults).toEqual([])
  await expect(resting.encode(['which orders are late'])).rejects.toMatchObject({ code: 'overloaded' })
  expect(String(faults[0])).toMatch(/model_quantized.onnx is not the file this version was made with/)
  expect(resting.isDown()).toBe(true)
})

/** Children of this process that hold the model. */
async function encoderProcesses(model = ''): Promise<number[]> {
  const all = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  const found = await Promise.all(
    all.map(async (pid) => {
      const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
      const command = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')
      const parent = Number(stat.split(') ').at(-1)?.split(' ')[1])
      return parent === process.pid && command.includes('encoder-process') && command.includes(model)
        ? [Number(pid)]
        : []
    }),
  )
  return found.flat().filter((pid) => !others.includes(pid))
}

test.each([
  ['a changed model', 'model_quantized.onnx', /SHA-256/, (bytes: Buffer) => bytes.fill((bytes[9] ?? 0) ^ 1, 9, 10)],
  ['half a model', 'model_quantized.onnx', /SHA-256/, (bytes: Buffer) => bytes.subarray(0, bytes.length / 2)],
  ['a changed tokenizer', 'tokenizer.json', /SHA-256/, (bytes: Buffer) => Buffer.concat([bytes, Buffer.from(' ')])],
  ['no model', 'model_quantized.onnx', /cannot be read/, () => null],
])('%s is not opened, and the words say which file and what to do', async (_, broken, problem, change) => {
  const dir = await mkdtemp(join(tmpdir(), 'encoder-'))
  for (const file of ['model_quantized.onnx', 'tokenizer.json', 'router_constants.json']) {
    const bytes = await readFile(join(modelDir, file))
    const written = file === broken ? change(bytes) : bytes
    if (written !== null) await writeFile(join(dir, file), written)
  }
  const opened = openEncoder({ modelDir: dir, threads: 1 })
  for (const words of [join(dir, broken), problem, /etch this version of Sluice again/]) {
    await expect(opened).rejects.toThrow(words)
  }
  await rm(dir, { recursive: true })
})

test('a reader that is not the one this version was made with is an error, not a silent stand-in', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'sluice-reader-'))
  await writeFile(join(dir, 'model_quantized.onnx'), 'another model')
  const opened = openEncoder({ modelDir, readerDir: dir, threads: 1 })
  await expect(opened).rejects.toThrow(/is not the file this version was made with.*etch this version of Sluice again/)
  await rm(dir, { recursive: true })
})

/** The last of several tries, the others closed. */
async function tryUntil(open: () => Promise<Encoder>, isGood: (encoder: Encoder) => boolean): Promise<Encoder> {
  for (let left = 9; ; left -= 1) {
    const encoder = await open()
    if (isGood(encoder) || left === 0) return encoder
    await encoder.close()
  }
}
