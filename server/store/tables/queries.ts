import type { Generated } from 'kysely'
import type { CreatedAt, Json } from './columns.ts'

export type QueriesTables = {
  queries: QueriesTable
  queryVersions: QueryVersionsTable
  deployments: DeploymentsTable
  deploymentActs: DeploymentActsTable
  queryCallers: QueryCallersTable
}

type QueriesTable = {
  id: string
  projectId: string
  name: string
  description: string
  sql: string
  slots: Json<unknown>
  examples: Json<QueryExample[]>
  cacheSeconds: number | null
  timeoutMs: number | null
  maxRows: number | null
  maxBytes: number | null
  ratePerMinute: number | null
  rateBurst: number | null
  revision: Generated<number>
  contentHash: string
  createdAt: CreatedAt
  updatedAt: Generated<Date>
  updatedBy: string
}

/** A question that the query answers, with the slot values it then has. */
export type QueryExample = { question: string; parameters: Record<string, unknown> }

type QueryVersionsTable = {
  id: string
  queryId: string
  version: number
  description: string
  sql: string
  slots: Json<unknown>
  examples: Json<QueryExample[]>
  cacheSeconds: number | null
  timeoutMs: number | null
  maxRows: number | null
  maxBytes: number | null
  ratePerMinute: number | null
  rateBurst: number | null
  columns: Json<Array<{ name: string; type: string }>>
  tables: Json<Record<string, string[]>>
  contentHash: string
  createdAt: CreatedAt
  createdBy: string
}

type DeploymentsTable = {
  projectId: string
  environment: string
  name: string
  queryId: string
  versionId: string
  deployedAt: Generated<Date>
  deployedBy: string
}

export type DeploymentAct = 'deploy' | 'promote' | 'rollback' | 'undeploy'

type DeploymentActsTable = {
  id: string
  queryId: string
  environment: string
  act: DeploymentAct
  version: number | null
  previousVersion: number | null
  at: CreatedAt
  by: string
}

type QueryCallersTable = {
  queryId: string
  environment: string
  keyId: string
  lastCalledAt: Date
}
