import { fixedLimits } from '../../api/limits.ts'
import type { model } from '../../api/models.ts'
import type { Value } from '../../api/wire-codec.ts'
import { requireRole, type Caller } from '../access/index.ts'
import {
  changeDatasource,
  deleteDatasource,
  insertDatasource,
  queueRefresh,
  readDatasources,
  type Datasource,
  type SourceApp,
} from '../connections/index.ts'
import { liveTables, type Catalogs, type DeployedQueries, type TableModels } from '../data/index.ts'
import { Failure, invalidField } from '../failure.ts'
import { newId } from '../ids.ts'
import type { Jobs } from '../jobs/index.ts'
import {
  lockProjectForQuota,
  pageAfter,
  requireRoomInProject,
  type Database,
  type LoadRule,
  type Page,
} from '../store/index.ts'
import { below, graphOf, refuseCycle } from './graph.ts'
import { refuseNewRows } from './placeholders.ts'
import { readModels, type ModelRecord } from './records.ts'
import { examineStatement, type ExaminedModel, type StatementParts } from './statement.ts'

/** A table that is built from other tables, with how its data stands. */
export type Model = Value<typeof model>

export type ModelContent = {
  sql: string
  description: string
  load: LoadRule
  schedule: string | null
  scheduleTimeZone: string
  keepVersions: number
  tags: string[]
  /** Tables that its text names and that have no data yet: until they do, nobody can look at it. */
  pending?: string[]
}

type Named = { projectId: string; name: string }
export type ModelApp = SourceApp & StatementParts & { jobs: Jobs }

/** A port: refuses SQL that would not pass the tests with rows of its model. */
export type ModelTests = { refuseFailingModel(projectId: string, model: { name: string; sql: string }): Promise<void> }

export async function createModel(app: ModelApp, caller: Caller, input: Named & ModelContent): Promise<Model> {
  const { projectId, name } = input
  await requireRole(app, caller, projectId, 'editor')
  const examined = await examineAmong(app, input)
  const datasourceId = newId('datasource')
  await app.store.db.transaction().execute(async (transaction) => {
    await requireRoomInProject(transaction, {
      projectId,
      table: 'models',
      most: fixedLimits.models.value,
      what: 'Models of a project are',
    })
    // Others may have been saved since the statement was looked at.
    refuseCycle(graphWith(await readModels(transaction, projectId), name, examined), name)
    const { sql, description, pending: _pending, ...settings } = input
    await insertDatasource(app, transaction, caller, {
      ...settings,
      id: datasourceId,
      kind: 'model',
      tableName: name,
    })
    await transaction
      .insertInto('models')
      .values({ datasourceId, projectId, name, ...storedContent({ sql, description, examined }) })
      .execute()
    // As where its tables changed: without their data it waits for that.
    const build = { jobType: 'rebuild_model', projectId, sourceId: datasourceId, input: { asked: true } }
    await app.jobs.enqueue(transaction, { ...build, source: 'datasource', sourceEventType: 'data_changed' })
  })
  return findModel(app, caller, input)
}

/** Its tables and columns change with its next build, which begins at once; until then the data that serves stays. */
export async function changeModel(
  app: ModelApp & { testGate: ModelTests },
  caller: Caller,
  { force = false, ...input }: Named & ModelContent & { force?: boolean },
): Promise<Model> {
  const { projectId, name } = input
  const before = await findRecord(app, caller, input, 'editor')
  const examined = await examineAmong(app, input)
  if (!force && input.sql !== before.sql) await app.testGate.refuseFailingModel(projectId, input)
  const { datasourceId } = before
  await app.store.db.transaction().execute(async (transaction) => {
    // Two that are changed at once, each to read the other, would each see no cycle.
    await lockProjectForQuota(transaction, projectId)
    refuseCycle(graphWith(await readModels(transaction, projectId), name, examined), name)
    const { sql, description, name: _, pending: _pending, ...settings } = input
    const { load } = await changeDatasource(app, transaction, caller, { ...settings, datasourceId })
    await transaction
      .updateTable('models')
      .set({ ...storedContent({ sql, description, examined }), updatedAt: new Date(app.now()) })
      .where('datasourceId', '=', datasourceId)
      .execute()
    const isSame = sql === before.sql && JSON.stringify(load) === JSON.stringify(input.load)
    if (!isSame) await queueRefresh(app, transaction, caller, { projectId, datasourceId })
  })
  return findModel(app, caller, input)
}

export async function deleteModel(
  app: { store: Database; catalogs: Catalogs; deployments: DeployedQueries; models: TableModels },
  caller: Caller,
  input: Named,
): Promise<void> {
  const { datasourceId } = await findRecord(app, caller, input, 'editor')
  await deleteDatasource(app, caller, { projectId: input.projectId, datasourceId })
}

export async function findModel(app: { store: Database }, caller: Caller, input: Named): Promise<Model> {
  await requireRole(app, caller, input.projectId, 'viewer')
  const models = await readModels(app.store.db, input.projectId)
  const record = models.get(input.name)
  if (record === undefined) throw noModel(input.name)
  const [found] = await described(app, input.projectId, { models, shown: [record] })
  if (found === undefined) throw noModel(input.name)
  return found
}

