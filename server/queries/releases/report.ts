import { askedAgain } from '../../../api/queries.ts'
import { toWire } from '../../../api/wire-codec.ts'
import { Failure } from '../../failure.ts'
import type { ReleasedQuery, ReleaseFacts, ReleaseRouting, ReplayReport, TrialState } from '../../store/index.ts'

/** The effect of a release, planned with `check`. */
export type ReleaseReport = ReleaseFacts & {
  /** Null where nothing was kept of it: it was only a look, or there was nothing to release. */
  id: string | null
  rolledBackBy: string | null
  queries: ReleasedQuery[]
  routing: ReleaseRouting
  replay: ReplayReport | null
  canary: TrialState | null
  shadow: TrialState | null
  createdAt: Date
  createdBy: string
}

const maxNamed = 3

/** Refuses what would break callers, or take questions from others. */
export function refusedRelease(report: ReleaseReport): Failure {
  return report.queries.some(({ compatibility }) => compatibility === 'breaking') ? breaking(report) : stolen(report)
}

function stolen({ environment, queries, routing }: ReleaseReport): Failure {
  const shown = routing.regressions.slice(0, maxNamed).map(({ question, query, takenBy }) => {
    return `"${question}" (${query ?? 'refused'} today) would go to ${takenBy ?? 'nobody'}`
  })
  return new Failure('conflict', {
    reason: 'routing_regression',
    message: `Deploying ${whatOf(queries)} to ${environment} would change who answers ${routing.regressions.length} stored questions: ${shown.join('; ')}. Deploy with force to do it.`,
    fields: { routing: toWire(askedAgain, routing) },
  })
}

function breaking({ environment, queries }: ReleaseReport): Failure {
  const broken = queries.filter(({ compatibility }) => compatibility === 'breaking')
  const reasons = broken.flatMap(({ name, changes }) =>
    changes.filter(({ level }) => level === 'breaking').map(({ message }) => ({ field: name, message })),
  )
  const isOne = queries.length === 1
  const named = (isOne ? reasons : reasons.slice(0, 10)).map(({ field, message }) =>
    isOne ? message : `${field}: ${message}`,
  )
  const rest = reasons.length > named.length ? `; and ${reasons.length - named.length} more` : ''
  return new Failure('conflict', {
    reason: 'breaking_change',
    message: `This would break callers of ${whatOf(broken)} in ${environment}: ${named.join('; ')}${rest}. Deploy with force to do it.`,
    details: reasons,
    fields: {
      callers: broken.flatMap(({ callers }) =>
        callers.map(({ keyId, name, lastCalledAt }) => ({ key_id: keyId, name, last_called_at: lastCalledAt })),
      ),
    },
  })
}

function whatOf(queries: readonly ReleasedQuery[]): string {
  const names = queries.map(({ name }) => name)
  if (names.length <= maxNamed) return names.join(', ')
  return `${names.slice(0, maxNamed).join(', ')} and ${names.length - maxNamed} more`
}

export function notDeployed(name: string, environment: string): Failure {
  return new Failure('not_found', { message: `${name} is not deployed in ${environment}.` })
}
