import { fork, type ChildProcess } from 'node:child_process'
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { Socket } from 'node:net'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
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
 * Opens the encoder in `modelDir` in `threads` processes of one thread each: the two texts of a question run side by
 * side. A file that is not the one this code was learned with is an error; a machine whose native module does not load
 * gets the lexical stand-in, and `fallbackReason` says so.
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
  const hash = createHash('sha256')
  await pipeline(createReadStream(path), hash)
  const found = hash.digest('hex')
  if (found !== expected) throw new Error(`${path} is not the encoder's file: its SHA-256 is ${found}.`)
}

/** A process of the encoder: 70 MB that are not the server's, and native code whose crash is not the server's either. */
type Lane = { child: ChildProcess; waiting: Map<number, Waiting>; lost: Error | null }

const reopenMs = 1_000
const openTimeoutMs = 30_000

async function startNeural(
  modelPath: string,
  tokenizer: Tokenizer,
  { threads, queueLength = 256 }: { threads: number; queueLength?: number },
): Promise<Omit<Encoder, 'constants'>> {
  const closing = new AbortController()
  let lastId = 0
  const lanes: Lane[] = []
  /** Again and again, a second apart, until it runs or nobody wants it any more. */
  const reopen = async (place: number): Promise<void> => {
    while (!closing.signal.aborted) {
      await wait(reopenMs, undefined, { ref: false })
      const lane = await openLane(modelPath, () => void reopen(place)).catch(() => undefined)
      if (lane === undefined) continue
      if (closing.signal.aborted) await endLane(lane)
      else lanes[place] = lane
      return
    }
  }
  const open = Array.from({ length: Math.max(1, threads) }, (_, place) => openLane(modelPath, () => void reopen(place)))
  lanes.push(...(await Promise.all(open)))
  const encodeOne = (text: string): Promise<Float32Array> => {
    let lane: Lane | undefined
    for (const each of lanes) {
      if (each.lost === null && (lane === undefined || each.waiting.size < lane.waiting.size)) lane = each
    }
    if (lane === undefined && closing.signal.aborted) return Promise.reject(new Error('The encoder is closed.'))
    if (lane === undefined || lane.waiting.size >= queueLength) {
      return Promise.reject(new Failure('overloaded', { retryAfterSeconds: 1 }))
    }
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
      closing.abort()
      await Promise.all(lanes.map(endLane))
    },
  }
}

/** `onLost` is called once, and only for one that was open. */
async function openLane(modelPath: string, onLost: () => void): Promise<Lane> {
  const child = fork(fileURLToPath(new URL('./encoder-process.ts', import.meta.url)), [modelPath], {
    // No environment, so no secret; typed arrays go as they are.
    env: {},
    execArgv: ['--no-warnings'],
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  })
  const lane: Lane = { child, waiting: new Map(), lost: null }
  let stderr = ''
  child.stderr?.on('data', (bytes: Buffer) => (stderr = (stderr + bytes.toString()).slice(-500)))
  let isOpen = false
  await new Promise<void>((resolve, reject) => {
    const timer = setTimeout(() => child.kill('SIGKILL'), openTimeoutMs)
    const lose = (error: Error): void => {
      if (lane.lost !== null) return
      clearTimeout(timer)
      lane.lost = error
      for (const waiter of lane.waiting.values()) waiter.reject(error)
      lane.waiting.clear()
      reject(error)
      if (isOpen) onLost()
    }
    child.on('error', lose)
    child.on('exit', () => lose(new Error(`The encoder has ended. ${stderr.trim()}`.trim())))
    child.on('message', (answer: EncodeAnswer) => {
      if ('ready' in answer) {
        clearTimeout(timer)
        isOpen = true
        return resolve()
      }
      const waiter = lane.waiting.get(answer.id)
      lane.waiting.delete(answer.id)
      if (lane.waiting.size === 0) child.channel?.unref()
      return 'vector' in answer ? waiter?.resolve(answer.vector) : waiter?.reject(new Error(answer.error))
    })
  })
  // An open encoder must not keep a finished process alive; one that owes an answer must.
  child.unref()
  child.channel?.unref()
  unrefStream(child)
  return lane
}

function unrefStream({ stderr }: ChildProcess): void {
  if (stderr instanceof Socket) stderr.unref()
}

async function endLane({ child, lost }: Lane): Promise<void> {
  if (lost !== null) return
  const ended = new Promise((resolve) => child.once('exit', resolve))
  child.kill()
  await ended
}

function ask({ child, waiting }: Lane, request: EncodeRequest): Promise<Float32Array> {
  return new Promise((resolve, reject) => {
    waiting.set(request.id, { resolve, reject })
    child.channel?.ref()
    child.send(request)
  })
}
