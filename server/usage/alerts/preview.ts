import { requireRole, type Caller } from '../../access/index.ts'
import type { AlertType } from '../../../api/alerts.ts'
import type { Clock } from '../../clock.ts'
import { failedJobTimes } from '../../jobs/index.ts'
import type { Database } from '../../store/index.ts'
import type { Usage } from '../record.ts'
import type { Alert, Measured } from './alert.ts'
import { alertTypeOf } from './alert-types.ts'
import { countedHistory, latencyHistory, readMinutes, type PastSpan } from './past.ts'
import { judgeAlert } from './judge.ts'
import type { AlertRules } from './manage.ts'
import type { Alerts } from './open.ts'
import { checkRules } from './rules.ts'

type Parts = { store: Database; usage: Usage; alerts: Alerts; now: Clock }

type Firing = { startedAt: Date; endedAt: Date | null; worst: number }
type AlertPreview = {
  supported: boolean
  from: Date
  to: Date
  fired: number
  firings: Firing[]
  value: number | null
}

const minuteMs = 60_000
const maxFirings = 50

/** What would be measured at the end of each minute of a span. */
type History = (alert: Alert, minute: number) => Measured

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
  const history = await readHistory(app, alert, span)
  const [from, to] = [new Date(span.fromMs), new Date(span.toMs)]
  if (history === null) return { supported: false, from, to, fired: 0, firings: [], value: null }
  const { firings, value } = simulate(alert, history, span)
  const newest = firings.toReversed().slice(0, maxFirings)
  return { supported: true, from, to, fired: firings.length, firings: newest, value }
}

function simulate(
  start: Alert,
  history: History,
  { fromMs, toMs }: PastSpan,
): { firings: Firing[]; value: number | null } {
  const { good } = alertTypeOf(start.type)
  const firings: Firing[] = []
  const alert = { ...start }
  let value: number | null = null
  for (let minute = 0, endMs = fromMs + minuteMs; endMs <= toMs; minute += 1, endMs += minuteMs) {
    const at = new Date(endMs)
    const measured = history(alert, minute)
    const { event, ...verdict } = judgeAlert(alert, measured, at)
    Object.assign(alert, verdict)
    value = measured.enough ? measured.value : null
    const last = firings.at(-1)
    if (event === 'firing') firings.push({ startedAt: at, endedAt: null, worst: measured.value })
    else if (event === 'resolved' && last !== undefined) last.endedAt = at
    else if (alert.state === 'firing' && last !== undefined && measured.enough) {
      last.worst = good === 'below' ? Math.max(last.worst, measured.value) : Math.min(last.worst, measured.value)
    }
  }
  return { firings, value }
}

/** Of the state of data only the present is kept, so what watches that cannot be tried on the past. */
const withoutPast = new Set<AlertType>(['data_stale', 'schema_drift', 'data_held'])

async function readHistory(app: Parts, alert: Alert, span: PastSpan): Promise<History | null> {
  if (withoutPast.has(alert.type)) return null
  if (alert.type === 'job_failed') return jobHistory(app.store, alert, span)
  const begin = { fromMs: span.fromMs - alert.windowMinutes * minuteMs, toMs: span.toMs }
  const minutes = await readMinutes(app.store, alert, begin)
  return alert.type === 'p95_latency_above' ? latencyHistory(alert, minutes) : countedHistory(alert, minutes)
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
