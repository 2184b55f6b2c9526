import { collectDefaultMetrics, Registry } from 'prom-client'
import { failures } from '../../../api/failures.ts'
import type { Observation } from '../../observe.ts'
import { isRejected, type QueryAnswered } from '../stored/call.ts'
import { hotCounter, hotHistogram, type HotCounter, type HotHistogram } from './hot-metrics.ts'

export type Prometheus = {
  observe(event: Observation): void
  render(): Promise<{ contentType: string; text: string }>
}

const callSeconds = [0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30]
const jobSeconds = [0.1, 0.3, 1, 3, 10, 30, 100, 300, 1000]

/** Labels are route patterns, methods and statuses, never paths or names: their number is bounded by the code. */
export function openPrometheus(): Prometheus {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  const faults = hotCounter('sluice_faults_total', 'Failures of our own, by place.', ['where'])
  const dropped = hotCounter(
    'sluice_records_dropped_total',
    'Records of calls, questions and uses of keys that were not written, by place and reason.',
    ['where', 'reason'],
  )
  const alerts = hotCounter(
    'sluice_alerts_total',
    'Changes of alerts by the state they changed to, and failed attempts to tell of them.',
    ['event'],
  )
  const jobs = hotCounter('sluice_jobs_total', 'Attempts of jobs by type and how they ended.', ['job_type', 'end'])
  const jobTimes = hotHistogram('sluice_job_seconds', 'How long attempts of jobs took.', {
    labels: ['job_type'],
    bounds: jobSeconds,
  })
  const objects = hotCounter('sluice_objects_fetched_total', 'Files that came from the bucket into the cache.', [])
  const objectBytes = hotCounter('sluice_object_bytes_fetched_total', 'Their bytes.', [])
  const [fetched, fetchedBytes] = [objects.child(), objectBytes.child()]
  const seldom = [faults, dropped, alerts, jobs, jobTimes, objects, objectBytes]
  const requests = openRequestMetrics()
  const calls = openCallMetrics()
  return {
    observe(event) {
      if (event.kind === 'request-answered') {
        requests.count(event)
      } else if (event.kind === 'query-answered') {
        calls.count(event)
      } else if (event.kind === 'request-failed') {
        faults.child(event.route).inc()
      } else if (event.kind === 'fault') {
        faults.child(event.where).inc()
      } else if (event.kind === 'job-finished' || event.kind === 'job-failed' || event.kind === 'job-lost') {
        jobs.child(event.jobType, endOf(event)).inc()
        jobTimes.child(event.jobType).observe(event.elapsedMs / 1000)
      } else if (event.kind === 'records-dropped') {
        dropped.child(event.where, event.reason).inc(event.count)
      } else if (event.kind === 'object-fetched') {
        fetched.inc()
        fetchedBytes.inc(event.sizeBytes)
      } else if (event.kind === 'alert-changed') {
        alerts.child(event.state).inc()
      } else if (event.kind === 'alert-undelivered') {
        alerts.child('undelivered').inc()
      }
    },
    async render() {
      const own = [...seldom, ...requests.metrics, ...calls.metrics].map((metric) => metric.render())
      return { contentType: registry.contentType, text: `${await registry.metrics()}\n${own.join('\n')}` }
    },
  }
}

function openRequestMetrics() {
  const requests = hotCounter('sluice_http_requests_total', 'Answers by route, method and status.', [
    'route',
    'method',
    'status',
  ])
  const seconds = hotHistogram(
    'sluice_http_request_seconds',
    'Time from the first header byte to the last byte of the answer.',
    { labels: ['route'], bounds: callSeconds },
  )
  const children = new Map<string, Map<number, Child>>()
  const childOf = ({ route, method, status }: RequestAnswered): Child => {
    const ofRoute = children.get(route)
    // Nearly every route has one method; its child is found without a text made of three.
    const known = ofRoute?.get(status)
    if (known !== undefined && known.method === method) return known
    const child = { method, counted: requests.child(route, method, String(status)), timed: seconds.child(route) }
    children.set(route, (ofRoute ?? new Map<number, Child>()).set(status, child))
    return child
  }
  return {
    metrics: [requests, seconds],
    count(event: RequestAnswered): void {
      const { counted, timed } = childOf(event)
      counted.inc()
      timed.observe(event.elapsedMs / 1000)
    },
  }
}

/** Labels come from the closed table of failures and a few ways in, never from project, query or key. */
function openCallMetrics() {
  const calls = hotCounter(
    'sluice_query_calls_total',
    'Calls of query endpoints by way in and outcome: answered, or the code of the failure.',
    ['entry', 'outcome'],
  )
  const seconds = hotHistogram(
    'sluice_query_seconds',
    'How long calls of query endpoints took that were not rejected.',
    { labels: ['entry'], bounds: callSeconds },
  )
  const cached = hotCounter('sluice_query_cache_total', 'Answers of queries that keep them, by where they came from.', [
    'state',
  ])
  const flagged = hotCounter(
    'sluice_flagged_answers_total',
    'Answers to questions that say what they leave out of the question.',
    ['entry'],
  )
  const states = { hit: cached.child('hit'), miss: cached.child('miss'), bypass: cached.child('bypass') }
  const answered = new Map<string, { counted: HotCounter; timed: HotHistogram }>()
  return {
    metrics: [calls, seconds, cached, flagged],
    count({ entry, code, reason, cache, totalMs }: QueryAnswered): void {
      let child = code === null ? answered.get(entry) : undefined
      if (child === undefined) {
        child = { counted: calls.child(entry, code ?? 'answered'), timed: seconds.child(entry) }
        if (code === null) answered.set(entry, child)
      }
      child.counted.inc()
      if (cache !== null) states[cache].inc()
      if (code === null && reason === 'unexpressed') flagged.child(entry).inc()
      if (code === null || !isRejected(failures[code].status)) child.timed.observe(totalMs / 1000)
    },
  }
}

type Child = { method: string; counted: HotCounter; timed: HotHistogram }
type RequestAnswered = Extract<Observation, { kind: 'request-answered' }>
type JobEnd = Extract<Observation, { kind: 'job-finished' | 'job-failed' | 'job-lost' }>

function endOf(event: JobEnd): string {
  if (event.kind === 'job-finished') return event.status
  if (event.kind === 'job-lost') return 'lost'
  return event.final ? 'failed' : 'retried'
}
