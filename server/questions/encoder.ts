import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { Failure } from '../failure.ts'
import { hashedVector } from './lexical.ts'
import { readTokenizer, type Tokenizer } from './tokenizer.ts'

/** Turns a text into a direction of length one. `kind` says whether the trained encoder runs or its lexical stand-in. */
export type Encoder = {
  kind: 'neural' | 'lexical'
  /** Why the stand-in runs; null with the trained encoder. */
  fallbackReason: string | null
  /** Vectors of one hash are comparable; an index keeps it and is rebuilt when it changes. */
  hash: string
  dimensions: number
  tokenizer: Pick<Tokenizer, 'knows'>
  encode: (texts: string[]) => Promise<Float32Array[]>
  close: () => Promise<void>
}

export type EncodeRequest = { id: number; texts: Int32Array[] }
export type EncodeAnswer = { ready: true } | { id: number; vectors: Float32Array[] } | { id: number; error: string }

type Waiting = { resolve: (vectors: Float32Array[]) => void; reject: (error: unknown) => void }

const dimensions = 384
const modelSha256 = '02aec35ab40fdd590ab3c22916df49ecba022f0e848fef5c797f337b9a53ec70'
const tokenizerSha256 = 'aa5777dd801854afc1818a8e20820806261c9497db9593a220b646bedfbc0fef'

/**
 * Opens the encoder in `modelDir`. A file that is not the one this code was learned with is an error; a machine whose
 * native module does not load gets the lexical stand-in, and `fallbackReason` says so.
 */
export async function openEncoder(options: {
  modelDir: string
  threads: number
  queueLength?: number
}): Promise<Encoder> {
  const modelPath = join(options.modelDir, 'model_quantized.onnx')
  const tokenizerPath = join(options.modelDir, 'tokenizer.json')
  await verify(modelPath, modelSha256)
  await verify(tokenizerPath, tokenizerSha256)
  const tokenizer = await readTokenizer(tokenizerPath)
  try {
    return await startNeural(modelPath, tokenizer, options)
  } catch (error) {
    return lexicalEncoder(tokenizer, error instanceof Error ? error.message : String(error))
  }
}

/** The stand-in: hashed words and letter triples. Ranks by shared wording only. */
export function lexicalEncoder(tokenizer: Pick<Tokenizer, 'knows'>, fallbackReason: string): Encoder {
  return {
    kind: 'lexical',
    fallbackReason,
    hash: 'lexical-1',
    dimensions,
    tokenizer,
    encode: (texts) => Promise.resolve(texts.map((text) => hashedVector(text, dimensions))),
    close: () => Promise.resolve(),
  }
}

async function verify(path: string, expected: string): Promise<void> {
  const found = createHash('sha256')
    .update(await readFile(path))
    .digest('hex')
  if (found !== expected) throw new Error(`${path} is not the encoder's file: its SHA-256 is ${found}.`)
}

async function startNeural(
  modelPath: string,
  tokenizer: Tokenizer,
  { threads, queueLength = 256 }: { threads: number; queueLength?: number },
): Promise<Encoder> {
  const worker = new Worker(new URL('./encoder-worker.ts', import.meta.url), { workerData: { modelPath, threads } })
  const waiting = new Map<number, Waiting>()
  let lost: Error | null = null
  let lastId = 0
  await new Promise<void>((resolve, reject) => {
    worker.on('error', (error) => {
      lost = error instanceof Error ? error : new Error(String(error))
      for (const { reject: fail } of waiting.values()) fail(lost)
      waiting.clear()
      reject(lost)
    })
    worker.on('message', (answer: EncodeAnswer) => {
      if ('ready' in answer) return resolve()
      const waiter = waiting.get(answer.id)
      waiting.delete(answer.id)
      return 'vectors' in answer ? waiter?.resolve(answer.vectors) : waiter?.reject(new Error(answer.error))
    })
  })
  // An open encoder must not keep a finished process alive.
  worker.unref()

  const encode = (texts: string[]): Promise<Float32Array[]> => {
    if (lost !== null) return Promise.reject(lost)
    if (waiting.size >= queueLength) return Promise.reject(new Failure('overloaded', { retryAfterSeconds: 1 }))
    lastId += 1
    const id = lastId
    return new Promise((resolve, reject) => {
      waiting.set(id, { resolve, reject })
      // A referenced worker while an answer is due: otherwise the process could end under the caller's await.
      worker.ref()
      worker.postMessage({ id, texts: texts.map((text) => Int32Array.from(tokenizer.tokenize(text))) })
    }).finally(() => {
      if (waiting.size === 0) worker.unref()
    }) as Promise<Float32Array[]>
  }
  const close = async (): Promise<void> => {
    await worker.terminate()
  }
  return { kind: 'neural', fallbackReason: null, hash: modelSha256, dimensions, tokenizer, encode, close }
}
