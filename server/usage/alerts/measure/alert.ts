import type { Selectable } from 'kysely'
import type { AlertType } from '../../../../api/alerts.ts'
import type { ChannelType, Tables } from '../../../store/index.ts'

/** `silencedUntil`: nobody is notified before. `unannounced`: it fires, and was silenced when it began. */
export type Alert = Omit<Selectable<Tables['alerts']>, 'createdBy' | 'deletedAt'>

/**
 * A way to notify people. Its secret is shown once, when it is made. `shared`: the channel of the project that it
 * stands for.
 */
export type Channel = {
  id: string
  type: ChannelType
  target: string
  secret?: string
  shared: { id: string; name: string } | null
}

export type EventKind = 'firing' | 'resolved' | 'reminder' | 'test'

/** The message of a webhook, in wire names. */
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

/** A measurement; `enough`: there was traffic enough to judge by. */
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
      // A resolved alert has it, too: when it began.
      started_at: (verdict.startedAt ?? alert.startedAt)?.toISOString() ?? null,
      alert_type: alert.type,
      ...(kind === 'reminder' && { reminder: true as const }),
    },
  }
}

type MessageEvent = { kind: EventKind; value: number | null; at: Date }
