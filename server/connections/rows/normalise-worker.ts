import { parentPort, workerData } from 'node:worker_threads'
import { Failure } from '../../failure.ts'
import { normalise } from './normalise.ts'
import { type WorkerAnswer, type WorkerTask } from './normalise-in-worker.ts'

/** The body of the thread: one task, one answer. A Failure crosses as plain data, since classes do not. */
async function answer(task: WorkerTask): Promise<WorkerAnswer> {
  try {
    return { ok: await normalise(task.inputPath, task.outputPath, task.options) }
  } catch (error) {
    if (!(error instanceof Failure)) return { fault: error }
    const { code, reason, message, details } = error
    return { failure: { code, reason, message, details } }
  }
}

parentPort?.postMessage(await answer(workerData as WorkerTask), [])
