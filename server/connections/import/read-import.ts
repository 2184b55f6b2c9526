import { charsetOf } from '../../rows/index.ts'
import { readDocument } from './document.ts'
import {
  checked,
  notImportable,
  record,
  refusal,
  type Imported,
  type Fields,
  type Operation,
  type DocumentReader,
} from './imported.ts'
import { readOpenapi } from './openapi.ts'
import { readPostman } from './postman.ts'

export type DocumentImport = {
  kind: 'openapi' | 'postman'
  operations: Operation[]
  /** There are more than are listed. */
  truncated: boolean
  connection: Imported | null
}

const maxOperations = 2_000
/** As long as the id of an operation may be. */
const maxChars = 1_000
const maxSummaryChars = 300

/** A document that was pasted, or as it came. */
export type DocumentSource = { text: string } | { bytes: Uint8Array; contentType: string | undefined }

export type ImportAsked = {
  source: DocumentSource
  /** Where the document came from; null where it was pasted. */
  address: string | null
  operation: string | null
}

/** Operations of a document, and one of them as a connection. The document is read, never followed. */
export function readImport({ source, address, operation }: ImportAsked): DocumentImport {
  const document = readDocument('text' in source ? source.text : decoded(source))
  const { kind, reader } = readerOf(document, address)
  // Those that cannot be asked for by their id are not offered.
  const offered = reader.operations.filter(({ id }) => id.length <= maxChars)
  const operations = offered.slice(0, maxOperations).map(({ id, method, url, summary }) => {
    return { id, method, url: url.slice(0, maxChars), summary: summary.slice(0, maxSummaryChars) }
  })
  const truncated = reader.operations.length > operations.length
  if (operation === null) return { kind, operations, truncated, connection: null }
  const taken = reader.take(operation)
  if (taken === null) throw refusal(`The document has no operation ${operation.slice(0, 200)}`, 'operation')
  return { kind, operations, truncated, connection: checked(taken) }
}

function decoded({ bytes, contentType }: Extract<DocumentSource, { bytes: Uint8Array }>): string {
  return new TextDecoder(charsetOf(contentType, bytes) ?? 'utf-8').decode(bytes)
}

function readerOf(document: Fields, address: string | null): { kind: DocumentImport['kind']; reader: DocumentReader } {
  if ('openapi' in document || 'swagger' in document) return { kind: 'openapi', reader: readOpenapi(document, address) }
  // An export of Postman's API holds the collection one level down.
  const collection = Array.isArray(document['item']) ? document : record(document['collection'])
  if (Array.isArray(collection['item'])) return { kind: 'postman', reader: readPostman(collection) }
  throw refusal(notImportable)
}
