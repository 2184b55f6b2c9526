import { Worker } from 'node:worker_threads'
import { type FailureCode } from '../../../api/failures.ts'
import { Failure, type FailureDetail } from '../../failure.ts'
import { type Normalised, type NormaliseOptions } from './normalise.ts'

export type WorkerTask = {
  inputPath: string
  outputPath: string
  options: Omit<NormaliseOptions, 'signal' | 'append'>
}

type PlainFailure = {
  code: FailureCode
  reason: string | undefined
  message: string
  details: FailureDetail[] | undefined
}
export type WorkerAnswer = { ok: Normalised } | { failure: PlainFailure } | { fault: unknown }

const heapMegabytes = 64
/** Rows pass through and die young; a large nursery would only hold more of them. */
const youngHeapMegabytes = 8

/** `normalise` on a thread of its own, so that a large answer delays nobody else. */
export async function normaliseInWorker(
  inputPath: string,
  outputPath: string,
  { signal, ...options }: Omit<NormaliseOptions, 'append'>,
): Promise<Normalised> {
  signal?.throwIfAborted()
  const task: WorkerTask = { inputPath, outputPath, options }
  const worker = new Worker(new URL('normalise-worker.ts', import.meta.url), {
    workerData: task,
    resourceLimits: { maxOldGenerationSizeMb: heapMegabytes, maxYoungGenerationSizeMb: youngHeapMegabytes },
  })
  const abort = () => void worker.terminate()
  signal?.addEventListener('abort', abort, { once: true })
  try {
    const answer = await new Promise<WorkerAnswer>((resolve, reject) => {
      worker.once('message', resolve)
      worker.once('error', (error) => reject(isOutOfMemory(error) ? tooManifold() : error))
      worker.once('exit', () => reject(signal?.reason ?? new Error('The thread ended without an answer.')))
    })
    if ('ok' in answer) return answer.ok
    if ('fault' in answer) throw answer.fault
    throw revived(answer.failure)
  } finally {
    signal?.removeEventListener('abort', abort)
    await worker.terminate()
  }
}

function revived({ code, reason, message, details }: PlainFailure): Failure {
  const options = { message, ...(details === undefined ? {} : { details }) }
  // The reason was checked against the table where the failure was made.
  return new Failure(code, { ...options, ...(reason === undefined ? {} : { reason: reason as never }) })
}

function isOutOfMemory(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY'
}

function tooManifold(): Failure {
  return new Failure('upstream_error', {
    reason: 'not_tabular',
    message:
      'The answer has too many different keys to be a table. Point responsePathExtractor at the list of rows inside it.',
  })
}
