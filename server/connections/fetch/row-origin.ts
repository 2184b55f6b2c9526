import type { LiveData } from '../../data/index.ts'
import type { CallLimits, WrittenTable } from '../../engine/index.ts'
import type { BuiltFrom } from '../../store/index.ts'
import type { RequestOrigin } from '../apis/shared-apis.ts'

/** Where rows come from: an API that is called, a file that somebody sent, or other tables. */
export type RowOrigin = RequestOrigin | FileOrigin | BuiltOrigin
/** Rows that are made of what is here: the room above makes them, and says of what. */
export type BuiltOrigin = {
  kind: 'built'
  /** The statement, as the record of the version names it. */
  statement: object
  builtFrom: BuiltFrom[]
  /** The version that its rows may join; null where they take the place of all, whatever the mode. */
  joins: number | null
  /** Writes the rows to a path. `base`: the version that they join; null where they take the place of all. */
  write(path: string, base: LiveData | null, limits: CallLimits): Promise<WrittenTable>
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
