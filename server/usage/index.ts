export { openPrometheus, type Prometheus } from './prometheus.ts'
