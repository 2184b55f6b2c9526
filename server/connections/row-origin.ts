import type { ForEach, HttpConfiguration, Pagination } from '../../api/connections.ts'

/** Where rows come from: an API that is called, or a file that somebody sent. */
export type RowOrigin = RequestOrigin | FileOrigin
export type RequestOrigin = {
  kind: 'request'
  configuration: HttpConfiguration
  pagination?: Pagination | undefined
  forEach?: ForEach | undefined
}
export type FileOrigin = {
  kind: 'file'
  path: string
  sizeBytes: number
  digest: string
  filename: string | undefined
  contentType: string | undefined
  extractor: string | undefined
  /** The table has no request of its own. */
  isOnlyByFile: boolean
}
