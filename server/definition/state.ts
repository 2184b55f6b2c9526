import { httpConfiguration, forEach as forEachSchema, pagination as paginationSchema } from '../../api/connections.ts'
import type { HttpConfiguration } from '../../api/connections.ts'
import type {
  DefinedAlert,
  DefinedConnection,
  DefinedEvaluation,
  DefinedQuery,
  DefinedVariable,
  ReadSettings,
  WholeDefinition,
} from '../../api/definition.ts'
import { slotsSchema, type SlotsSchema } from '../../api/slots.ts'
import type { Caller, Vault } from '../access/index.ts'
import type { Config } from '../config.ts'
import {
  hidden,
  maskConfiguration,
  readAuthoredSources,
  readAuthoredVariables,
  type AuthoredSource,
  type AuthoredVariable,
} from '../connections/index.ts'
import { findProject, listEnvironments } from '../projects/index.ts'
import { listQueries, type Query } from '../queries/index.ts'
import { findQuestionSettings, listCases, type EvaluationCase, type QuestionSettings } from '../questions/index.ts'
import { findReplaySettings, type ReplaySettings } from '../rollout/index.ts'
import type { Database, LoadRule } from '../store/index.ts'
import { listAlerts, readStoredChannels, shownChannel, type AlertRecord, type StoredChannel } from '../usage/index.ts'

type Parts = { store: Database; vault: Vault; config: Pick<Config, 'limits'> }

/** All that the authors of a project have decided, with what is secret of it: it never leaves the server so. */
export type State = {
  environments: string[]
  settings: AuthoredSettings
  variables: AuthoredVariable[]
  connections: AuthoredSource[]
  queries: Query[]
  evaluations: EvaluationCase[]
  alerts: AuthoredAlert[]
}

export type AuthoredSettings = { allowedOrigins: string[]; questions: QuestionSettings; replay: ReplaySettings }

export type AuthoredAlert = { alert: AlertRecord; stored: StoredChannel[] }

/** More than a project may have of anything. */
const all = { limit: 1_000_000 }

export async function readState(app: Parts, caller: Caller, projectId: string): Promise<State> {
  const environments = await listEnvironments(app, caller, projectId)
  const { items: queries } = await listQueries(app, caller, { projectId, ...all })
  const { items: cases } = await listCases(app, caller, { projectId, ...all })
  const { items: alerts } = await listAlerts(app, caller, { projectId, ...all })
  const stored = await readStoredChannels(
    app,
    alerts.map(({ id }) => id),
  )
  return {
    environments: environments.map(({ name }) => name),
    settings: {
      allowedOrigins: (await findProject(app, caller, projectId)).allowedOrigins,
      questions: await findQuestionSettings(app, caller, projectId),
      replay: await findReplaySettings(app, caller, projectId),
    },
    variables: await readAuthoredVariables(app, projectId),
    connections: await readAuthoredSources(app, projectId),
    queries,
    // What is only reported waits for somebody who looks at it.
    evaluations: cases.filter(({ source }) => source !== 'reported').toReversed(),
    alerts: alerts.map((alert) => ({ alert, stored: stored.get(alert.id) ?? [] })),
  }
}

/** The document of a project. The same project gives the same document, whatever order its parts were made in. */
export function definitionOf(state: State): WholeDefinition {
  return {
    definition: 1,
    environments: state.environments,
    settings: definedSettings(state.settings),
    variables: state.variables.map(definedVariable),
    connections: state.connections.map(definedConnection),
    queries: state.queries.map(definedQuery),
    evaluations: state.evaluations.map(definedEvaluation).toSorted(by(({ question }) => question)),
    alerts: state.alerts.map(definedAlert).toSorted(by(({ name }) => name)),
  }
}

function by<Item>(nameOf: (item: Item) => string): (left: Item, right: Item) => number {
  return (left, right) => (nameOf(left) < nameOf(right) ? -1 : nameOf(left) > nameOf(right) ? 1 : 0)
}

