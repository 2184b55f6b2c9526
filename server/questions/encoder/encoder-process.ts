import { InferenceSession, Tensor } from 'onnxruntime-node'
import type { EncodeAnswer, EncodeRequest } from './encoder.ts'

/**
 * The encoder: a process that holds the model and turns the tokens its parent sends into vectors. It ends with its
 * parent; a crash of native code in here is the parent's to notice and repair.
 */
const [, , modelPath = ''] = process.argv

const session = await InferenceSession.create(modelPath, {
  intraOpNumThreads: 1,
  interOpNumThreads: 1,
  executionMode: 'sequential',
  graphOptimizationLevel: 'all',
  logSeverityLevel: 3,
})

// One text a run: with dynamic int8 a vector would depend on its neighbours in a batch.
process.on('message', ({ id, ids }: EncodeRequest) => {
  encode(ids).then(
    (vector) => answer({ id, vector }),
    (error: unknown) => answer({ id, error: String(error) }),
  )
})
process.on('disconnect', () => process.exit(0))
answer({ ready: true })

function answer(message: EncodeAnswer): void {
  process.send?.(message)
}

async function encode(ids: Int32Array): Promise<Float32Array> {
  const shape = [1, ids.length]
  const output = await session.run({
    input_ids: new Tensor('int64', BigInt64Array.from(ids, BigInt), shape),
    attention_mask: new Tensor('int64', new BigInt64Array(ids.length).fill(1n), shape),
    token_type_ids: new Tensor('int64', new BigInt64Array(ids.length), shape),
  })
  const states = output['last_hidden_state']?.data
  if (!(states instanceof Float32Array)) throw new TypeError('The encoder gave no states.')
  return pool(states, ids.length)
}

/** Mean over the tokens, then length one. */
function pool(states: Float32Array, tokens: number): Float32Array {
  const size = states.length / tokens
  const vector = new Float32Array(size)
  for (let at = 0; at < states.length; at += 1) vector[at % size] = (vector[at % size] ?? 0) + (states[at] ?? 0)
  let squares = 0
  for (const value of vector) squares += value * value
  const length = Math.sqrt(squares) || 1
  return vector.map((value) => value / length)
}
