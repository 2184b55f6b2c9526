/** A time that is looked at: so many hours until now, or from one moment to another. */
export type Span = { hours: number } | { from: string; to: string }

export const presets = [
  { value: '1', label: 'The last hour' },
  { value: '24', label: 'The last day' },
  { value: '168', label: 'The last week' },
  { value: '720', label: 'The last 30 days' },
]

/** As the address says it: `from` and `to`, or `hours`; a moment that is none is not looked at. */
export function spanIn(asked: URLSearchParams): Span | null {
  const [from, to] = [asked.get('from') ?? '', asked.get('to') ?? '']
  if (Date.parse(from) < Date.parse(to)) return { from, to }
  const hours = presets.find(({ value }) => value === asked.get('hours'))?.value
  return hours === undefined ? null : { hours: Number(hours) }
}

/** For the API. A time that goes on with the clock is rounded, or every look would be another question. */
export function momentsOf(span: Span, nowMs: number): { from: string; to?: string } {
  if ('from' in span) return { from: span.from, to: span.to }
  return { from: new Date(Math.floor(nowMs / 60_000) * 60_000 - span.hours * 3_600_000).toISOString() }
}

/** As long a time, just before. */
export function spanBefore(span: Span, nowMs: number): { from: string; to: string } {
  const end = 'to' in span ? Date.parse(span.to) : nowMs
  const start = 'from' in span ? Date.parse(span.from) : nowMs - span.hours * 3_600_000
  return { from: new Date(2 * start - end).toISOString(), to: new Date(start).toISOString() }
}

const exact = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit' })

/** The time before, in the middle of a sentence. */
export function sayBefore(span: Span): string {
  if ('from' in span) return 'the time before'
  return { 1: 'the hour before', 24: 'the day before', 168: 'the week before' }[span.hours] ?? 'the days before'
}

export function saySpan(span: Span): string {
  if ('hours' in span) return presets.find(({ value }) => value === String(span.hours))?.label ?? ''
  return `${exact.format(new Date(span.from))} to ${exact.format(new Date(span.to))}`
}
