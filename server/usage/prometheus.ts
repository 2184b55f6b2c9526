import { collectDefaultMetrics, Counter, Histogram, Registry } from 'prom-client'
import type { Observation } from '../observe.ts'

export type Prometheus = {
  observe(event: Observation): void
  render(): Promise<{ contentType: string; text: string }>
}

/** Labels are route patterns, methods and statuses, never paths or names: their number is bounded by the code. */
export function openPrometheus(): Prometheus {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  const requests = new Counter({
    name: 'sluice_http_requests_total',
    help: 'Answers by route, method and status.',
    labelNames: ['route', 'method', 'status'],
    registers: [registry],
  })
  const seconds = new Histogram({
    name: 'sluice_http_request_seconds',
    help: 'Time from the first header byte to the last byte of the answer.',
    labelNames: ['route'],
    buckets: [0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30],
    registers: [registry],
  })
  const faults = new Counter({
    name: 'sluice_faults_total',
    help: 'Failures of our own, by place.',
    labelNames: ['where'],
    registers: [registry],
  })
  return {
    observe(event) {
      if (event.kind === 'request-answered') {
        requests.inc({ route: event.route, method: event.method, status: event.status })
        seconds.observe({ route: event.route }, event.elapsedMs / 1000)
      } else if (event.kind === 'request-failed') {
        faults.inc({ where: event.route })
      } else if (event.kind === 'fault') {
        faults.inc({ where: event.where })
      }
    },
    async render() {
      return { contentType: registry.contentType, text: await registry.metrics() }
    },
  }
}
