import type { App } from '../../app.ts'
import type { AlertType } from '../../store/index.ts'
import { invalid } from '../range.ts'
import type { Alert } from './alert.ts'

type Rule = { least: number; most: number; whole?: true; words: string; optional?: true }

const share: Rule = { least: 0, most: 1, words: 'a share from 0 to 1' }
const count: Rule = { least: 0, most: 1_000_000_000, whole: true, words: 'a whole number from 0' }

/** What a threshold can be, in the unit of its metric. */
const rules: Record<AlertType, Rule> = {
  error_rate_above: share,
  unanswered_rate_above: share,
  p95_latency_above: { least: 0, most: 3_600_000, words: 'milliseconds from 0 to 3,600,000' },
  requests_above: count,
  requests_below: { ...count, least: 1, words: 'a whole number from 1' },
  job_failed: { ...count, optional: true },
  schema_drift: { ...count, optional: true },
  data_stale: { least: 0, most: 5_256_000, words: 'minutes from 0 to 5,256,000', optional: true },
}

type Checked = Pick<Alert, 'type' | 'threshold' | 'resolveThreshold' | 'environment' | 'query'>

/** What no schema of one field can say. */
export async function checkRules(app: Pick<App, 'store'>, projectId: string, alert: Checked): Promise<void> {
  const { type, threshold, resolveThreshold, environment, query } = alert
  const rule = rules[type]
  if (threshold === null && rule.optional !== true) throw invalid('threshold', `is required: ${rule.words}`)
  for (const [field, value] of [
    ['threshold', threshold],
    ['resolve_threshold', resolveThreshold],
  ] as const) {
    if (value === null) continue
    const isWhole = rule.whole !== true || Number.isInteger(value)
    if (!isWhole || value < rule.least || value > rule.most) throw invalid(field, `must be ${rule.words} for ${type}`)
  }
  if (threshold !== null && resolveThreshold !== null) {
    const isBetter = type === 'requests_below' ? resolveThreshold >= threshold : resolveThreshold <= threshold
    if (!isBetter) throw invalid('resolve_threshold', 'must be on the good side of threshold')
  }
  if (type === 'job_failed' && (environment !== null || query !== null)) {
    throw invalid(environment === null ? 'query' : 'environment', 'has no meaning for jobs')
  }
  await requireNamed(app, projectId, alert)
}

async function requireNamed(
  { store }: Pick<App, 'store'>,
  projectId: string,
  { environment, query }: Checked,
): Promise<void> {
  if (environment !== null) {
    const found = await store.db
      .selectFrom('environments')
      .select('name')
      .where('project_id', '=', projectId)
      .where('name', '=', environment)
      .executeTakeFirst()
    if (found === undefined) throw invalid('environment', 'must be an environment of the project')
  }
  if (query !== null) {
    const found = await store.db
      .selectFrom('queries')
      .select('name')
      .where('project_id', '=', projectId)
      .where('name', '=', query)
      .executeTakeFirst()
    if (found === undefined) throw invalid('query', 'must be a query of the project')
  }
}
