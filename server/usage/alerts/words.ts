import type { Message } from './alert.ts'

/** What people read of an alert. */

const units: Record<Message['data']['alert_type'], (value: number) => string> = {
  error_rate_above: percent,
  unanswered_rate_above: percent,
  p95_latency_above: (value) => `${Math.round(value)} ms`,
  requests_above: plain,
  requests_below: plain,
  job_failed: plain,
  data_stale: (value) => `${Math.round(value)} min`,
  schema_drift: plain,
}

const metrics: Record<Message['data']['alert_type'], string> = {
  error_rate_above: 'error rate',
  unanswered_rate_above: 'share of unanswered questions',
  p95_latency_above: '95th percentile of response times',
  requests_above: 'requests',
  requests_below: 'requests',
  job_failed: 'failed jobs',
  data_stale: 'age of the data',
  schema_drift: 'deployed queries that a schema change touches',
}

function percent(value: number): string {
  return `${Math.round(value * 1000) / 10} %`
}

function plain(value: number): string {
  return String(Math.round(value))
}

export function subjectOf({ type, data }: Message): string {
  const state = { 'alert.firing': 'Firing', 'alert.resolved': 'Resolved', 'alert.test': 'Test' }[type]
  return `[Sluice] ${state}: ${data.name}`
}

/** Slack reads `<…>` as links and as calls to everyone in a channel. */
export function slackText(message: Message): string {
  return sentenceOf(message).replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}

function sentenceOf(message: Message): string {
  const { data } = message
  const unit = units[data.alert_type]
  const value = data.value === null ? '' : ` is ${unit(data.value)}`
  const threshold = data.threshold === null ? '' : `, threshold ${unit(data.threshold)}`
  const where = [data.query, data.environment].filter((part) => part !== null).join(' in ')
  return `${subjectOf(message)}. The ${metrics[data.alert_type]}${value}${threshold}${where === '' ? '' : ` (${where})`}.`
}

export function textOf(message: Message): string {
  const rows = factsOf(message).map(([name, value]) => `${name}: ${value}`)
  return `${sentenceOf(message)}\n\n${rows.join('\n')}\n`
}

export function htmlOf(message: Message): string {
  const rows = factsOf(message).map(([name, value]) => `<tr><td>${escaped(name)}</td><td>${escaped(value)}</td></tr>`)
  return `<!doctype html><html><body><p>${escaped(sentenceOf(message))}</p><table>${rows.join('')}</table></body></html>`
}

function factsOf({ data, timestamp }: Message): Array<[string, string]> {
  const facts: Array<[string, string | null]> = [
    ['State', data.state],
    ['Since', data.started_at],
    ['Told at', timestamp],
    ['Project', data.project_id],
    ['Environment', data.environment],
    ['Query', data.query],
    ['Alert', data.alert_id],
  ]
  return facts.flatMap(([name, value]) => (value === null ? [] : [[name, value]]))
}

function escaped(text: string): string {
  return text.replaceAll(/[&<>"']/g, (letter) => `&#${letter.charCodeAt(0)};`)
}
