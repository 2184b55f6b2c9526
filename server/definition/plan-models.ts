import { definedModel as modelSchema, type DefinedModel } from '../../api/definition.ts'
import { fromWire } from '../../api/wire-codec.ts'
import { changeSchema, checkServedData, ruleChanges } from '../connections/index.ts'
import { mapInPieces } from '../flow/index.ts'
import { changeModel, createModel, deleteModel } from '../models/index.ts'
import type { ColumnRule } from '../store/index.ts'
import { tablesIn } from './known-words.ts'
import { authoredRules } from './plan-connections.ts'
import { changesBetween, comparedEntry, entryOf } from './plan-entry.ts'
import type { Unloaded } from './plan-queries.ts'
import { definedModel, type AuthoredModel } from './state.ts'
import type { Doing, Step } from './steps.ts'

export function planModel(known: AuthoredModel | undefined, given: DefinedModel, unloaded: Unloaded): Step {
  const entry =
    known === undefined
      ? entryOf('model', given.name, { action: 'create', changes: changesBetween({}, given) })
      : comparedEntry('model', given.name, changesBetween(definedModel(known), given))
  if (entry.action === 'unchanged') return { entry, apply: null }
  return { entry, apply: (doing) => saveModel(doing, { known, given, unloaded, entry }) }
}

type Saving = { known: AuthoredModel | undefined; given: DefinedModel; unloaded: Unloaded; entry: Step['entry'] }

async function saveModel(doing: Doing, { known, given, unloaded, entry }: Saving): Promise<void> {
  const { app, caller, projectId, results } = doing
  const { schema: _schema, ...content } = fromWire(modelSchema, given)
  const pending = tablesIn(given.sql, unloaded).filter((name) => name !== given.name)
  if (pending.length > 0) results.unexamined.add(given.name)
  const input = { projectId, ...content, tags: known?.tags ?? [], pending }
  const fields = entry.changes.map(({ field }) => field)
  const isContent = known === undefined || fields.some((field) => !field.startsWith('schema'))
  const saved = !isContent
    ? known
    : known === undefined
      ? await createModel(app, caller, input)
      : // Its tests come with the definition, and are run once all of it is there.
        await changeModel(app, caller, { ...input, force: true })
  if (known === undefined) results.jobs.push(...(await firstBuild(doing, saved.id, given.name)))
  if (known === undefined || fields.some((field) => field.startsWith('schema'))) {
    await putModelRules(doing, { datasourceId: saved.id, before: known?.rules.columns ?? [], given })
  }
  if (fields.includes('schema.checks') && known !== undefined) {
    entry.failedChecks = await checkServedData(app, { projectId, tableName: given.name, checks: given.schema.checks })
  }
  if (known !== undefined && isContent) entry.notes.push('Its next build begins when it is applied.')
}

/** The build that its making has queued. */
async function firstBuild({ app, projectId }: Doing, sourceId: string, tableName: string) {
  const jobs = await app.store.db.transaction().execute(async (transaction) => {
    const found = await app.jobs.findQueued(transaction, { jobType: 'rebuild_model', sourceId, input: { asked: true } })
    return found === undefined || found.projectId !== projectId ? [] : [found]
  })
  return jobs.map(({ id }) => ({ id, tableName }))
}

async function putModelRules(
  { app, caller, projectId }: Doing,
  { datasourceId, before, given }: { datasourceId: string; before: ColumnRule[]; given: DefinedModel },
): Promise<void> {
  const { columns, onMismatch, onBreaking, checks } = authoredRules(given.schema)
  const input = { columns: ruleChanges(before, columns), onMismatch, onBreaking, checks }
  await changeSchema(app, caller, { projectId, datasourceId, ...input })
}

export function dropModel(known: AuthoredModel): Step {
  const entry = entryOf('model', known.name, { action: 'delete' })
  return {
    entry,
    apply: ({ app, caller, projectId }) => deleteModel(app, caller, { projectId, name: known.name }),
  }
}

/** Models behind those that their text names, so that each is saved after what it may read. */
export async function modelsInOrder(given: DefinedModel[] | undefined): Promise<DefinedModel[] | undefined> {
  if (given === undefined) return undefined
  const byName = new Map(given.map((model) => [model.name, model]))
  const reads = new Map(await mapInPieces(given, ({ name, sql }) => [name, tablesIn(sql, byName)] as const))
  const [ordered, seen]: [DefinedModel[], Set<string>] = [[], new Set()]
  const place = (model: DefinedModel): void => {
    if (seen.has(model.name)) return
    seen.add(model.name)
    for (const name of reads.get(model.name) ?? []) place(byName.get(name) ?? model)
    ordered.push(model)
  }
  for (const model of given) place(model)
  return ordered
}
