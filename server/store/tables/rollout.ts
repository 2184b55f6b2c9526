import type { Generated } from 'kysely'
import type { CreatedAt, Json } from './columns.ts'

export type RolloutTables = {
  replaySettings: ReplaySettingsTable
  recordedCalls: RecordedCallsTable
  replays: ReplaysTable
  replayCalls: ReplayCallsTable
}

type ReplaySettingsTable = {
  projectId: string
  recording: boolean
  maxCalls: number
  days: number
  redactedSlots: string[]
  updatedAt: Date
  updatedBy: string
}

type RecordedCallsTable = {
  id: string
  projectId: string
  environment: string
  queryId: string
  version: number
  keyId: string | null
  at: Date
  times: number
  sealedParameters: Buffer
  requestIds: Generated<string[]>
  failed: Generated<boolean>
}

export type ReplayKind = 'replay' | 'canary' | 'shadow'
export type ReplayStatus = 'running' | 'finished' | 'stopped'
export type ReplayOutcome = 'equal' | 'reordered' | 'different' | 'failed' | 'unstable' | 'skipped'

/** Outcomes of one query's calls. */
export type ReplayCounts = Record<ReplayOutcome, number> & {
  /** Not run for want of room. */
  dropped: number
  beforeMs: number
  afterMs: number
  beforeBytes: number
  afterBytes: number
  /** Columns with another value, each with the number of calls in which it has. */
  columns: Record<string, number>
}

/** Report of a replay, as people read it. Times as text where it is kept as JSON. */
export type ReplayReport = ReplayFigures & {
  id: string
  environment: string
  kind: ReplayKind
  releaseId: string | null
  jobId: string | null
  status: ReplayStatus
  /** How many calls there were to run. */
  recorded: number | null
  summary: string
  queries: Array<{ name: string } & ReplayFigures>
  createdAt: Date | string
  createdBy: string
  finishedAt: Date | string | null
}

type ReplayFigures = ReplayCounts & { calls: number }

type ReplaysTable = {
  id: string
  projectId: string
  environment: string
  kind: ReplayKind
  releaseId: string | null
  jobId: string | null
  status: ReplayStatus
  /** Versions that are compared, by query. */
  plan: Json<unknown>
  /** How many calls were found to run; null where they come as they are made. */
  total: number | null
  counts: Json<Record<string, ReplayCounts>>
  createdAt: CreatedAt
  createdBy: string
  finishedAt: Date | null
}

type ReplayCallsTable = {
  id: string
  replayId: string
  query: string
  outcome: ReplayOutcome
  beforeVersion: number
  afterVersion: number | null
  calledAt: Date
  keyId: string | null
  sealedDetails: Buffer
}
