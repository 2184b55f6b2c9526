import { readDocument } from './document.ts'
import { readHar } from './har.ts'
import {
  checked,
  isRecord,
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
  kind: 'openapi' | 'postman' | 'har'
  operations: Operation[]
  /** There are more than are listed. */
  truncated: boolean
  connection: Imported | null
}

const maxOperations = 2_000

export type ImportAsked = {
  source: string
  /** Where the document came from; null where it was pasted. */
  address: string | null
  operation: string | null
}

/** What a document offers, and one operation of it as a connection. The document is read, never followed. */
export function readImport({ source, address, operation }: ImportAsked): DocumentImport {
  const document = readDocument(source)
  const { kind, reader } = readerOf(document, address)
  const operations = reader.operations.slice(0, maxOperations)
  const truncated = reader.operations.length > maxOperations
  if (operation === null) return { kind, operations, truncated, connection: null }
  const taken = reader.take(operation)
  if (taken === null) throw refusal(`The document has no operation ${operation.slice(0, 200)}`, 'operation')
  return { kind, operations, truncated, connection: checked(taken) }
}

function readerOf(document: Fields, address: string | null): { kind: DocumentImport['kind']; reader: DocumentReader } {
  if ('openapi' in document || 'swagger' in document) return { kind: 'openapi', reader: readOpenapi(document, address) }
  if (isRecord(document['log']) && Array.isArray(document['log']['entries']))
    return { kind: 'har', reader: readHar(document) }
  // An export of Postman's API holds the collection one level down.
  const collection = Array.isArray(document['item']) ? document : record(document['collection'])
  if (Array.isArray(collection['item'])) return { kind: 'postman', reader: readPostman(collection) }
  throw refusal('The document is no OpenAPI document, Postman collection or HAR file')
}
