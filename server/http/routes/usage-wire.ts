import type { z } from 'zod'
import type { metrics, requestEntry } from '../../../api/usage.ts'
import { percentile, round, type Report, type RequestEntry } from '../../usage/index.ts'

type Metrics = z.output<typeof metrics>
type Figures = Report['keys'][number]
type Times = Report['totals']['times']

const maxPopular = 20

export function wireReport({ range, totals, series, queries, questions, ...report }: Report): Metrics {
  const { hit, miss, bypass } = totals.cached
  const popular = (order: (each: Report['queries'][number]) => number): Metrics['popular_queries'] =>
    queries
      .toSorted((left, right) => order(right) - order(left) || left.query.localeCompare(right.query))
      .slice(0, maxPopular)
      .map(wirePopular)
  return {
    from: range.from.toISOString(),
    to: range.to.toISOString(),
    interval: range.interval,
    time_zone: range.timeZone,
    totals: {
      ...wireCounts(totals),
      ...wireTimes(totals.times),
      rows: totals.rows,
      bytes: totals.bytes,
      cache: { hit, miss, bypass, hit_rate: share(hit, hit + miss + bypass) },
    },
    series: series.map(({ start, times, ...each }) => ({
      time: start.toISOString(),
      ...wireCounts(each),
      ...wireTimes(times),
    })),
    popular_queries: popular(({ requests }) => requests),
    slowest_queries: popular(({ totalMs }) => totalMs),
    errors: report.failures.map(({ reason, ...each }) => ({ ...each, reason: reason === '' ? null : reason })),
    by_key: report.keys.map((each) => ({ key_id: each.keyId, name: each.name, ...wireCounts(each) })),
    by_version: report.versions
      .toSorted((left, right) => left.query.localeCompare(right.query) || left.version - right.version)
      .map(wireVersion),
    by_environment: report.environments.map((each) => ({ environment: each.environment, ...wireCounts(each) })),
    by_project: report.projects.map((each) => ({ project_id: each.projectId, ...wireCounts(each) })),
    questions: {
      asked: questions.asked,
      answered: questions.answered,
      flagged: questions.flagged,
      refused: questions.refused,
      reasons: questions.byReason,
      top: questions.top,
      unanswered: questions.unanswered.map(({ lastAskedAt, ...each }) => ({
        ...each,
        last_asked_at: lastAskedAt.toISOString(),
      })),
    },
  }
}

function wirePopular(each: Report['queries'][number]): Metrics['popular_queries'][number] {
  const { query, times, totalMs } = each
  return { query, ...wireCounts(each), p95_ms: percentile(times, 0.95), total_ms: round(totalMs) }
}

function wireVersion(each: Report['versions'][number]): Metrics['by_version'][number] {
  return { query: each.query, version: each.version, ...wireCounts(each) }
}

function wireCounts({ requests, errors, rejected, totalMs }: Omit<Figures, 'keyId' | 'name'>) {
  const average = requests === 0 ? null : round(totalMs / requests)
  return { requests, errors, rejected, error_rate: share(errors, requests), average_ms: average }
}

export function wireFigures(each: Omit<Figures, 'keyId' | 'name'> & { times: Times }) {
  return { ...wireCounts(each), p95_ms: percentile(each.times, 0.95) }
}

function wireTimes(times: Times) {
  return { p50_ms: percentile(times, 0.5), p95_ms: percentile(times, 0.95), p99_ms: percentile(times, 0.99) }
}

function share(part: number, whole: number): number {
  return whole === 0 ? 0 : part / whole
}

export function wireRequest(each: RequestEntry): z.output<typeof requestEntry> {
  return {
    id: each.id,
    at: each.at.toISOString(),
    environment: each.environment,
    query: each.query,
    version: each.version,
    entry: each.entry as z.output<typeof requestEntry>['entry'],
    key_id: each.keyId,
    status: each.status,
    error: each.error,
    reason: each.reason,
    total_ms: round(each.totalMs),
    route_ms: each.routeMs === null ? null : round(each.routeMs),
    queue_ms: round(each.queueMs),
    sql_ms: round(each.sqlMs),
    rows: each.rows,
    bytes: each.bytes,
    cache: each.cache as z.output<typeof requestEntry>['cache'],
    question: each.question,
    confidence: each.confidence,
  }
}
