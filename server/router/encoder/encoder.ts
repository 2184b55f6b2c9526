import { spawn, type ChildProcess } from 'node:child_process'
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { Socket } from 'node:net'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { compileCache, programBeside } from '../../compiled.ts'
import { Failure } from '../../failure.ts'
import { readConstants, type Constants } from '../constants.ts'
import { readReaderConstants, type ReaderConstants } from '../reader/constants.ts'
import type { Reader } from '../reader/reader.ts'
import { createWordReader, packWords } from './encoder-pipe.ts'
import { hashedVector } from './hashed-vector.ts'
import { packedModels } from './packed-models.ts'
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
  /** Null where only the stand-in runs, and where none was opened. */
  reader: Reader | null
  /** None of its processes runs, and the last attempt to begin one anew has failed. */
  isDown: () => boolean
  close: () => Promise<void>
}

type Waiting = { resolve: (vector: Float32Array) => void; reject: (error: unknown) => void }

const dimensions = 384
// Enough for any question people ask; what is longer would only cost time.
const maxTokens = 64
const modelSha256 = '02aec35ab40fdd590ab3c22916df49ecba022f0e848fef5c797f337b9a53ec70'
const tokenizerSha256 = 'aa5777dd801854afc1818a8e20820806261c9497db9593a220b646bedfbc0fef'
const readerSha256 = '4141004ef4604e0b9aaa8f88bc0260f4a422a14c6b513da0a550a8bf6212736f'

type ReaderFiles = { path: string; constants: ReaderConstants }

/**
 * Opens the encoder in `modelDir`, and beside it the question reader in `readerDir` where one is named, in `threads` processes of one thread each: the two texts of a question run side by
 * side. A file that is not the one this code was learned with is an error; a machine whose native module does not load
 * gets the lexical stand-in, and `fallbackReason` says so.
 */
export async function openEncoder(options: {
  modelDir: string
  readerDir?: string
  threads: number
  queueLength?: number
  silenceMs?: number
  /** Hears of a process that ended by itself, and once of what keeps another from taking its place. */
  onFault?: (error: unknown) => void
}): Promise<Encoder> {
  const modelPath = join(options.modelDir, 'model_quantized.onnx')
  const tokenizerPath = join(options.modelDir, 'tokenizer.json')
  await verify(modelPath, modelSha256)
  await verify(tokenizerPath, tokenizerSha256)
  const tokenizer = await readTokenizer(tokenizerPath)
  const constants = await readConstants(join(options.modelDir, 'router_constants.json'))
  const reader = options.readerDir === undefined ? null : await readerIn(options.readerDir)
  try {
    return { ...(await startNeural({ modelPath, reader }, tokenizer, options)), constants }
  } catch (error) {
    return lexicalEncoder({ tokenizer, constants }, error instanceof Error ? error.message : String(error))
  }
}

async function readerIn(dir: string): Promise<ReaderFiles> {
  const path = join(dir, 'model_quantized.onnx')
  await verify(path, readerSha256)
  return { path, constants: await readReaderConstants(join(dir, 'reader_constants.json')) }
}

/** For who asks while no text can be read. The cause names files and is for the log. */
export function cannotRead(cause: unknown): Failure {
  return new Failure('overloaded', {
    message:
      'Questions cannot be read at the moment: the encoder does not start, and the log of the service says why. Deployed queries can still be called by name.',
    retryAfterSeconds: 10,
    cause,
  })
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
    reader: null,
    isDown: () => false,
    close: () => Promise.resolve(),
  }
}

async function verify(path: string, expected: string): Promise<void> {
  const hash = createHash('sha256')
  try {
    await pipeline(createReadStream(path), hash)
  } catch (error) {
    throw new Error(`${path} cannot be read: fetch this version of Sluice again.`, { cause: error })
  }
  const found = hash.digest('hex')
  if (found === expected) return
  throw new Error(
    `${path} is not the file this version was made with: its SHA-256 is ${found}, not ${expected}. Fetch this version of Sluice again.`,
  )
}