export function definedSettings({
  allowedOrigins,
  questions: { log, retentionDays, minConfidence },
  replay: { recording, maxCalls, days, redactedSlots },
}: AuthoredSettings): ReadSettings {
  return {
    allowed_origins: allowedOrigins,
    questions: { log, retention_days: retentionDays, min_confidence: minConfidence },
    replay: { recording, max_calls: maxCalls, days, redacted_slots: redactedSlots },
  }
}

export function definedVariable({ name, environment, isSecret, value, origins }: AuthoredVariable): DefinedVariable {
  return { name, environment, secret: isSecret, value: isSecret ? hidden : value, origins }
}

export function definedConnection(source: AuthoredSource): DefinedConnection {
  const { rules } = source
  return {
    table_name: source.tableName,
    name: source.name,
    kind: source.kind,
    config: source.configuration === null ? null : normalConfiguration(maskConfiguration(source.configuration)),
    pagination: source.pagination === null ? null : paginationSchema.parse(source.pagination),
    for_each: source.forEach === null ? null : forEachSchema.parse(source.forEach),
    load: definedLoad(source.load),
    schedule: source.schedule,
    schedule_time_zone: source.scheduleTimeZone,
    keep_versions: source.keepVersions,
    schema: {
      columns: rules.columns
        .map(({ sourceKey, ...rule }) => ({ source_name: sourceKey, ...rule }))
        .toSorted(by(({ source_name: name }) => name)),
      on_mismatch: rules.onMismatch,
      on_breaking: rules.onBreaking,
      checks: rules.checks,
    },
  }
}

/** What an earlier version has stored is written as it is now. */
export function normalConfiguration(configuration: HttpConfiguration): HttpConfiguration {
  return httpConfiguration.safeParse(configuration).data ?? configuration
}

/** Slots keep their order, which is that of forms; the words about each stand in the order in which a definition has them. */
function normalSlots(slots: SlotsSchema): SlotsSchema {
  return slotsSchema.safeParse(slots).data ?? slots
}

function definedLoad({ mode, primaryKey, cursor, deleteMarker }: LoadRule): DefinedConnection['load'] {
  return {
    mode,
    ...(primaryKey !== undefined && { primary_key: primaryKey }),
    ...(cursor !== undefined && {
      cursor: {
        field: cursor.field,
        ...(cursor.parameter !== undefined && { parameter: cursor.parameter }),
        ...(cursor.initialValue !== undefined && { initial_value: cursor.initialValue }),
        ...(cursor.lookBack !== undefined && { look_back: cursor.lookBack }),
      },
    }),
    ...(deleteMarker !== undefined && { delete_marker: deleteMarker }),
  }
}

export function definedQuery(query: Query): DefinedQuery {
  const { perMinute, burst } = query.rateLimit ?? {}
  return {
    name: query.name,
    sql: query.sql,
    description: query.description,
    slots: normalSlots(query.slots),
    examples: query.examples,
    cache_seconds: query.cacheSeconds,
    timeout_ms: query.timeoutMs,
    max_rows: query.maxRows,
    max_bytes: query.maxBytes,
    rate_limit: perMinute === undefined || burst === undefined ? null : { per_minute: perMinute, burst },
    chart: query.chart,
    deployed: Object.fromEntries(query.deployments.map(({ environment, version }) => [environment, version])),
  }
}

export function definedEvaluation(each: EvaluationCase): DefinedEvaluation {
  return {
    question: each.question,
    expected_query: each.expectedQuery,
    expected_parameters: each.expectedParameters,
  }
}

export function definedAlert({ alert, stored }: AuthoredAlert): DefinedAlert {
  return {
    name: alert.name,
    type: alert.type,
    threshold: alert.threshold,
    resolve_threshold: alert.resolveThreshold,
    window_minutes: alert.windowMinutes,
    for_minutes: alert.forMinutes,
    min_requests: alert.minRequests,
    remind_minutes: alert.remindMinutes,
    environment: alert.environment,
    query: alert.query,
    enabled: alert.enabled,
    channels: stored.map(shownChannel),
  }
}
