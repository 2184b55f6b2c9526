import type { Value } from '../../../api/wire-codec.ts'
import type { alertPreview } from '../../../api/alerts.ts'
import { requireRole, type Caller } from '../../access/index.ts'
import type { Clock } from '../../clock.ts'
import type { Config } from '../../config.ts'
import type { Database } from '../../store/index.ts'
import type { Usage } from '../record/record.ts'
import type { Alert } from './measure/alert.ts'
import { alertTypeOf } from './measure/alert-types.ts'
import type { History, PastSpan } from './measure/past.ts'
import { judgeAlert } from './measure/judge-alert.ts'
import type { AlertRules } from './manage.ts'
import type { Alerts } from './open-alerts.ts'
import { checkRules } from './rules.ts'

type Parts = { store: Database; usage: Usage; alerts: Alerts; config: Pick<Config, 'limits'>; now: Clock }

type Firing = { startedAt: Date; endedAt: Date | null; worst: number }
type AlertPreview = Value<typeof alertPreview>

const minuteMs = 60_000
const dayMs = 1_440 * minuteMs
const maxFirings = 50

/** Firings that an alert with these rules would have had, judged once a minute. */
export async function previewAlert(
  app: Parts,
  caller: Caller,
  { projectId, days, ...rules }: AlertRules & { projectId: string; days: number },
): Promise<AlertPreview> {
  await requireRole(app, caller, projectId, 'viewer')
  await checkRules(app, projectId, rules)
  await app.usage.flush()
  const toMs = Math.floor(app.now() / minuteMs) * minuteMs + minuteMs
  const span = { fromMs: toMs - days * dayMs, toMs }
  const alert = freshAlert(projectId, rules)
  const { store, alerts, config } = app
  const measuring = { store, sources: alerts.sources }
  const past = await alertTypeOf(alert.type).past(measuring, alert, span)
  const keptFromMs = 'retention' in past ? app.now() - config.limits[past.retention] * dayMs : past.knownFromMs
  const knownFromMs = Math.min(Math.max(keptFromMs, span.fromMs), span.toMs)
  const { firings, judgedMinutes, value } = simulate(alert, past.measure, { ...span, knownFromMs })
  return {
    from: new Date(span.fromMs),
    to: new Date(span.toMs),
    knownFrom: new Date(knownFromMs),
    judgedMinutes,
    fired: firings.length,
    firings: firings.toReversed().slice(0, maxFirings),
    value,
  }
}

type Simulated = { firings: Firing[]; judgedMinutes: number; value: number | null }

function simulate(start: Alert, history: History, span: PastSpan & { knownFromMs: number }): Simulated {
  const { good } = alertTypeOf(start.type)
  const firings: Firing[] = []
  const alert = { ...start }
  let judgedMinutes = 0
  let value: number | null = null
  for (let minute = 0, endMs = span.fromMs + minuteMs; endMs <= span.toMs; minute += 1, endMs += minuteMs) {
    const measured = history(alert, minute)
    if (endMs <= span.knownFromMs) continue
    const at = new Date(endMs)
    const { event, ...verdict } = judgeAlert(alert, measured, at)
    Object.assign(alert, verdict)
    value = measured.enough ? measured.value : null
    if (measured.enough) judgedMinutes += 1
    const last = firings.at(-1)
    if (event === 'firing') firings.push({ startedAt: at, endedAt: null, worst: measured.value })
    else if (event === 'resolved' && last !== undefined) last.endedAt = at
    else if (alert.state === 'firing' && last !== undefined && measured.enough) {
      last.worst = good === 'below' ? Math.max(last.worst, measured.value) : Math.min(last.worst, measured.value)
    }
  }
  return { firings, judgedMinutes, value }
}

function freshAlert(projectId: string, rules: AlertRules): Alert {
  const none = { value: null, pendingSince: null, startedAt: null, notifiedAt: null, evaluatedAt: null }
  const silence = { silencedUntil: null, silencedBy: null, silencedReason: null, unannounced: false }
  const fixed = { id: '', name: '', enabled: true, state: 'ok' as const, createdAt: new Date(0) }
  return { ...rules, projectId, ...none, ...silence, ...fixed }
}
