import type { SlotsSchema } from '../../../api/slots.ts'
import type { EvaluationResult, QueryExample } from '../../store/index.ts'

/**
 * What a deployment asks of whoever routes questions: would stored questions be answered by another query than today?
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

export type ChangedQuery = { name: string; description: string; slots: SlotsSchema; examples: QueryExample[] }

/** A stored question that a change would route elsewhere. */
export type Regression = {
  question: string
  /** What answers it today, or must; null: it must be refused. */
  query: string | null
  /** What would take it; null: it would be refused. */
  takenBy: string | null
  source: 'example' | 'evaluation' | 'confirmed'
}

/** What a deployment would do to the questions of its place. */
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
