import { parentPort, workerData } from 'node:worker_threads'
import { Failure } from '../../failure.ts'
import { odataSchema } from '../../rows/index.ts'
import type { MetadataAsked, Read } from './read-apart.ts'
import { readImport, type ImportAsked } from './read-import.ts'

function read(asked: ImportAsked | MetadataAsked): Read<unknown> {
  try {
    const isMetadata = 'metadata' in asked
    return {
      found: isMetadata ? odataSchema(Buffer.from(asked.metadata).toString(), asked.entitySet) : readImport(asked),
    }
  } catch (error) {
    const [detail] = error instanceof Failure ? (error.details ?? []) : []
    return { refused: detail?.message ?? 'The document cannot be read', field: detail?.field ?? 'text' }
  }
}

parentPort?.postMessage(read(workerData as ImportAsked | MetadataAsked))
