import type { Value } from '../../../api/wire-codec.ts'
import type { regression } from '../../../api/queries.ts'
import type { SlotsSchema } from '../../../api/slots.ts'
import type { EvaluationResult, QueryExample } from '../../store/index.ts'

/**
 * The question of a deployment to the router: would stored questions be answered by another query than today?
 * A port: queries know nothing of how questions are routed.
 */
export type DeployGate = {
  /** Asks the stored questions of a place again, as if the changed queries were deployed there and the removed were not. */
  regressions(input: GatedChange): Promise<RoutingReport>
  /** Asks the stored questions of a query again, as if it were no longer deployed there. */
  losses(input: { projectId: string; environment: string; name: string }): Promise<Omit<RoutingReport, 'results'>>
  keepResults(place: EvaluatedPlace, results: EvaluationResult[]): Promise<string>
  /** Waits until what has changed so far is in effect for questions in this process. */
  settle(place: { projectId: string; environment: string }): Promise<void>
}

export type GatedChange = { projectId: string; environment: string; changed: ChangedQuery[]; removed: string[] }

export type ChangedQuery = {
  name: string
  description: string
  sql: string
  slots: SlotsSchema
  examples: QueryExample[]
}

/** A stored question that a change would route elsewhere. */
export type Regression = Value<typeof regression>

/** The effect of a deployment on the questions of its environment. */
export type RoutingReport = {
  /** How many stored questions were asked again. */
  checked: number
  regressions: Regression[]
  results: EvaluationResult[]
}

export type EvaluatedPlace = {
  projectId: string
  environment: string
  by: string
  query?: string
  version?: number
}