export async function listModels(
  app: { store: Database },
  caller: Caller,
  input: { projectId: string; limit: number; cursor?: string | undefined },
): Promise<Page<Model>> {
  await requireRole(app, caller, input.projectId, 'viewer')
  const models = await readModels(app.store.db, input.projectId)
  return pageAfter(
    async (after, limit) => {
      const shown = [...models.values()].filter(({ name }) => after === undefined || name > after).slice(0, limit)
      return described(app, input.projectId, { models, shown })
    },
    input,
    ({ name }) => name,
  )
}

/** A model by its name, for a caller with a role. */
export async function findRecord(
  app: { store: Database },
  caller: Caller,
  { projectId, name }: Named,
  role: 'viewer' | 'editor',
): Promise<ModelRecord> {
  await requireRole(app, caller, projectId, role)
  const record = (await readModels(app.store.db, projectId)).get(name)
  if (record === undefined) throw noModel(name)
  return record
}

/** The statement of a model proved over the tables and the other models of its project. */
export async function examineAmong(
  app: ModelApp,
  { projectId, name, sql, load, pending = [] }: Named & Pick<ModelContent, 'sql' | 'load' | 'pending'>,
): Promise<ExaminedModel> {
  refuseNewRows(sql, load)
  const models = await readModels(app.store.db, projectId)
  const examined = await examineStatement(app, models, { projectId, sql }).catch(async (error: unknown) => {
    if (pending.length === 0 || !(error instanceof Failure) || error.reason !== 'invalid_sql') throw error
    return unexamined(app, projectId, pending)
  })
  refuseCycle(graphWith(models, name, examined), name)
  if (examined.columns.length > 0)
    refuseLoad(
      load,
      examined.columns.map((column) => column.name),
    )
  return examined
}

/** A statement before its tables have data; its first build looks at it. */
async function unexamined({ catalogs }: ModelApp, projectId: string, pending: string[]): Promise<ExaminedModel> {
  const { engine: dialect } = await catalogs.get(projectId)
  return { dialect, reads: Object.fromEntries(pending.map((table) => [table, []])), columns: [] }
}

function graphWith(models: ReadonlyMap<string, ModelRecord>, name: string, { reads }: ExaminedModel) {
  return new Map([...graphOf(models), [name, Object.keys(reads)]])
}

function refuseLoad({ mode, primaryKey = [] }: LoadRule, columns: string[]): void {
  const missing = primaryKey.find((key) => !columns.includes(key))
  if (missing !== undefined) throw invalidField('load.primary_key', `names ${missing}, which the SQL does not give`)
  if (mode === 'append') throw invalidField('load.mode', 'must be replace or merge for a model')
}

function storedContent({ sql, description, examined }: { sql: string; description: string; examined: ExaminedModel }) {
  const { dialect, reads, columns } = examined
  return { sql, description, dialect, reads: JSON.stringify(reads), columns: JSON.stringify(columns) }
}

type Shown = { models: ReadonlyMap<string, ModelRecord>; shown: ModelRecord[] }

async function described(app: { store: Database }, projectId: string, { models, shown }: Shown): Promise<Model[]> {
  if (shown.length === 0) return []
  const ids = [...models.values()].map(({ datasourceId }) => datasourceId)
  const [sources, live] = await Promise.all([readDatasources(app, projectId, ids), liveTables(app.store, projectId)])
  const graph = graphOf(models)
  const problemOf = (name: string): string | null => ownProblem(sources.get(models.get(name)?.datasourceId ?? ''))
  return shown.flatMap((record): Model[] => {
    const source = sources.get(record.datasourceId)
    if (source === undefined) return []
    const data = live.get(record.datasourceId)
    const builtFrom = data?.builtFrom ?? []
    const { name, description, sql, dialect, columns } = record
    const under = below(graph, name).find((each) => problemOf(each) !== null)
    const inherited = under === undefined ? null : `The model ${under} is not up to date: ${problemOf(under)}`
    return [
      {
        id: record.datasourceId,
        name,
        description,
        sql,
        dialect,
        columns,
        reads: Object.keys(record.reads).sort(),
        readBy: [...graph].flatMap(([each, reads]) => (reads.includes(name) ? [each] : [])),
        load: source.load,
        schedule: source.schedule,
        scheduleTimeZone: source.scheduleTimeZone,
        keepVersions: source.keepVersions,
        tags: source.tags,
        status: source.status,
        problem: problemOf(name) ?? inherited,
        held: source.held,
        behind: builtFrom.flatMap(({ datasourceId, table, version }) => {
          const now = live.get(datasourceId)
          return now === undefined || now.version === version ? [] : [table]
        }),
        builtFrom: builtFrom.map(({ table, version }) => ({ table, version })),
        rowCount: data?.rows ?? null,
        asOf: data?.fetchedAt ?? null,
        builtAt: source.refreshedAt,
        createdAt: source.createdAt,
      },
    ]
  })
}

function ownProblem(source: Datasource | undefined): string | null {
  return source?.lastError?.message ?? source?.held?.heldBecause.message ?? null
}

function noModel(name: string): Failure {
  return new Failure('not_found', { message: `The project has no model ${name}.` })
}
