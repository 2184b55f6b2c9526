import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { readConstants, type Constants } from '../learned/router-constants.ts'
import { readReaderConstants, type ReaderConstants } from '../learned/reader-constants.ts'
import type { Reader } from './reader.ts'
import { openEncoderChildren } from './encoder-children.ts'
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

const dimensions = 384
// Enough for any question people ask; what is longer would only cost time.
const maxTokens = 64
const modelSha256 = '02aec35ab40fdd590ab3c22916df49ecba022f0e848fef5c797f337b9a53ec70'
const tokenizerSha256 = 'aa5777dd801854afc1818a8e20820806261c9497db9593a220b646bedfbc0fef'
const readerSha256 = '75c98ad38890d8b692e1d4ab4dafb94ec89bdc0c48384c4cb3b4eddd006b1bd6'

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
  /** How long nobody asks until its processes are ended; the next text starts them again. 0, or left out: never. */
  restAfterMs?: number
  /** Hears of a process that ended by itself, and once of what keeps another from taking its place. */
  onFault?: (error: unknown) => void
}): Promise<Encoder> {
  const modelPath = join(options.modelDir, 'model_quantized.onnx')
  const tokenizerPath = join(options.modelDir, 'tokenizer.json')
  const verify = createVerifier()
  await verify(modelPath, modelSha256)
  await verify(tokenizerPath, tokenizerSha256)
  const tokenizer = await readTokenizer(tokenizerPath)
  const constants = await readConstants(join(options.modelDir, 'router_constants.json'))
  const reader = options.readerDir === undefined ? null : await readerIn(options.readerDir, verify)
  try {
    return { ...(await startNeural({ modelPath, reader, tokenizer, verify }, options)), constants }
  } catch (error) {
    return lexicalEncoder({ tokenizer, constants }, error instanceof Error ? error.message : String(error))
  }
}

async function readerIn(dir: string, verify: Verify): Promise<ReaderFiles> {
  const path = join(dir, 'model_quantized.onnx')
  await verify(path, readerSha256)
  return { path, constants: await readReaderConstants(join(dir, 'reader_constants.json')) }
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

type Verify = (path: string, expected: string) => Promise<void>

/** Reads a file once, and again only when it was written since. */
function createVerifier(): Verify {
  const read = new Map<string, string>()
  return async (path, expected) => {
    const { mtimeMs, size, ino } = await stat(path).catch((error: unknown) => {
      throw unreadable(path, error)
    })
    const written = `${mtimeMs} ${size} ${ino}`
    if (read.get(path) === written) return
    await verify(path, expected)
    read.set(path, written)
  }
}

async function verify(path: string, expected: string): Promise<void> {
  const hash = createHash('sha256')
  try {
    await pipeline(createReadStream(path), hash)
  } catch (error) {
    throw unreadable(path, error)
  }
  const found = hash.digest('hex')
  if (found === expected) return
  throw new Error(
    `${path} is not the file this version was made with: its SHA-256 is ${found}, not ${expected}. Fetch this version of Sluice again.`,
  )
}

function unreadable(path: string, cause: unknown): Error {
  return new Error(`${path} cannot be read: fetch this version of Sluice again.`, { cause })
}

/** A text takes milliseconds: a process that says nothing for so long will not say anything any more. */
const maxSilenceMs = 10_000

type NeuralParts = { modelPath: string; reader: ReaderFiles | null; tokenizer: Tokenizer; verify: Verify }

async function startNeural(
  { modelPath, reader, tokenizer, verify }: NeuralParts,
  {
    threads,
    queueLength = 256,
    silenceMs = maxSilenceMs,
    restAfterMs = 0,
    onFault = () => undefined,
  }: Omit<Parameters<typeof openEncoder>[0], 'modelDir' | 'readerDir'>,
): Promise<Omit<Encoder, 'constants'>> {
  const models = [
    { path: modelPath, sha256: modelSha256 },
    ...(reader === null ? [] : [{ path: reader.path, sha256: readerSha256 }]),
  ]
  const packed = (await packedModels(models)) ?? ''
  const { submit, isDown, close } = await openEncoderChildren({
    count: threads,
    args: [packed, ...models.map(({ path }) => path)],
    verify: async () => {
      for (const { path, sha256 } of models) await verify(path, sha256)
    },
    queueLength,
    silenceMs,
    restAfterMs,
    onFault,
  })
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
    isDown,
    close,
  }
}
