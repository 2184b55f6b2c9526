import { httpConfiguration, forEach as forEachSchema, pagination as paginationSchema } from '../../api/connections.ts'
import type { HttpConfiguration } from '../../api/connections.ts'
import {
  definedAlert as alertSchema,
  definedConnection as connectionSchema,
  definedEvaluation as evaluationSchema,
  definedModel as modelSchema,
  definedQuery as querySchema,
  definedSchema,
  readSettings,
  type DefinedAlert,
  type DefinedConnection,
  type DefinedEvaluation,
  type DefinedModel,
  type DefinedQuery,
  type DefinedVariable,
  type ReadSettings,
  type WholeDefinition,
} from '../../api/definition.ts'
import type { DefinedApi } from '../../api/apis.ts'
import { slotsSchema, type SlotsSchema } from '../../api/slots.ts'
import { toWire } from '../../api/wire-codec.ts'
import type { Caller, Vault } from '../access/index.ts'
import type { Config } from '../config.ts'
import {
  hidden,
  maskConfiguration,
  readAuthoredSources,
  readAuthoredVariables,
  readSharedApis,
  type AuthoredSource,
  type AuthoredVariable,
  type SharedApi,
} from '../connections/index.ts'
import { mapInPieces } from '../flow/index.ts'
import { listModels, type Model } from '../models/index.ts'
import type { RowTest } from '../../api/row-tests.ts'
import { readTests } from '../row-tests/index.ts'
import { findProject, listEnvironments } from '../projects/index.ts'
import { listQueries, type Query } from '../queries/index.ts'
import { findQuestionSettings, listCases, type EvaluationCase, type QuestionSettings } from '../questions/index.ts'
import { findReplaySettings, type ReplaySettings } from '../rollout/index.ts'
import type { Database, Page } from '../store/index.ts'
import { listAlerts, readStoredChannels, shownChannel, type AlertRecord, type StoredChannel } from '../usage/index.ts'

type Parts = { store: Database; vault: Vault; config: Pick<Config, 'limits'> }

/** All that the authors of a project have decided, with what is secret of it: it never leaves the server so. */
export type State = {
  environments: string[]
  settings: AuthoredSettings
  variables: AuthoredVariable[]
  apis: SharedApi[]
  connections: AuthoredSource[]
  models: AuthoredModel[]
  queries: Query[]
  tests: RowTest[]
  evaluations: EvaluationCase[]
  alerts: AuthoredAlert[]
}

/** A model: its statement, and all else that the author of a table decides. */
export type AuthoredModel = Omit<AuthoredSource, 'name'> & Pick<Model, 'name' | 'sql' | 'description' | 'tags'>

export type AuthoredSettings = { allowedOrigins: string[]; questions: QuestionSettings; replay: ReplaySettings }

export type AuthoredAlert = { alert: AlertRecord; stored: StoredChannel[] }

/** Rows that are read at once: the driver reads an answer of the database without letting others in between. */
const pageLength = 200

async function allOf<Item>(page: (asked: { limit: number; cursor?: string }) => Promise<Page<Item>>): Promise<Item[]> {
  const all: Item[] = []
  for (let cursor: string | null | undefined; cursor !== null;) {
    const { items, nextCursor } = await page({ limit: pageLength, ...(cursor !== undefined && { cursor }) })
    all.push(...items)
    cursor = nextCursor
  }
  return all
}

export async function readState(app: Parts, caller: Caller, projectId: string): Promise<State> {
  const environments = await listEnvironments(app, caller, projectId)
  const sources = await readAuthoredSources(app, projectId)
  const models = await allOf((page) => listModels(app, caller, { projectId, ...page }))
  const queries = await allOf((page) => listQueries(app, caller, { projectId, ...page }))
  const cases = await allOf((page) => listCases(app, caller, { projectId, ...page }))
  const alerts = await allOf((page) => listAlerts(app, caller, { projectId, ...page }))
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
    apis: await readSharedApis(app, projectId),
    connections: sources.filter(({ kind }) => kind !== 'model'),
    models: models.flatMap(({ id, name, sql, description, tags }): AuthoredModel[] => {
      const source = sources.find((each) => each.id === id)
      return source === undefined ? [] : [{ ...source, name, sql, description, tags }]
    }),
    queries,
    tests: await readTests(app, projectId),
    // Reports that are not confirmed wait for an editor.
    evaluations: cases.filter(({ source }) => source !== 'reported').toReversed(),
    alerts: alerts.map((alert) => ({ alert, stored: stored.get(alert.id) ?? [] })),
  }
}

