import { collectDefaultMetrics, Counter, Histogram, Registry } from 'prom-client'
import { failures } from '../../api/failures.ts'
import type { Observation } from '../observe.ts'
import { isRejected } from './call.ts'

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
  const { counter, histogram } = makersOf(registry)
  const requests = counter('http_requests_total', 'Answers by route, method and status.', ['route', 'method', 'status'])
  const seconds = histogram(
    'http_request_seconds',
    'Time from the first header byte to the last byte of the answer.',
    ['route'],
    callSeconds,
  )
  const faults = counter('faults_total', 'Failures of our own, by place.', ['where'])
  const jobs = counter('jobs_total', 'Attempts of jobs by type and how they ended.', ['job_type', 'end'])
  const jobTimes = histogram('job_seconds', 'How long attempts of jobs took.', ['job_type'], jobSeconds)
  const calls = openCallCounters(registry)
  /** Finding a label's child is most of what counting costs; there are as many as routes, methods and statuses. */
  const children = new Map<string, Child>()
  const countRequest = ({ route, method, status, elapsedMs }: RequestAnswered): void => {
    const key = `${status} ${method} ${route}`
    let child = children.get(key)
    if (child === undefined) {
      child = { counted: requests.labels(route, method, String(status)), timed: seconds.labels(route) }
      children.set(key, child)
    }
    child.counted.inc()
    child.timed.observe(elapsedMs / 1000)
  }
  return {
    observe(event) {
      calls(event)
      if (event.kind === 'request-answered') {
        countRequest(event)
      } else if (event.kind === 'request-failed') {
        faults.inc({ where: event.route })
      } else if (event.kind === 'fault') {
        faults.inc({ where: event.where })
      } else if (event.kind === 'job-finished' || event.kind === 'job-failed' || event.kind === 'job-lost') {
        jobs.inc({ job_type: event.jobType, end: endOf(event) })
        jobTimes.observe({ job_type: event.jobType }, event.elapsedMs / 1000)
      }
    },
    async render() {
      return { contentType: registry.contentType, text: await registry.metrics() }
    },
  }
}

/** By the closed table of failures and a few ways in, never by project, query or key. */
function openCallCounters(registry: Registry): (event: Observation) => void {
  const { counter, histogram } = makersOf(registry)
  const calls = counter(
    'query_calls_total',
    'Calls of query endpoints by way in and outcome: answered, or the code of the failure.',
    ['entry', 'outcome'],
  )
  const seconds = histogram(
    'query_seconds',
    'How long calls of query endpoints took that were not turned away.',
    ['entry'],
    callSeconds,
  )
  const cached = counter('query_cache_total', 'Answers of queries that keep them, by where they came from.', ['state'])
  const shed = counter(
    'usage_shed_total',
    'Calls that were answered and not recorded, because too many waited to be.',
    [],
  )
  const alerts = counter(
    'alerts_total',
    'Changes of alerts by the state they changed to, and failed attempts to tell of them.',
    ['event'],
  )
  const children = new Map<string, Child>()
  return (event) => {
    if (event.kind === 'usage-shed') shed.inc(event.requests)
    else if (event.kind === 'alert-changed') alerts.inc({ event: event.state })
    else if (event.kind === 'alert-undelivered') alerts.inc({ event: 'undelivered' })
    if (event.kind !== 'query-answered') return
    const outcome = event.code ?? 'answered'
    const key = `${event.entry} ${outcome}`
    let child = children.get(key)
    if (child === undefined) {
      child = { counted: calls.labels(event.entry, outcome), timed: seconds.labels(event.entry) }
      children.set(key, child)
    }
    child.counted.inc()
    if (event.cache !== null) cached.inc({ state: event.cache })
    if (!isRejected(event.code === null ? 200 : failures[event.code].status)) child.timed.observe(event.totalMs / 1000)
  }
}

type Child = { counted: { inc(): void }; timed: { observe(seconds: number): void } }
type RequestAnswered = Extract<Observation, { kind: 'request-answered' }>
type JobEnd = Extract<Observation, { kind: 'job-finished' | 'job-failed' | 'job-lost' }>

function endOf(event: JobEnd): string {
  if (event.kind === 'job-finished') return event.status
  if (event.kind === 'job-lost') return 'lost'
  return event.final ? 'failed' : 'retried'
}

function makersOf(registry: Registry) {
  const registers = [registry]
  return {
    counter: <Label extends string>(name: string, help: string, labelNames: Label[]) =>
      new Counter({ name: `sluice_${name}`, help, labelNames, registers }),
    histogram: <Label extends string>(name: string, help: string, labelNames: Label[], buckets: number[]) =>
      new Histogram({ name: `sluice_${name}`, help, labelNames, buckets, registers }),
  }
}
