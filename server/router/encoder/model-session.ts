import { readFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { InferenceSession, Tensor } from 'onnxruntime-node'
import { mappedModel } from './mapped-model.ts'

/** One text a run on one thread: with dynamic int8 a vector would depend on its neighbours in a batch. */
const options: InferenceSession.SessionOptions = {
  intraOpNumThreads: 1,
  interOpNumThreads: 1,
  executionMode: 'sequential',
  // It keeps what the longest text of each shape has needed; without it a run takes as long.
  enableCpuMemArena: false,
  logSeverityLevel: 3,
}

/** The files of a packed model: its graph, its weights and what it said when it was packed. */
export function packedFiles(
  folder: string,
  path: string,
): { graph: string; weights: string; weightsName: string; said: string } {
  const name = basename(dirname(path))
  const weightsName = `${name}.weights`
  return {
    graph: join(folder, `${name}.onnx`),
    weights: join(folder, weightsName),
    weightsName,
    said: join(folder, `${name}.said`),
  }
}

/** How far the runtime rewrites the graph of a model before it runs it. */
export type GraphLevel = NonNullable<InferenceSession.SessionOptions['graphOptimizationLevel']>

export const encoderLevel: GraphLevel = 'all'
/** Its graph is written as it runs best: the runtime would join a sum and its normalisation, which takes six times as long. */
export const readerLevel: GraphLevel = 'basic'

/** A model as it was shipped. With `save` it is also written down as it is when it is ready to run. */
export function openShipped(
  path: string,
  level: GraphLevel,
  save?: { graph: string; weightsName: string },
): Promise<InferenceSession> {
  const saving = {
    optimized_model_external_initializers_file_name: save?.weightsName ?? '',
    optimized_model_external_initializers_min_size_in_bytes: '16384',
    save_external_prepacked_constant_initializers: '1',
  }
  const session = { model_external_initializers_file_folder_path: dirname(path), ...(save !== undefined && saving) }
  return InferenceSession.create(mappedModel(path), {
    ...options,
    graphOptimizationLevel: level,
    ...(save !== undefined && { optimizedModelFilePath: save.graph }),
    extra: { session },
  })
}

/** A model as it was written down, with the weights as this processor wants them: they are mapped, not copied. */
export function openPacked(graph: string): Promise<InferenceSession> {
  return InferenceSession.create(graph, { ...options, graphOptimizationLevel: 'disabled' })
}

/** As it was packed, where that is there and still says what it said; else as it was shipped. No folder: as shipped. */
export async function openModel(path: string, level: GraphLevel, packedFolder: string): Promise<InferenceSession> {
  if (packedFolder === '') return openShipped(path, level)
  const { graph, said } = packedFiles(packedFolder, path)
  try {
    const packed = await openPacked(graph)
    if ((await readFile(said)).equals(await probeModel(packed))) return packed
    await packed.release()
  } catch {
    // Damaged or gone: what was shipped is there.
  }
  return openShipped(path, level)
}

export function feedsOf(ids: BigInt64Array, types: BigInt64Array): Record<string, Tensor> {
  const shape = [1, ids.length]
  return {
    input_ids: new Tensor('int64', ids, shape),
    attention_mask: new Tensor('int64', new BigInt64Array(ids.length).fill(1n), shape),
    token_type_ids: new Tensor('int64', types, shape),
  }
}

const probedTokens = 32
/** A reader takes those after so many for a card. */
const probedQuestion = 12

/** The model's output for a fixed text, bit by bit: two that agree are the same model. */
export async function probeModel(session: InferenceSession): Promise<Buffer> {
  const ids = BigInt64Array.from({ length: probedTokens }, (_, at) => BigInt(1_000 + at * 797))
  const output = await session.run(feedsOf(ids, new BigInt64Array(probedTokens).fill(1n, probedQuestion)))
  const states = Object.keys(output)
    .sort()
    .map((name) => output[name]?.data)
  return Buffer.concat(
    states.map((data) =>
      data instanceof Float32Array ? Buffer.from(data.buffer, data.byteOffset, data.byteLength) : Buffer.alloc(0),
    ),
  )
}
