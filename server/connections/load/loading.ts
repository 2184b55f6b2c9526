import type { Transaction } from 'kysely'
import type { Vault } from '../../access/index.ts'
import type { Catalogs, FetchedVersion, QueryGate, TableModels } from '../../data/index.ts'
import type { QueryEngine, TableBuilder } from '../../engine/index.ts'
import type { Files } from '../../files/index.ts'
import type { JobRecord, Jobs } from '../../jobs/index.ts'
import type { BuiltFrom, CursorValue, Database, HeldBecause, LoadWarning, Tables } from '../../store/index.ts'
import type { Loaded } from '../fetch/download.ts'
import type { RowOrigin } from '../fetch/row-origin.ts'
import type { Turn } from './load-turns.ts'
import type { Paces } from '../outbound/pace.ts'
import type { Outbound } from '../outbound/send.ts'
import type { TokenSource } from '../oauth/token-source.ts'
import type { Config } from '../../config.ts'
import type { Clock } from '../../clock.ts'

export type IngestApp = {
  store: Database
  files: Files
  engine: QueryEngine
  builder: TableBuilder
  jobs: Jobs
  outbound: Outbound
  tokens: TokenSource
  paces: Paces
  config: Config
  now: Clock
  catalogs: Catalogs
  queryGate: QueryGate
  models: TableModels
  vault: Vault
}

export type Ingested = {
  jobs: JobRecord[]
  dataObjectId: string
  truncated: boolean
  /** Why the data does not serve yet; null where it does. */
  heldBecause: HeldBecause | null
  warnings: LoadWarning[]
}

export type LoadInput = {
  projectId: string
  datasourceId: string
  from: RowOrigin
  /** Takes the place of what is there, whatever the mode. */
  full?: boolean | undefined
  /** `http_api` when someone asked for it, `schedule` when the clock did, `file` when it was sent, `data_changed` when a
   * table that it is built from did. */
  eventType: 'http_api' | 'schedule' | 'file' | 'data_changed'
  /** Background load: it may take long, reports its progress, and goes on after a failure. */
  background?: { job: JobRecord; progress: (loaded: Loaded) => void } | undefined
  /** May take as long as a background load, without a job's checkpoints. */
  isLong?: boolean
  /** The right to fetch this datasource now, while nobody else does. */
  turn: Turn
  /** Joins the transaction that stores the data: before it, to register the datasource. */
  before?: (transaction: Transaction<Tables>) => Promise<void>
  /** Joins it at the end, with the answer. */
  after?: (transaction: Transaction<Tables>, ingested: Ingested) => Promise<void>
}

/** The API says, or shows, that what it has is here already; the cursor may still have moved. */
export type Unchanged = { lastValue: CursorValue | null; warnings: LoadWarning[]; builtFrom?: BuiltFrom[] }

/** The outcome of a load before it counts. */
export type LoadOutcome = FetchedVersion | Unchanged
