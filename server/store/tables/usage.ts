import type { savedView } from '../../../api/usage.ts'
import type { Value } from '../../../api/wire-codec.ts'
import type { AlertType } from '../../../api/alerts.ts'
import type { Generated } from 'kysely'
import type { CreatedAt, Json } from './columns.ts'

export type UsageTables = {
  requestBatches: RequestBatchesTable
  usageRollups: UsageRollupsTable
  usageProgress: UsageProgressTable
  usageQuestions: UsageQuestionsTable
  alerts: AlertsTable
  alertChannels: AlertChannelsTable
  alertEvents: AlertEventsTable
  alertDeliveries: AlertDeliveriesTable
  alertRounds: AlertRoundsTable
  notificationChannels: NotificationChannelsTable
  savedViews: SavedViewsTable
}

type RequestBatchesTable = {
  start: Date
  projectId: string
  environment: string | null
  query: string | null
  version: number | null
  entry: string
  keyId: string | null
  status: number
  error: string | null
  reason: string | null
  cache: string | null
  ids: string[]
  afterMs: number[]
  totalUs: number[]
  sqlUs: number[]
  rows: number[]
  bytes: number[]
  routeUs: number | null
  question: string | null
  confidence: number | null
}

type UsageRollupsTable = {
  projectId: string
  grain: string
  start: Date
  writer: number
  environment: string
  query: string
  version: number
  keyId: string
  entry: string
  status: number
  error: string
  reason: string
  cache: string
  calls: number
  totalMs: number
  sqlMs: number
  rows: number
  bytes: number
  buckets: number[]
  counts: number[]
}

type UsageQuestionsTable = {
  projectId: string
  start: Date
  environment: string
  query: string
  keyId: string
  reason: string
  refused: boolean
  question: string
  same: string
  calls: number
  lastAt: Date
}

type UsageProgressTable = {
  grain: string
  until: Date
}

type AlertsTable = {
  id: string
  projectId: string
  name: string
  type: AlertType
  threshold: number | null
  resolveThreshold: number | null
  windowMinutes: number
  forMinutes: number
  minRequests: number
  remindMinutes: number | null
  environment: string | null
  query: string | null
  enabled: Generated<boolean>
  state: Generated<'ok' | 'firing'>
  value: number | null
  pendingSince: Date | null
  startedAt: Date | null
  notifiedAt: Date | null
  evaluatedAt: Date | null
  createdAt: CreatedAt
  createdBy: string | null
  deletedAt: Date | null
  silencedUntil: Date | null
  silencedBy: string | null
  silencedReason: string | null
  unannounced: Generated<boolean>
}

export type ChannelType = 'webhook' | 'email' | 'slack'

type AlertChannelsTable = {
  id: string
  alertId: string
  position: number
  type: ChannelType
  target: string
  sealedSecrets: Buffer | null
  removedAt: Date | null
  sharedId: string | null
}

type AlertEventsTable = {
  id: string
  alertId: string
  at: Date
  kind: 'firing' | 'resolved' | 'reminder' | 'test'
  value: number | null
  threshold: number | null
  message: Json<Record<string, unknown>>
  silenced: Generated<boolean>
}

type AlertDeliveriesTable = {
  id: string
  eventId: string
  alertId: string
  channelId: string
  channelType: ChannelType
  target: string
  status: 'pending' | 'delivered' | 'failed'
  attempt: Generated<number>
  createdAt: Date
  nextAttemptAt: Date | null
  finishedAt: Date | null
  responseStatus: number | null
  error: string | null
}

type NotificationChannelsTable = {
  id: string
  projectId: string
  name: string
  type: ChannelType
  target: string
  sealedSecrets: Buffer | null
  testedAt: Date | null
  testError: string | null
  createdAt: CreatedAt
  createdBy: string
}

type SavedViewsTable = {
  id: string
  projectId: string
  userId: string | null
  page: Value<typeof savedView>['page']
  name: string
  filter: Json<Record<string, string>>
  createdAt: CreatedAt
  createdBy: string
}

type AlertRoundsTable = {
  onlyRow: Generated<boolean>
  evaluatedAt: Date
}
