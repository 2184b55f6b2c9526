import { parentPort, workerData } from 'node:worker_threads'
import { Failure } from '../../failure.ts'
import { readImport, type ImportAsked, type DocumentImport } from './read-import.ts'

export type Read = { found: DocumentImport } | { refused: string; field: string }

function read(asked: ImportAsked): Read {
  try {
    return { found: readImport(asked) }
  } catch (error) {
    const [detail] = error instanceof Failure ? (error.details ?? []) : []
    return { refused: detail?.message ?? 'The document cannot be read', field: detail?.field ?? 'text' }
  }
}

parentPort?.postMessage(read(workerData as ImportAsked))
