import type { Message } from '../measure/alert.ts'
import { alertTypeOf } from '../measure/alert-types.ts'

/** Texts of an alert that people read. */

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
  if (data.alert_type === null) return `${subjectOf(message)}. Messages of alerts arrive here.`
  const { metric, show } = alertTypeOf(data.alert_type)
  const value = data.value === null ? '' : ` is ${show(data.value)}`
  const threshold = data.threshold === null ? '' : `, threshold ${show(data.threshold)}`
  const where = [data.query, data.environment].filter((part) => part !== null).join(' in ')
  return `${subjectOf(message)}. The ${metric}${value}${threshold}${where === '' ? '' : ` (${where})`}.`
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