/** A process of the encoder: 100 MB that are not the server's, and native code whose crash is not the server's either. */
type Worker = {
  child: ChildProcess
  socket: Socket
  waiting: Map<number, Waiting>
  /** Runs while somebody waits, anew after every answer; at its end the process is killed and another takes its place. */
  silence: NodeJS.Timeout | null
  lost: Error | null
}

const reopenMs = 1_000
/** A text takes milliseconds: a process that says nothing for so long will not say anything any more. */
const maxSilenceMs = 10_000
const openTimeoutMs = 30_000
const stderrBytes = 8_000
const maxId = 0xff_ff_ff_ff

// Over 70 lines: what it returns shares the processes and their trouble.
async function startNeural(
  { modelPath, reader }: { modelPath: string; reader: ReaderFiles | null },
  tokenizer: Tokenizer,
  {
    threads,
    queueLength = 256,
    silenceMs = maxSilenceMs,
    onFault = () => undefined,
  }: Omit<Parameters<typeof openEncoder>[0], 'modelDir' | 'readerDir'>,
): Promise<Omit<Encoder, 'constants'>> {
  const closing = new AbortController()
  let lastId = 0
  const workers: Worker[] = []
  let trouble: unknown = null
  const models = [
    { path: modelPath, sha256: modelSha256 },
    ...(reader === null ? [] : [{ path: reader.path, sha256: readerSha256 }]),
  ]
  const packed = (await packedModels(models)) ?? ''
  const open = (place: number): Promise<Worker> =>
    openWorker([packed, ...models.map(({ path }) => path)], (error) => {
      if (closing.signal.aborted) return
      onFault(error)
      void reopen(place)
    })
  /** Again and again, a second apart, until it runs or nobody wants it any more. */
  const reopen = async (place: number): Promise<void> => {
    while (!closing.signal.aborted) {
      await wait(reopenMs, undefined, { ref: false })
      try {
        // The file may have changed since: vectors of another model would be compared with those of this one.
        await verify(modelPath, modelSha256)
        if (reader !== null) await verify(reader.path, readerSha256)
        const worker = await open(place)
        trouble = null
        if (closing.signal.aborted) await endWorker(worker)
        else workers[place] = worker
        return
      } catch (error) {
        if (String(error) !== String(trouble) && !closing.signal.aborted) onFault(error)
        trouble = error
      }
    }
  }
  workers.push(...(await openAll(Math.max(1, threads), open, () => closing.abort())))
  const submit = (tokens: { questionTokens: number; ids: number[] }): Promise<Float32Array> => {
    let worker: Worker | undefined
    for (const each of workers) {
      if (each.lost === null && (worker === undefined || each.waiting.size < worker.waiting.size)) worker = each
    }
    if (worker === undefined && closing.signal.aborted) return Promise.reject(new Error('The encoder is closed.'))
    if (worker === undefined && trouble !== null) return Promise.reject(cannotRead(trouble))
    if (worker === undefined || worker.waiting.size >= queueLength) {
      return Promise.reject(new Failure('overloaded', { retryAfterSeconds: 1 }))
    }
    lastId = (lastId % maxId) + 1
    const words = Int32Array.from([tokens.questionTokens, ...tokens.ids])
    return ask(worker, { id: lastId, words, silenceMs })
  }
  const encodeOne = (text: string): Promise<Float32Array> =>
    submit({ questionTokens: 0, ids: tokenizer.tokenize(text).slice(0, maxTokens) })
  return {
    kind: 'neural',
    fallbackReason: null,
    hash: modelSha256,
    dimensions,
    tokenizer,
    encode: (texts) => Promise.all(texts.map(encodeOne)),
    reader: reader === null ? null : { constants: reader.constants, tokenizer, score: submit },
    isDown: () => trouble !== null && workers.every(({ lost }) => lost !== null),
    close: async () => {
      closing.abort()
      await Promise.all(workers.map(endWorker))
    },
  }
}

/** All or none: those that did open would stay behind, unused. */
async function openAll(count: number, open: (place: number) => Promise<Worker>, giveUp: () => void): Promise<Worker[]> {
  const opened = await Promise.allSettled(Array.from({ length: count }, (_, place) => open(place)))
  const workers = opened.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []))
  const failed = opened.find((each) => each.status === 'rejected')
  if (failed === undefined) return workers
  giveUp()
  await Promise.all(workers.map(endWorker))
  throw failed.reason
}

