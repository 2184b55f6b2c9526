import type { AlertType } from '../../../api/alerts.ts'
import type { Generated } from 'kysely'
import type { CreatedAt, Json } from './columns.ts'

export type UsageTables = {
  request_batches: RequestBatchesTable
  usage_rollups: UsageRollupsTable
  usage_progress: UsageProgressTable
  usage_questions: UsageQuestionsTable
  alerts: AlertsTable
  alert_channels: AlertChannelsTable
  alert_events: AlertEventsTable
  alert_deliveries: AlertDeliveriesTable
  alert_rounds: AlertRoundsTable
}

type RequestBatchesTable = {
  start: Date
  project_id: string
  environment: string | null
  query: string | null
  version: number | null
  entry: string
  key_id: string | null
  status: number
  error: string | null
  reason: string | null
  cache: string | null
  ids: string[]
  after_ms: number[]
  total_us: number[]
  sql_us: number[]
  rows: number[]
  bytes: number[]
  route_us: number | null
  question: string | null
  confidence: number | null
}

type UsageRollupsTable = {
  project_id: string
  grain: string
  start: Date
  writer: number
  environment: string
  query: string
  version: number
  key_id: string
  entry: string
  status: number
  error: string
  reason: string
  cache: string
  calls: number
  total_ms: number
  sql_ms: number
  rows: number
  bytes: number
  buckets: number[]
  counts: number[]
}

type UsageQuestionsTable = {
  project_id: string
  start: Date
  environment: string
  query: string
  key_id: string
  reason: string
  refused: boolean
  question: string
  same: string
  calls: number
  last_at: Date
}

type UsageProgressTable = {
  grain: string
  until: Date
}

type AlertsTable = {
  id: string
  project_id: string
  name: string
  type: AlertType
  threshold: number | null
  resolve_threshold: number | null
  window_minutes: number
  for_minutes: number
  min_requests: number
  remind_minutes: number | null
  environment: string | null
  query: string | null
  enabled: Generated<boolean>
  state: Generated<'ok' | 'firing'>
  value: number | null
  pending_since: Date | null
  started_at: Date | null
  notified_at: Date | null
  evaluated_at: Date | null
  created_at: CreatedAt
  created_by: string | null
  deleted_at: Date | null
}

export type ChannelType = 'webhook' | 'email' | 'slack'

type AlertChannelsTable = {
  id: string
  alert_id: string
  position: number
  type: ChannelType
  target: string
  sealed_secrets: Buffer | null
  removed_at: Date | null
}

type AlertEventsTable = {
  id: string
  alert_id: string
  at: Date
  kind: 'firing' | 'resolved' | 'reminder' | 'test'
  value: number | null
  threshold: number | null
  message: Json<Record<string, unknown>>
}

type AlertDeliveriesTable = {
  id: string
  event_id: string
  alert_id: string
  channel_id: string
  channel_type: ChannelType
  target: string
  status: 'pending' | 'delivered' | 'failed'
  attempt: Generated<number>
  created_at: Date
  next_attempt_at: Date | null
  finished_at: Date | null
  response_status: number | null
  error: string | null
}

type AlertRoundsTable = {
  only_row: Generated<boolean>
  evaluated_at: Date
}
