import type { AlertType } from '../../../../api/alerts.ts'
import type { ChannelType } from '../../../store/index.ts'

export type Alert = {
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
  enabled: boolean
  state: 'ok' | 'firing'
  value: number | null
  pendingSince: Date | null
  startedAt: Date | null
  notifiedAt: Date | null
  evaluatedAt: Date | null
  createdAt: Date
  /** Until then nobody is told. */
  silencedUntil: Date | null
  silencedBy: string | null
  silencedReason: string | null
  /** It fires, and nobody was told: it was silenced then. */
  unannounced: boolean
}

/**
 * A way to tell people. What is secret of it is shown once, where it was made. `shared`: the channel of the project that
 * it stands for.
 */
export type Channel = {
  id: string
  type: ChannelType
  target: string
  secret?: string
  shared: { id: string; name: string } | null
}

export type EventKind = 'firing' | 'resolved' | 'reminder' | 'test'

/** What goes out, in wire names. */
export type Message = {
  type: 'alert.firing' | 'alert.resolved' | 'alert.test'
  timestamp: string
  data: {
    /** Null in the test of a channel that is no alert's own. */
    alert_id: string | null
    name: string
    state: 'ok' | 'firing'
    value: number | null
    threshold: number | null
    project_id: string
    environment: string | null
    query: string | null
    started_at: string | null
    alert_type: AlertType | null
    reminder?: true
  }
}

export const alertColumns = [
  'id',
  'projectId',
  'name',
  'type',
  'threshold',
  'resolveThreshold',
  'windowMinutes',
  'forMinutes',
  'minRequests',
  'remindMinutes',
  'environment',
  'query',
  'enabled',
  'state',
  'value',
  'pendingSince',
  'startedAt',
  'notifiedAt',
  'evaluatedAt',
  'createdAt',
  'silencedUntil',
  'silencedBy',
  'silencedReason',
  'unannounced',
] as const

/** What was measured; `enough`: there was traffic enough to judge by. */
export type Measured = { value: number; enough: boolean }

export type Verdict = Pick<Alert, 'state' | 'pendingSince' | 'startedAt' | 'notifiedAt'> & { event: EventKind | null }

export function messageOf(alert: Alert, verdict: Pick<Verdict, 'state' | 'startedAt'>, event: MessageEvent): Message {
  const { kind, value, at } = event
  const type = kind === 'resolved' ? 'alert.resolved' : kind === 'test' ? 'alert.test' : 'alert.firing'
  return {
    type,
    timestamp: at.toISOString(),
    data: {
      alert_id: alert.id,
      name: alert.name,
      state: verdict.state,
      value,
      threshold: alert.threshold,
      project_id: alert.projectId,
      environment: alert.environment,
      query: alert.query,
      // Of what is over, too: when it began.
      started_at: (verdict.startedAt ?? alert.startedAt)?.toISOString() ?? null,
      alert_type: alert.type,
      ...(kind === 'reminder' && { reminder: true as const }),
    },
  }
}

type MessageEvent = { kind: EventKind; value: number | null; at: Date }
