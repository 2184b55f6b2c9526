import type { Generated } from 'kysely'
import type { CreatedAt, Json } from './columns.ts'

export type QueriesTables = {
  queries: QueriesTable
  query_versions: QueryVersionsTable
  deployments: DeploymentsTable
  deployment_acts: DeploymentActsTable
  query_callers: QueryCallersTable
}

type QueriesTable = {
  id: string
  project_id: string
  name: string
  description: string
  sql: string
  slots: Json<unknown>
  examples: Json<QueryExample[]>
  cache_seconds: number | null
  timeout_ms: number | null
  max_rows: number | null
  max_bytes: number | null
  rate_per_minute: number | null
  rate_burst: number | null
  revision: Generated<number>
  content_hash: string
  created_at: CreatedAt
  updated_at: Generated<Date>
  updated_by: string
}

/** A question that the query answers, with the slot values it then has. */
export type QueryExample = { question: string; parameters: Record<string, unknown> }

type QueryVersionsTable = {
  id: string
  query_id: string
  version: number
  description: string
  sql: string
  slots: Json<unknown>
  examples: Json<QueryExample[]>
  cache_seconds: number | null
  timeout_ms: number | null
  max_rows: number | null
  max_bytes: number | null
  rate_per_minute: number | null
  rate_burst: number | null
  columns: Json<Array<{ name: string; type: string }>>
  tables: Json<Record<string, string[]>>
  content_hash: string
  created_at: CreatedAt
  created_by: string
}

type DeploymentsTable = {
  project_id: string
  environment: string
  name: string
  query_id: string
  version_id: string
  deployed_at: Generated<Date>
  deployed_by: string
}

export type DeploymentAct = 'deploy' | 'promote' | 'rollback' | 'undeploy'

type DeploymentActsTable = {
  id: string
  query_id: string
  environment: string
  act: DeploymentAct
  version: number | null
  previous_version: number | null
  at: CreatedAt
  by: string
}

type QueryCallersTable = {
  query_id: string
  environment: string
  key_id: string
  last_called_at: Date
}
