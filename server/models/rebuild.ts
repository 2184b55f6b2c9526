import { systemCaller, type Caller } from '../access/index.ts'
import type { Config } from '../config.ts'
import { buildTable, refreshDatasource, type IngestApp } from '../connections/index.ts'
import { builtFromOf, isBuiltFromSame, liveDataVersion, type LiveData, type ProjectCatalog } from '../data/index.ts'
import type { CatalogTable } from '../engine/index.ts'
import type { JobContext, JobRecord, Jobs } from '../jobs/index.ts'
import type { Database } from '../store/index.ts'
import { below, graphOf, refuseCycle } from './graph.ts'
import { findRecord } from './models.ts'
import { newRows } from './new-rows.ts'
import { asTables, newRowTables } from './placeholders.ts'
import { readModels, type ModelRecord } from './records.ts'
import { examineStatement, withoutData } from './statement.ts'

/** Queues a rebuild by hand: `full` builds everything anew where only what is new would be. */
export async function rebuildModel(
  app: { store: Database; jobs: Jobs },
  caller: Caller,
  input: { projectId: string; name: string; full?: boolean },
): Promise<JobRecord> {
  const { datasourceId } = await findRecord(app, caller, input, 'editor')
  return refreshDatasource(app, caller, { ...input, datasourceId })
}

/**
 * The work of a `rebuild_model` job. One that a change of a table caused waits for the models below it, whose end queues
 * it again, and does nothing where it was built from the same versions already.
 */
export async function runRebuild(app: IngestApp & { config: Config }, context: JobContext): Promise<void> {
  const { projectId, sourceId, sourceEventType } = context.job
  const models = await readModels(app.store.db, projectId)
  const known = [...models.values()].find(({ datasourceId }) => datasourceId === sourceId)
  // It was deleted while the job waited.
  if (known === undefined) return
  const isChange = sourceEventType === 'data_changed'
  if (isChange && (await isAwaiting(app, models, known))) return
  await buildTable(app, systemCaller, context, async () => {
    // Another process may have made the change a moment ago.
    app.catalogs.forget(projectId)
    const model = known.columns.length > 0 ? known : await lookAt(app, models, known)
    const names = Object.keys(model.reads)
    const project = await app.catalogs.get(projectId)
    const catalog = project.together(names)
    const missing = names.filter((name) => !catalog.moments.has(name))
    if (missing.length > 0) {
      if (isChange) return null
      throw withoutData(model.name, missing)
    }
    const builtFrom = builtFromOf(catalog, names)
    const live = await liveDataVersion(app.store, sourceId)
    if (isChange && live !== null && isBuiltFromSame(live.builtFrom, builtFrom)) return null
    const isWhole = live === null || live.parted === null || context.job.input['full'] === true
    const came = isWhole ? null : await cameSince(app, context, { model, project, catalog, live })
    return {
      kind: 'built',
      joins: came === null || live === null ? null : live.version,
      statement: { model: model.name, sql: model.sql, dialect: model.dialect },
      builtFrom,
      write: (path, base, limits) => {
        const { modelRows: maxRows, modelBytes: maxBytes, modelTimeoutMs } = app.config.limits
        const timeoutMs = Math.min(modelTimeoutMs, limits.timeoutMs ?? modelTimeoutMs)
        const read = asTables(catalog, model, base === null || came === null ? undefined : came)
        return app.engine.writeTable(
          projectId,
          read.catalog,
          { dialect: model.dialect, sql: read.sql, path, maxRows, maxBytes },
          { ...limits, timeoutMs },
        )
      },
    }
  })
}

type Merged = { model: ModelRecord; project: ProjectCatalog; catalog: ProjectCatalog; live: LiveData }

/** The rows that a merged build reads as new, by table; none where its statement reads tables alone. Null for a full build. */
async function cameSince(
  app: IngestApp,
  { signal }: JobContext,
  { model, project, catalog, live }: Merged,
): Promise<Map<string, CatalogTable> | null> {
  const { sql, dialect, reads } = model
  if (newRowTables(sql).length === 0) return new Map()
  if (dialect === 'trino') return null
  const since = { catalog: project, now: catalog, reads: Object.keys(reads), sql, builtFrom: live.builtFrom }
  return newRows(app, since, { signal, timeoutMs: app.config.limits.modelTimeoutMs })
}

/** A model that was saved before its tables had data. */
async function lookAt(
  app: IngestApp,
  models: ReadonlyMap<string, ModelRecord>,
  model: ModelRecord,
): Promise<ModelRecord> {
  const { projectId, sql, dialect, datasourceId, name } = model
  const { tables } = await app.catalogs.get(projectId)
  if (Object.keys(model.reads).some((each) => !tables.some((table) => table.name === each))) return model
  const examined = await examineStatement(app, models, { projectId, sql, dialect })
  refuseCycle(new Map([...graphOf(models), [name, Object.keys(examined.reads)]]), name)
  const stored = { reads: JSON.stringify(examined.reads), columns: JSON.stringify(examined.columns) }
  const saved = app.store.db.updateTable('models').set(stored).where('datasourceId', '=', datasourceId)
  // Its author may have changed it since it was read.
  await saved.where('sql', '=', sql).execute()
  return { ...model, ...examined }
}

/** Whether a model that it is built from is about to be built itself. */
async function isAwaiting(
  { store, jobs }: { store: Database; jobs: Jobs },
  models: ReadonlyMap<string, ModelRecord>,
  model: ModelRecord,
): Promise<boolean> {
  const under = below(graphOf(models), model.name).flatMap((name) => models.get(name)?.datasourceId ?? [])
  return store.db.transaction().execute(async (transaction) => {
    for (const sourceId of under) {
      if (await jobs.isUnfinished(transaction, { jobType: 'rebuild_model', sourceId })) return true
    }
    return false
  })
}
