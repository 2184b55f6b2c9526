import type { Chart } from '../../../api/queries.ts'
import type { KeyCaller } from '../../access/index.ts'
import type { Clock } from '../../clock.ts'
import type { Config } from '../../config.ts'
import type { Catalogs } from '../../data/index.ts'
import type { Column, QueryEngine } from '../../engine/index.ts'
import type { Lookups } from '../../lookups/index.ts'
import type { Observe } from '../../observe.ts'
import type { LiveVersion } from '../deployed/deployment-index.ts'
import type { Answer, Answers, IncompleteSource } from './answers.ts'
import type { CallWatch } from './call-watch.ts'
import type { QueryCallers } from './callers.ts'
import type { CallRecord } from './record.ts'
import type { UnknownValues } from './unknown-values.ts'

/** Everything that one run of a query needs; who asks has been checked by whoever found the version. */
export type Run = {
  projectId: string
  /** Null for a draft. */
  environment: string | null
  /** Empty for SQL that nobody has given one. */
  name: string
  version: LiveVersion
  parameters: Readonly<Record<string, unknown>>
  /** Null for a preview, which no key pays for. */
  caller: KeyCaller | null
  requestId: string | null
  entry: 'direct' | 'question' | 'tool' | 'preview'
  /** The question that led here, if one did. */
  question?: CallRecord['question']
  /** The note of its answer: that it leaves out a part of the question. */
  caveat?: 'unexpressed' | undefined
  routeMs?: number | undefined
  /** Asks for a new execution whatever is kept. */
  fresh?: boolean
  /** Asked for when something is to be stopped: an answer that is there needs none. */
  signal?: (() => AbortSignal) | undefined
}

export type CacheState = 'hit' | 'miss' | 'bypass'

export type RunAnswer = {
  projectId: string
  name: string
  answer: Answer
  parameters: Record<string, unknown>
  /** As its author draws it; null: as its columns and rows suggest. */
  chart: Chart | null
  /** Null where the query keeps no answers. */
  cache: CacheState | null
  /** Values of the call that no row has. */
  unknown?: UnknownValues
}

export type StreamAnswer = {
  projectId: string
  name: string
  columns: Column[]
  parameters: Record<string, unknown>
  chart: Chart | null
  version: number
  asOf: Date | null
  source: IncompleteSource | null
  cache: CacheState | null
  /** Left out where it shows only at the end. */
  sizeBytes?: number | undefined
  /** Ends after the last row or throws; leaving the loop stops the query. */
  chunks: AsyncIterable<{ bytes: Buffer; rowCount: number }>
  /** Known once `chunks` has ended. */
  end: () => { rowCount: number; truncated: boolean; elapsedMs: number }
  /** Values of the call that no row has, to be asked for where no row came; left out where none can be. */
  findUnknown?: () => Promise<UnknownValues | null>
}

export type RunParts = {
  engine: QueryEngine
  catalogs: Catalogs
  answers: Answers
  lookups: Lookups
  queryCallers: QueryCallers
  callWatch: CallWatch
  observe: Observe
  config: Config
  now: Clock
}
