import { Failure } from '../failure.ts'
import type { KeyThatCalled } from './callers.ts'
import type { Change, Compatibility } from './compatibility.ts'
import type { RoutingReport } from './deploy-gate.ts'

/** What a deployment did, or with `check` would do. */
export type DeployReport = {
  name: string
  environment: string
  version: number
  previousVersion: number | null
  status: 'deployed' | 'undeployed'
  compatibility: Compatibility
  changes: Change[]
  callers: KeyThatCalled[]
  routing: Routing
}

/** What it does to the questions of the environment. */
type Routing = Pick<RoutingReport, 'checked' | 'regressions'>

/** Refuses what would take questions from others. */
export function stolen({ name, environment, routing }: DeployReport): Failure {
  const shown = routing.regressions.slice(0, 3).map(({ question, query, takenBy }) => {
    return `"${question}" (${query ?? 'refused'} today) would go to ${takenBy ?? 'nobody'}`
  })
  return new Failure('conflict', {
    reason: 'routing_regression',
    message: `Deploying ${name} to ${environment} would change who answers ${routing.regressions.length} stored questions: ${shown.join('; ')}. Deploy with force to do it.`,
    fields: { routing: wireRegressions(routing) },
  })
}

export function wireRegressions({ checked, regressions }: Routing) {
  return {
    checked,
    regressions: regressions.map(({ question, query, takenBy, source }) => ({
      question,
      query,
      taken_by: takenBy,
      source,
    })),
  }
}

/** Refuses what would break callers. */
export function breaking({ name, environment, changes, callers }: DeployReport): Failure {
  const reasons = changes.filter((change) => change.level === 'breaking').map((change) => change.message)
  return new Failure('conflict', {
    reason: 'breaking_change',
    message: `This would break callers of ${name} in ${environment}: ${reasons.join('; ')}. Deploy with force to do it.`,
    details: reasons.map((message) => ({ field: name, message })),
    fields: {
      callers: callers.map((key) => ({
        key_id: key.keyId,
        name: key.name,
        last_called_at: key.lastCalledAt.toISOString(),
      })),
    },
  })
}

export function notDeployed(name: string, environment: string): Failure {
  return new Failure('not_found', { message: `${name} is not deployed in ${environment}.` })
}