// What it allocates in JavaScript is little, and it does one thing at a time.
const lean = ['--no-warnings', '--max-semi-space-size=1', '--single-threaded']
/**
 * What opening a model needs for a moment goes back to the system, and what each run needs anew does not: a quarter of the
 * time of a reading would be spent on taking pages and giving them back (Linux with glibc).
 */
const givingBack = 'glibc.malloc.mmap_threshold=1048576:glibc.malloc.trim_threshold=8388608:glibc.malloc.arena_max=1'

/** `onLost` is called once, and only for one that was open. */
async function openWorker(args: string[], onLost: (error: Error) => void): Promise<Worker> {
  const program = fileURLToPath(programBeside(import.meta.url, 'encoder-process'))
  const child = spawn(process.execPath, [...lean, program, ...args], {
    // No environment, so no secret.
    env: { GLIBC_TUNABLES: givingBack, UV_THREADPOOL_SIZE: '1', ...compileCache() },
    stdio: ['ignore', 'ignore', 'pipe', 'pipe'],
    // A signal to our whole process group is for us; it would come before the process can say that it heeds none.
    detached: true,
  })
  const socket = child.stdio[3] as Socket
  const worker: Worker = { child, socket, waiting: new Map(), silence: null, lost: null }
  let stderr = ''
  child.stderr?.on('data', (bytes: Buffer) => (stderr = (stderr + bytes.toString()).slice(0, stderrBytes)))
  let isOpen = false
  await new Promise<void>((resolve, reject) => {
    const timer = setTimeout(() => child.kill('SIGKILL'), openTimeoutMs)
    const lose = (error: Error): void => {
      if (worker.lost !== null) return
      clearTimeout(timer)
      worker.lost = error
      stopSilenceTimer(worker)
      const owed = new Failure('overloaded', { retryAfterSeconds: 1, cause: error })
      for (const waiter of worker.waiting.values()) waiter.reject(owed)
      worker.waiting.clear()
      reject(error)
      if (isOpen) onLost(error)
    }
    child.on('error', lose)
    child.on('exit', () => lose(new Error(`The encoder has ended. ${reasonIn(stderr)}`.trim())))
    // The end of the process tells all there is to know.
    socket.on('error', () => undefined)
    const read = createWordReader((id, words) => {
      if (id === 0) {
        clearTimeout(timer)
        isOpen = true
        return resolve()
      }
      const waiter = worker.waiting.get(id)
      worker.waiting.delete(id)
      if (worker.waiting.size === 0) {
        stopSilenceTimer(worker)
        socket.unref()
      } else worker.silence?.refresh()
      if (words.byteLength > 0) return waiter?.resolve(new Float32Array(words))
      return waiter?.reject(new Error('The encoder could not read this text.'))
    })
    socket.on('data', read)
  })
  // An open encoder must not keep a finished process alive; one that owes an answer must.
  child.unref()
  socket.unref()
  if (child.stderr instanceof Socket) child.stderr.unref()
  return worker
}

/** The line that names the error: where it stands among source lines and a stack differs. */
function reasonIn(stderr: string): string {
  return /^\w*Error\b.*$/m.exec(stderr)?.[0] ?? stderr.trim().slice(-500)
}

async function endWorker({ child, lost }: Worker): Promise<void> {
  if (lost !== null) return
  const ended = new Promise((resolve) => child.once('exit', resolve))
  // Else a process that has nothing more to do ends before its children have.
  child.ref()
  // It holds nothing that could be lost, and heeds no other signal.
  child.kill('SIGKILL')
  await ended
}

function stopSilenceTimer(worker: Worker): void {
  if (worker.silence !== null) clearTimeout(worker.silence)
  worker.silence = null
}

function ask(
  worker: Worker,
  { id, words, silenceMs }: { id: number; words: Int32Array; silenceMs: number },
): Promise<Float32Array> {
  const { child, socket, waiting } = worker
  worker.silence ??= setTimeout(() => child.kill('SIGKILL'), silenceMs)
  return new Promise((resolve, reject) => {
    waiting.set(id, { resolve, reject })
    socket.ref()
    socket.write(packWords(id, words))
  })
}
