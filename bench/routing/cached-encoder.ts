import { existsSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { Encoder } from '../../server/router/index.ts'

/** Where vectors are kept unless somebody says otherwise: outside what git sees. */
export const vectorCachePath = 'node_modules/.cache/routing-vectors'

/** An encoder that remembers on disk what it has embedded, so that a second benchmark run takes seconds. */
export type CachedEncoder = Encoder & { save: () => Promise<void> }

export async function cachedEncoder(encoder: Encoder, path: string): Promise<CachedEncoder> {
  const vectors = new Map<string, Float32Array>()
  if (existsSync(`${path}.json`)) {
    const stored = JSON.parse(await readFile(`${path}.json`, 'utf8')) as { hash: string; texts: string[] }
    const bytes = await readFile(`${path}.bin`)
    const all = new Float32Array(bytes.buffer, bytes.byteOffset, bytes.byteLength / 4)
    const size = encoder.dimensions
    if (stored.hash === encoder.hash)
      stored.texts.forEach((text, at) => vectors.set(text, all.subarray(at * size, (at + 1) * size)))
  }
  let fresh = 0
  return {
    ...encoder,
    encode: async (texts) => {
      const answers: Float32Array[] = []
      for (const text of texts) {
        const vector = vectors.get(text) ?? (await encoder.encode([text]))[0]
        if (vector === undefined) throw new TypeError('The encoder gave no vector.')
        if (!vectors.has(text)) fresh += 1
        vectors.set(text, vector)
        answers.push(vector)
      }
      return answers
    },
    save: async () => {
      if (fresh === 0) return
      const all = new Float32Array(vectors.size * encoder.dimensions)
      ;[...vectors.values()].forEach((vector, at) => all.set(vector, at * encoder.dimensions))
      await mkdir(dirname(path), { recursive: true })
      await writeFile(`${path}.bin`, new Uint8Array(all.buffer))
      await writeFile(`${path}.json`, JSON.stringify({ hash: encoder.hash, texts: [...vectors.keys()] }))
    },
  }
}
