import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect } from 'vitest'
import { Failure } from '../../../server/failure.ts'
import { normalise, type NormaliseOptions } from '../../../server/rows/normalise.ts'

/** Makes rows of bodies in a folder that goes when the tests of the file are over. */
export function useRows() {
  let folder = ''
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sluice-normalise-'))
  })
  afterAll(() => rm(folder, { recursive: true }))
  let runs = 0

  async function run(body: string | Buffer, options: Partial<NormaliseOptions> = {}) {
    runs += 1
    const input = join(folder, `${runs}.body`)
    const output = join(folder, `${runs}.rows`)
    await writeFile(input, body)
    try {
      const result = await normalise(input, output, { contentType: 'application/json', maxDepth: 64, ...options })
      const text = await readFile(output, 'utf8')
      return { ...result, text, lines: text.split('\n').slice(0, -1) }
    } finally {
      await Promise.all([input, output].map((path) => rm(path, { force: true })))
    }
  }

  async function refusal(body: string | Buffer, options: Partial<NormaliseOptions> = {}) {
    const error: unknown = await run(body, options).then(
      () => null,
      (reason: unknown) => reason,
    )
    expect(error).toBeInstanceOf(Failure)
    const failure = error as Failure
    return { code: failure.code, reason: failure.reason, message: failure.message }
  }

  return { run, refusal, folder: () => folder }
}
