import { requireRole, type Caller } from '../../access/index.ts'
import type { AlertType } from '../../../api/alerts.ts'
import type { Clock } from '../../clock.ts'
import type { Config } from '../../config.ts'
import { failedJobTimes } from '../../jobs/index.ts'
import type { Database } from '../../store/index.ts'
import type { Usage } from '../record/record.ts'
import type { Alert } from './measure/alert.ts'
import { alertTypeOf } from './measure/alert-types.ts'
import { countedHistory, latencyHistory, readMinutes, type History, type AlertPast, type PastSpan } from './past.ts'
import { dataPast } from './measure/past-data.ts'
import { judgeAlert } from './measure/judge-alert.ts'
import type { AlertRules } from './manage.ts'
import type { Alerts } from './open-alerts.ts'
import { checkRules } from './rules.ts'

type Parts = { store: Database; usage: Usage; alerts: Alerts; config: Pick<Config, 'limits'>; now: Clock }

type Firing = { startedAt: Date; endedAt: Date | null; worst: number }
type AlertPreview = {
  from: Date
  to: Date
  /** Before it nothing is known, and nothing was judged. */
  knownFrom: Date
  /** How many minutes had enough to be judged by. */
  judgedMinutes: number
  fired: number
  firings: Firing[]
  value: number | null
}

const minuteMs = 60_000
const maxFirings = 50

/** When an alert with these rules would have fired, had it been there: judged once a minute as it would be now. */
export async function previewAlert(
  app: Parts,
  caller: Caller,
  { projectId, days, ...rules }: AlertRules & { projectId: string; days: number },
): Promise<AlertPreview> {
  await requireRole(app, caller, projectId, 'viewer')
  await checkRules(app, projectId, rules)
  await app.usage.flush()
  const toMs = Math.floor(app.now() / minuteMs) * minuteMs + minuteMs
  const span = { fromMs: toMs - days * 1_440 * minuteMs, toMs }
  const alert = freshAlert(projectId, rules)
  const past = await readPast(app, alert, span)
  const knownFromMs = Math.min(Math.max(past.knownFromMs, span.fromMs), span.toMs)
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

const dayMs = 1_440 * minuteMs
const ofData = new Set<AlertType>(['data_stale', 'schema_drift', 'data_held'])

async function readPast(app: Parts, alert: Alert, span: PastSpan): Promise<AlertPast> {
  const { store, alerts, config, now } = app
  if (ofData.has(alert.type)) return dataPast({ sources: alerts.sources, alert, span })
  const { jobRetentionDays, requestRetentionDays, rollupRetentionDays } = config.limits
  const keptDays =
    alert.type === 'job_failed'
      ? jobRetentionDays
      : alert.type === 'confidence_below'
        ? requestRetentionDays
        : rollupRetentionDays
  const knownFromMs = now() - keptDays * dayMs
  if (alert.type === 'job_failed') return { measure: await jobHistory(store, alert, span), knownFromMs }
  const begin = { fromMs: span.fromMs - alert.windowMinutes * minuteMs, toMs: span.toMs }
  const minutes = await readMinutes(store, alert, begin)
  const historyOf = alert.type === 'p95_latency_above' ? latencyHistory : countedHistory
  return { measure: historyOf(alert, minutes), knownFromMs }
}

async function jobHistory(store: Database, alert: Alert, span: PastSpan): Promise<History> {
  const windowMs = alert.windowMinutes * minuteMs
  const from = new Date(span.fromMs - windowMs)
  const times = await failedJobTimes(store, alert.projectId, { from, to: new Date(span.toMs) })
  return (_alert, minute) => {
    const endMs = span.fromMs + (minute + 1) * minuteMs
    return { value: times.filter((ms) => ms > endMs - windowMs && ms <= endMs).length, enough: true }
  }
}

function freshAlert(projectId: string, rules: AlertRules): Alert {
  const none = { value: null, pendingSince: null, startedAt: null, notifiedAt: null, evaluatedAt: null }
  const silence = { silencedUntil: null, silencedBy: null, silencedReason: null, unannounced: false }
  const fixed = { id: '', name: '', enabled: true, state: 'ok' as const, createdAt: new Date(0) }
  return { ...rules, projectId, ...none, ...silence, ...fixed }
}
