import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { Observe } from '../../observe.ts'
import { upTo } from '../../flow/index.ts'
import type { Database } from '../../store/index.ts'
import type { Encoder } from '../../router/index.ts'

/** The encoder with a memory. A text has one vector, whoever wrote it. */
export type KeptVectors = {
  /** For questions: looks in memory only. */
  asking: Encoder
  /** For indexes: what an earlier process has read is taken from the database. */
  building: Encoder
}

type Parts = { store: Pick<Database, 'db'>; observe: Observe; now: () => number }

const maxTexts = 20_000
const dayMs = 86_400_000

export function keepVectors(encoder: Encoder, parts: Parts): KeptVectors {
  const kept = new LRUCache<string, Float32Array>(upTo(maxTexts))

  /** Fills in what memory does not hold, each text once. */
  async function encode(
    texts: string[],
    find: (missing: Map<string, string>) => Promise<Map<string, Float32Array>>,
  ): Promise<Float32Array[]> {
    const keys = texts.map(hashOf)
    const found = new Map<string, Float32Array>()
    const missing = new Map<string, string>()
    keys.forEach((key, at) => {
      const known = kept.get(key)
      if (known === undefined) missing.set(key, texts[at] ?? '')
      else found.set(key, known)
    })
    if (missing.size > 0) {
      for (const [key, vector] of await find(missing)) {
        kept.set(key, vector)
        found.set(key, vector)
      }
    }
    return keys.map((key) => found.get(key) ?? new Float32Array(encoder.dimensions))
  }

  async function read(missing: Map<string, string>): Promise<Map<string, Float32Array>> {
    const keys = [...missing.keys()]
    const vectors = await encoder.encode([...missing.values()])
    return new Map(keys.flatMap((key, at) => (vectors[at] === undefined ? [] : [[key, vectors[at]]])))
  }

  async function readOrLoad(missing: Map<string, string>): Promise<Map<string, Float32Array>> {
    const loaded = await load(parts, encoder, [...missing.keys()]).catch((error: unknown) => {
      parts.observe({ kind: 'fault', where: 'question-vectors', error })
      return new Map<string, Float32Array>()
    })
    const rest = new Map([...missing].filter(([key]) => !loaded.has(key)))
    if (rest.size === 0) return loaded
    const fresh = await read(rest)
    await save(parts, encoder, fresh).catch((error: unknown) =>
      parts.observe({ kind: 'fault', where: 'question-vectors', error }),
    )
    return new Map([...loaded, ...fresh])
  }

  return {
    asking: { ...encoder, encode: (texts) => encode(texts, read) },
    // The stand-in is as fast as the database.
    building: { ...encoder, encode: (texts) => encode(texts, encoder.kind === 'neural' ? readOrLoad : read) },
  }
}

async function load({ store, now }: Parts, encoder: Encoder, keys: string[]): Promise<Map<string, Float32Array>> {
  const rows = await store.db
    .selectFrom('questionVectors')
    .select(['textHash', 'vector', 'usedAt'])
    .where('modelHash', '=', encoder.hash)
    .where('textHash', 'in', keys)
    .execute()
  if (rows.some((row) => row.usedAt.getTime() < now() - dayMs)) {
    await store.db
      .updateTable('questionVectors')
      .set({ usedAt: new Date(now()) })
      .where('modelHash', '=', encoder.hash)
      .where('textHash', 'in', keys)
      .execute()
  }
  const good = rows.filter((row) => row.vector.length === encoder.dimensions * 4)
  // Copied, because a Buffer of the driver may begin anywhere and a Float32Array may not.
  return new Map(good.map((row) => [row.textHash, new Float32Array(Uint8Array.from(row.vector).buffer)]))
}

async function save({ store, now }: Parts, encoder: Encoder, vectors: Map<string, Float32Array>): Promise<void> {
  if (vectors.size === 0) return
  const rows = Array.from(vectors, ([key, vector]) => ({
    modelHash: encoder.hash,
    textHash: key,
    vector: Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength),
    usedAt: new Date(now()),
  }))
  await store.db
    .insertInto('questionVectors')
    .values(rows)
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('base64url')
}
