import { readFileSync } from 'node:fs'
import { cp, mkdtemp, readFile, rm, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { expectStatus, type TestApp } from '../harness/app.ts'
import { processTree } from '../harness/process.ts'
import { openQuestions } from '../harness/questions.ts'

const waitMs = 60_000
// So that a question that is answered says that the encoder is whole again.
const oneProcess = { SLUICE_ENCODER_THREADS: '1' }
let modelDir: string
let modelPath: string
let good: Buffer
beforeAll(async () => {
  modelDir = await mkdtemp(join(tmpdir(), 'sluice-model-'))
  modelPath = join(modelDir, 'model_quantized.onnx')
  await cp(join(import.meta.dirname, '../../models/question-encoder'), modelDir, { recursive: true })
  good = await readFile(modelPath)
})
afterAll(() => rm(modelDir, { recursive: true }))

/** The processes that hold this copy of the model. */
function encoders(): number[] {
  return processTree(process.pid).filter((pid) => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(modelPath)
    } catch {
      // It ended while we looked.
      return false
    }
  })
}

async function kill(): Promise<void> {
  const ended = encoders()
  if (ended.length === 0) throw new Error('No process holds the model.')
  for (const pid of ended) process.kill(pid, 'SIGKILL')
  await vi.waitUntil(() => !encoders().some((pid) => ended.includes(pid)), { timeout: waitMs })
}

const faults = (t: TestApp): string[] =>
  t.observations.flatMap((event) =>
    event.kind === 'fault' && event.where === 'question-encoder' && event.error instanceof Error
      ? [event.error.message]
      : [],
  )

const readQuestions = async (t: TestApp) => {
  const { status, body } = await t.anonymous.get('/readyz')
  return { status, ...body.checks.questions }
}
const working = { status: 200, ok: true, optional: true }
const down = { status: 200, ok: false, optional: true, message: expect.stringContaining('the log says why') }

const refused = {
  status: 503,
  body: {
    error: 'overloaded',
    message: expect.stringMatching(/cannot be read.*called by name/),
    retry_after: 10,
    request_id: expect.any(String),
  },
}

// So that every question is a new text: what was read once is kept.
let asked = 0
// The number is of no query, and they are answered all the same.
const partial = { partial: true }
const next = (): string => `Which orders came from the north, ${(asked += 1)}?`

describe('the encoder of a running service', () => {
  let { t, q, ask } = {} as Awaited<ReturnType<typeof openQuestions>>
  beforeAll(async () => {
    ;({ t, q, ask } = await openQuestions(oneProcess, { modelDir }))
    await expectStatus(200, ask(next(), partial))
  }, 90_000)
  afterAll(() => t.close())

  test('a question whose process dies is told to come again, and finds another one', async () => {
    for (const pid of encoders()) process.kill(pid, 'SIGSTOP')
    const owed = ask(next(), partial)
    await kill()
    expect(await owed).toMatchObject({ status: 503, body: { error: 'overloaded', retry_after: 1 } })
    await expect.poll(async () => (await ask(next(), partial)).status, { timeout: waitMs }).toBe(200)
    expect(faults(t).every((message) => message.startsWith('The encoder has ended'))).toBe(true)
    expect(faults(t).length).toBeGreaterThan(0)
  })

  test.each([
    ['changed', () => writeFile(modelPath, Buffer.from(good).fill(0x5a, 9_000_000, 9_001_000))],
    ['cut', () => truncate(modelPath, 1_000)],
    ['gone', () => rm(modelPath)],
  ])('a model that is %s is never begun with: 503 says what still works, until it is back', async (_, harm) => {
    const before = faults(t).length
    await harm()
    await kill()
    await expect.poll(() => readQuestions(t), { timeout: waitMs }).toEqual(down)
    const answer = await ask(next(), partial)
    expect(answer).toMatchObject(refused)
    expect(JSON.stringify(answer.body)).not.toMatch(/onnx|SHA|tmp/)
    expect((await q.caller.post('/v1/queries/orders_in_region', { region: 'north' })).status).toBe(200)
    const said = faults(t).slice(before)
    expect(said.filter((message) => /etch this version of Sluice again/.test(message))).toHaveLength(1)
    expect(said.some((message) => message.includes(modelPath))).toBe(true)

    await writeFile(modelPath, good)
    await expect.poll(async () => (await ask(next(), partial)).status, { timeout: waitMs }).toBe(200)
    expect(await readQuestions(t)).toEqual(working)
  })
})

test('a service that starts with a changed model says so once, and reads questions when it is mended', async () => {
  await truncate(modelPath, 1_000)
  const { t, ask } = await openQuestions(oneProcess, { modelDir })
  try {
    for (let turn = 0; turn < 3; turn += 1) expect(await ask(next(), partial)).toMatchObject(refused)
    expect(faults(t)).toEqual([expect.stringContaining('SHA-256')])
    expect(await readQuestions(t)).toEqual(down)
    await writeFile(modelPath, good)
    await expect.poll(async () => (await ask(next(), partial)).status, { timeout: waitMs }).toBe(200)
    expect(await readQuestions(t)).toEqual(working)
  } finally {
    await t.close()
  }
}, 90_000)
