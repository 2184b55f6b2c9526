import { invalidField } from '../../failure.ts'
import { hasEnvironment } from '../../projects/index.ts'
import type { Database } from '../../store/index.ts'

import type { Alert } from './measure/alert.ts'
import { alertTypeOf } from './measure/alert-types.ts'
import type { Alerts } from './open-alerts.ts'

type Parts = { store: Database; alerts: Pick<Alerts, 'sources'> }
type Checked = Pick<Alert, 'type' | 'threshold' | 'resolveThreshold' | 'environment' | 'query'>

/** Rules that no schema of one field can state. */
export async function checkRules(app: Parts, projectId: string, alert: Checked): Promise<void> {
  const { type, threshold, resolveThreshold, environment, query } = alert
  const { threshold: rule, good, isScoped } = alertTypeOf(type)
  if (threshold === null && !rule.isOptional) throw invalidField('threshold', `is required: ${rule.words}`)
  for (const [field, value] of [
    ['threshold', threshold],
    ['resolve_threshold', resolveThreshold],
  ] as const) {
    if (value === null) continue
    const isWhole = !rule.isWhole || Number.isInteger(value)
    if (!isWhole || value < rule.min || value > rule.max) throw invalidField(field, `must be ${rule.words} for ${type}`)
  }
  if (threshold !== null && resolveThreshold !== null) {
    const isBetter = good === 'above' ? resolveThreshold >= threshold : resolveThreshold <= threshold
    if (!isBetter) throw invalidField('resolve_threshold', 'must be on the good side of threshold')
  }
  if (!isScoped && (environment !== null || query !== null)) {
    throw invalidField(environment === null ? 'query' : 'environment', 'has no meaning for jobs')
  }
  await requireNamed(app, projectId, alert)
}

async function requireNamed(
  { store, alerts }: Parts,
  projectId: string,
  { environment, query }: Checked,
): Promise<void> {
  if (environment !== null) {
    const isThere = await hasEnvironment(store, { projectId, environment })
    if (!isThere) throw invalidField('environment', 'must be an environment of the project')
  }
  if (query !== null) {
    const isThere = await alerts.sources.hasQuery({ projectId, name: query })
    if (!isThere) throw invalidField('query', 'must be a query of the project')
  }
}
