import { readSync, writeSync } from 'node:fs'
import { flushCompileCache } from 'node:module'
import { leaveSignalsToParent } from '../../process/index.ts'
import { headBytes, packWords } from './encoder-pipe.ts'
import { encoderLevel, feedsOf, openModel, readerLevel } from './model-session.ts'

/**
 * The encoder: a process that holds the models and turns the tokens its parent sends into vectors, or into what the
 * question reader makes of them. It ends with its parent; a crash of native code in here is the parent's to notice and
 * repair. It does one thing at a time, so it reads and writes without the event loop's detours.
 */
leaveSignalsToParent()
const [, , packedFolder = '', modelPath = '', readerPath = ''] = process.argv
const parent = 3

const encoder = await openModel(modelPath, encoderLevel, packedFolder)
const reader = readerPath === '' ? null : await openModel(readerPath, readerLevel, packedFolder)

// It is killed, not ended: what was compiled would be kept at its end only, and stripping types takes 10 MB.
flushCompileCache()
send(packWords(0, new Float32Array()))
for (;;) {
  const head = receive(headBytes)
  const id = head.readUInt32LE(0)
  const words = receive(head.readUInt32LE(4) * 4)
  const questionTokens = words.readInt32LE(0)
  const ids = BigInt64Array.from({ length: words.length / 4 - 1 }, (_, at) => BigInt(words.readInt32LE((at + 1) * 4)))
  const work = questionTokens === 0 ? encode(ids) : readPair(ids, questionTokens)
  send(packWords(id, await work.catch(() => new Float32Array())))
}

/** No parent, no work: also when it was killed and could not say goodbye. */
function receive(length: number): Buffer {
  const bytes = Buffer.allocUnsafe(length)
  for (let have = 0; have < length;) {
    const got = orEnd(() => readSync(parent, bytes, have, length - have, null))
    if (got === 0) process.exit(0)
    have += got
  }
  return bytes
}

function send(bytes: Buffer): void {
  for (let sent = 0; sent < bytes.length;) sent += orEnd(() => writeSync(parent, bytes, sent))
}

function orEnd(transfer: () => number): number {
  try {
    return transfer()
  } catch {
    return process.exit(0)
  }
}

async function encode(ids: BigInt64Array): Promise<Float32Array> {
  const output = await encoder.run(feedsOf(ids, new BigInt64Array(ids.length)))
  const states = output['last_hidden_state']?.data
  if (!(states instanceof Float32Array)) throw new TypeError('The encoder gave no states.')
  return pool(states, ids.length)
}

/** The logit of the pair, then one for each token between the two ends of the question. */
async function readPair(ids: BigInt64Array, questionTokens: number): Promise<Float32Array> {
  if (reader === null) throw new TypeError('There is no reader in here.')
  const types = new BigInt64Array(ids.length).fill(1n, questionTokens)
  const output = await reader.run(feedsOf(ids, types))
  const [match, unexpressed] = [output['match']?.data, output['unexpressed']?.data]
  if (!(match instanceof Float32Array) || !(unexpressed instanceof Float32Array)) {
    throw new TypeError('The reader gave no logits.')
  }
  return Float32Array.from([...match, ...unexpressed.subarray(1, questionTokens - 1)])
}

/** Mean over the tokens, then length one. */
function pool(states: Float32Array, tokens: number): Float32Array {
  const size = states.length / tokens
  const vector = new Float32Array(size)
  for (let from = 0; from < states.length; from += size) {
    for (let at = 0; at < size; at += 1) vector[at] = (vector[at] ?? 0) + (states[from + at] ?? 0)
  }
  let squares = 0
  for (const value of vector) squares += value * value
  const length = Math.sqrt(squares) || 1
  return vector.map((value) => value / length)
}
