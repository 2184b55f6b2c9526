import { Worker } from 'node:worker_threads'
import { programBeside } from '../../process/index.ts'
import { Failure } from '../../failure.ts'
import type { EntitySchema } from '../../rows/index.ts'
import { refusal } from './imported.ts'
import type { DocumentImport, ImportAsked } from './read-import.ts'

/** The metadata of an OData service, of which one entity is wanted. */
export type MetadataAsked = { metadata: Uint8Array; entitySet: string }
export type Read<Found> = { found: Found } | { refused: string; field: string }

export function importApart(asked: ImportAsked, timeoutMs: number): Promise<DocumentImport> {
  return readApart<DocumentImport>(asked, timeoutMs)
}

export function entityApart(asked: MetadataAsked, timeoutMs: number): Promise<EntitySchema | null> {
  return readApart<EntitySchema | null>(asked, timeoutMs)
}

const readersAtOnce = 2
const readerMegabytes = 512
let reading = 0

/** In a thread of its own: a document of megabytes, or one made to take long, must not hold up other callers. */
async function readApart<Found>(asked: ImportAsked | MetadataAsked, timeoutMs: number): Promise<Found> {
  if (reading >= readersAtOnce) {
    throw new Failure('overloaded', {
      message: 'Other documents are being read. Try again in a moment.',
      retryAfterSeconds: 2,
    })
  }
  reading += 1
  const worker = new Worker(programBeside(import.meta.url, 'worker'), {
    workerData: asked,
    resourceLimits: { maxOldGenerationSizeMb: readerMegabytes },
  })
  try {
    const read = await new Promise<Read<Found>>((resolve, reject) => {
      const late = setTimeout(
        () => resolve({ refused: 'The document takes too long to read', field: 'text' }),
        timeoutMs,
      )
      worker.once('message', resolve)
      worker.once('error', () => resolve({ refused: 'The document is too large, or cannot be read', field: 'text' }))
      worker.once('exit', (code) => reject(new Error(`The reader of documents ended with ${code} and no answer`)))
      worker.once('exit', () => clearTimeout(late))
    })
    if ('refused' in read) throw refusal(read.refused, read.field)
    return read.found
  } finally {
    reading -= 1
    await worker.terminate()
  }
}
