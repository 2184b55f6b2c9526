import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { deserialize, serialize } from 'node:v8'
import { z } from 'zod'
import { feedsOf, openShipped, readerLevel } from '../../server/router/encoder/model-session.ts'
import type { Reader, ReaderInput } from '../../server/router/encoder/reader.ts'

const foldsSchema = z.record(z.string(), z.number().int())

/** Readers by the worlds that they were trained without. `save` keeps what they have read for the next run. */
export type FoldReaders = { readerFor: (world: string) => Reader; save: () => Promise<void> }

/**
 * The readers of a folder, `0.onnx` and so on, with `folds.json`: which of them has not seen which world. So folds are
 * measured on the product's own path. Any other world is read by the reader that is shipped.
 */
export async function foldReaders(shipped: Reader, folder: string): Promise<FoldReaders> {
  const folds = foldsSchema.parse(JSON.parse(await readFile(join(folder, 'folds.json'), 'utf8')))
  const readers = new Map<number, Awaited<ReturnType<typeof openReader>>>()
  for (const fold of new Set(Object.values(folds))) {
    readers.set(fold, await openReader(shipped, join(folder, `${fold}.onnx`)))
  }
  return {
    readerFor: (world) => readers.get(folds[world] ?? -1)?.reader ?? shipped,
    save: async () => {
      for (const { save } of readers.values()) await save()
    },
  }
}

/** A model file as a reader in this process, with what it has read before. */
async function openReader(shipped: Reader, path: string): Promise<{ reader: Reader; save: () => Promise<void> }> {
  const digest = createHash('sha256')
    .update(await readFile(path))
    .digest('hex')
  const cache = `${path}.${digest.slice(0, 12)}.read`
  const known = existsSync(cache)
    ? (deserialize(await readFile(cache)) as Map<string, Float32Array>)
    : new Map<string, Float32Array>()
  const session = await openShipped(path, readerLevel)
  let fresh = 0
  const score = async ({ ids, questionTokens }: ReaderInput): Promise<Float32Array> => {
    const key = `${questionTokens} ${ids.join(' ')}`
    const found = known.get(key)
    if (found !== undefined) return found
    const types = BigInt64Array.from(ids, (_, at) => (at < questionTokens ? 0n : 1n))
    const { match, unexpressed } = await session.run(feedsOf(BigInt64Array.from(ids, BigInt), types))
    const words = unexpressed?.data
    if (!(words instanceof Float32Array)) throw new TypeError(`${path} gave no logits.`)
    // As the product: without those of the two ends.
    const logits = Float32Array.from([Number(match?.data[0]), ...words.subarray(1, questionTokens - 1)])
    known.set(key, logits)
    fresh += 1
    return logits
  }
  const save = async (): Promise<void> => {
    if (fresh > 0) await writeFile(cache, serialize(known))
  }
  return { reader: { ...shipped, score }, save }
}
