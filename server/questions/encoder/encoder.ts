import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { Failure } from '../../failure.ts'
import { readConstants, type Constants } from './constants.ts'
import { hashedVector } from './hashed-vector.ts'
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
  /** Weights learned with this encoder. */
  constants: Constants
  encode: (texts: string[]) => Promise<Float32Array[]>
  close: () => Promise<void>
}

export type EncodeRequest = { id: number; ids: Int32Array }
export type EncodeAnswer = { ready: true } | { id: number; vector: Float32Array } | { id: number; error: string }

type Waiting = { resolve: (vector: Float32Array) => void; reject: (error: unknown) => void }

const dimensions = 384
// Enough for any question people ask; what is longer would only cost time.
const longestTokens = 64
const modelSha256 = '02aec35ab40fdd590ab3c22916df49ecba022f0e848fef5c797f337b9a53ec70'
const tokenizerSha256 = 'aa5777dd801854afc1818a8e20820806261c9497db9593a220b646bedfbc0fef'

/**
 * Opens the encoder in `modelDir` with `threads` workers of one thread each: the two texts of a question run side by side. A file that is not the one this code was learned with is an error; a machine whose
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
  const constants = await readConstants(join(options.modelDir, 'router_constants.json'))
  try {
    return { ...(await startNeural(modelPath, tokenizer, options)), constants }
  } catch (error) {
    return lexicalEncoder({ tokenizer, constants }, error instanceof Error ? error.message : String(error))
  }
}

/** The stand-in: hashed words and letter triples. Ranks by shared wording only. */
export function lexicalEncoder(
  { tokenizer, constants }: Pick<Encoder, 'tokenizer' | 'constants'>,
  fallbackReason: string,
): Encoder {
  return {
    kind: 'lexical',
    fallbackReason,
    hash: 'lexical-1',
    dimensions,
    tokenizer,
    constants,
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

type Lane = { worker: Worker; waiting: Map<number, Waiting>; lost: Error | null }

async function startNeural(
  modelPath: string,
  tokenizer: Tokenizer,
  { threads, queueLength = 256 }: { threads: number; queueLength?: number },
): Promise<Omit<Encoder, 'constants'>> {
  const lanes = await Promise.all(Array.from({ length: Math.max(1, threads) }, () => openLane(modelPath)))
  let lastId = 0
  const encodeOne = (text: string): Promise<Float32Array> => {
    const open = lanes.filter(({ lost }) => lost === null)
    const lane = open.reduce<Lane | undefined>(
      (a, b) => (a === undefined || b.waiting.size < a.waiting.size ? b : a),
      undefined,
    )
    if (lane === undefined) return Promise.reject(lanes[0]?.lost ?? new Error('The encoder is closed.'))
    if (lane.waiting.size >= queueLength) return Promise.reject(new Failure('overloaded', { retryAfterSeconds: 1 }))
    lastId += 1
    return ask(lane, { id: lastId, ids: Int32Array.from(tokenizer.tokenize(text).slice(0, longestTokens)) })
  }
  return {
    kind: 'neural',
    fallbackReason: null,
    hash: modelSha256,
    dimensions,
    tokenizer,
    encode: (texts) => Promise.all(texts.map(encodeOne)),
    close: async () => {
      await Promise.all(lanes.map(({ worker }) => worker.terminate()))
    },
  }
}

async function openLane(modelPath: string): Promise<Lane> {
  const worker = new Worker(new URL('./encoder-worker.ts', import.meta.url), { workerData: { modelPath } })
  const lane: Lane = { worker, waiting: new Map(), lost: null }
  await new Promise<void>((resolve, reject) => {
    const lose = (error: unknown): void => {
      lane.lost = error instanceof Error ? error : new Error(String(error))
      for (const waiter of lane.waiting.values()) waiter.reject(lane.lost)
      lane.waiting.clear()
      reject(lane.lost)
    }
    worker.on('error', lose)
    worker.on('exit', () => lose(new Error('The encoder has ended.')))
    worker.on('message', (answer: EncodeAnswer) => {
      if ('ready' in answer) return resolve()
      const waiter = lane.waiting.get(answer.id)
      lane.waiting.delete(answer.id)
      if (lane.waiting.size === 0) worker.unref()
      return 'vector' in answer ? waiter?.resolve(answer.vector) : waiter?.reject(new Error(answer.error))
    })
  })
  // An open encoder must not keep a finished process alive; one that owes an answer must.
  worker.unref()
  return lane
}

function ask({ worker, waiting }: Lane, request: EncodeRequest): Promise<Float32Array> {
  return new Promise((resolve, reject) => {
    waiting.set(request.id, { resolve, reject })
    worker.ref()
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker thread has no origin
    worker.postMessage(request)
  })
}
