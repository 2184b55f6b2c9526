import type { Caller, Vault } from '../access/index.ts'
import type { Clock } from '../clock.ts'
import type { Config } from '../config.ts'
import type { Catalogs, DeployedQueries, QueryGate, TableModels } from '../data/index.ts'
import type { Files } from '../files/index.ts'
import type { QueryEngine, TableBuilder } from '../engine/index.ts'
import type { Gate } from '../flow/index.ts'
import type { Jobs } from '../jobs/index.ts'
import type { Origins } from '../projects/index.ts'
import type { ModelTests } from '../models/index.ts'
import type { ReleaseParts } from '../queries/index.ts'
import type { OpenReading } from '../row-tests/index.ts'
import type { Alerts, Post } from '../usage/index.ts'
import type { PlanEntry } from './plan-entry.ts'

/** The parts that the verbs of a definition use. */
export type DefinitionParts = ReleaseParts & {
  vault: Vault
  config: Pick<Config, 'limits'>
  catalogs: Catalogs
  engine: QueryEngine
  builder: TableBuilder
  deployments: ReleaseParts['deployments'] & DeployedQueries
  queryGate: QueryGate
  models: TableModels
  testGate: ReleaseParts['testGate'] & ModelTests
  openReading: OpenReading
  files: Files
  jobs: Jobs
  /** The gate for putting a definition, by project. */
  definitionGate: Gate
  alerts: Alerts
  post: Post
  origins: Origins
  now: Clock
}

/** The results of applying it, beside the changes. */
export type Results = {
  jobs: Array<{ id: string; tableName: string }>
  secrets: Array<{ alert: string; target: string; secret: string }>
  /** Queries and models that nobody can look at before their tables have data. */
  unexamined: Set<string>
}

/** Where a step is done: on the store of the one transaction. */
export type Doing = { app: DefinitionParts; caller: Caller; projectId: string; results: Results }

/** One thing of a plan, and the verb that does it; null where there is nothing to do. */
export type Step = { entry: PlanEntry; apply: ((doing: Doing) => Promise<void>) | null }

/** One thing that is to be looked at. What is wrong with it is found when its turn comes. */
export type Planned = { kind: PlanEntry['kind']; name: string; plan: () => Step }