/** The document of a project. The same project gives the same document, whatever order its parts were made in. */
export async function definitionOf(state: State): Promise<WholeDefinition> {
  return {
    definition: 1,
    environments: state.environments,
    settings: definedSettings(state.settings),
    variables: state.variables.map(definedVariable),
    apis: await mapInPieces(state.apis, definedApi),
    connections: await mapInPieces(state.connections, definedConnection),
    models: await mapInPieces(state.models, definedModel),
    queries: await mapInPieces(state.queries, definedQuery),
    tests: state.tests,
    evaluations: (await mapInPieces(state.evaluations, definedEvaluation)).toSorted(by(({ question }) => question)),
    alerts: state.alerts.map(definedAlert).toSorted(by(({ name }) => name)),
  }
}

function by<Item>(nameOf: (item: Item) => string): (left: Item, right: Item) => number {
  return (left, right) => (nameOf(left) < nameOf(right) ? -1 : nameOf(left) > nameOf(right) ? 1 : 0)
}

export function definedSettings(settings: AuthoredSettings): ReadSettings {
  return toWire(readSettings, settings)
}

export function definedVariable({ name, environment, isSecret, value, origins }: AuthoredVariable): DefinedVariable {
  return { name, environment, secret: isSecret, value: isSecret ? hidden : value, origins }
}

/** As PUT takes it: a base address has no method. */
export function definedApi({ name, configuration, rate, tries }: Omit<SharedApi, 'id'>): DefinedApi {
  const { method: _, ...config } = normalConfiguration(maskConfiguration(configuration))
  return { name, config, rate, tries }
}

/** Fields of a connection that are values here; the others are stored as the wire has them. */
export const connectionFields = connectionSchema.omit({ config: true, pagination: true, for_each: true, schema: true })

export function definedConnection(source: AuthoredSource): DefinedConnection {
  const { configuration, pagination, forEach, rules } = source
  return {
    ...toWire(connectionFields, { ...source, kind: source.kind === 'file' ? 'file' : 'http_api' }),
    config: configuration === null ? null : normalConfiguration(maskConfiguration(configuration)),
    pagination: pagination === null ? null : paginationSchema.parse(pagination),
    for_each: forEach === null ? null : forEachSchema.parse(forEach),
    schema: definedRules(rules),
  }
}

function definedRules(rules: AuthoredSource['rules']): DefinedConnection['schema'] {
  return {
    ...toWire(schemaFields, {
      ...rules,
      columns: rules.columns
        .map(({ sourceKey, ...rule }) => ({ sourceName: sourceKey, ...rule }))
        .toSorted(by(({ sourceName }) => sourceName)),
    }),
    checks: rules.checks,
  }
}

const modelFields = modelSchema.omit({ schema: true })

export function definedModel(model: AuthoredModel): DefinedModel {
  return { ...toWire(modelFields, model), schema: definedRules(model.rules) }
}

/** Checks are stored as the wire has them. */
export const schemaFields = definedSchema.omit({ checks: true })

/** A configuration that an earlier version stored, written as it is now. */
export function normalConfiguration(configuration: HttpConfiguration): HttpConfiguration {
  return httpConfiguration.safeParse(configuration).data ?? configuration
}

/** Slots keep their order, which is that of forms; the words about each stand in the order in which a definition has them. */
function normalSlots(slots: SlotsSchema): SlotsSchema {
  return slotsSchema.safeParse(slots).data ?? slots
}

export function definedQuery(query: Query): DefinedQuery {
  const deployed = Object.fromEntries(query.deployments.map(({ environment, version }) => [environment, version]))
  return toWire(querySchema, { ...query, slots: normalSlots(query.slots), deployed })
}

export function definedEvaluation(each: EvaluationCase): DefinedEvaluation {
  return toWire(evaluationSchema, each)
}

/** Channels are shown without what is secret of them. */
export const alertFields = alertSchema.omit({ channels: true })

export function definedAlert({ alert, stored }: AuthoredAlert): DefinedAlert {
  return { ...toWire(alertFields, alert), channels: stored.map(shownChannel) }
}
