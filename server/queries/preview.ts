import type { SlotsSchema } from '../../api/slots.ts'
import { requireRole, type Caller } from '../access/index.ts'
import type { App } from '../app.ts'
import { Failure } from '../failure.ts'
import { liveVersion, type LiveVersion } from './deployment-index.ts'
import { readDraft, type Draft } from './drafts.ts'
import { examine } from './inspection.ts'
import { runQuery, type RunAnswer } from './run.ts'
import { checkSlots, sentence } from './slots.ts'

type Parts = Pick<App, 'store' | 'catalogs' | 'engine' | 'answers' | 'queryCallers' | 'observe' | 'config' | 'now'>

export type PreviewInput = {
  projectId: string
  name: string
  parameters: Record<string, unknown>
  /** Instead of what is saved. */
  sql?: string | undefined
  slots?: SlotsSchema | undefined
}

/** Runs a draft on the path of every call, for its author and with a preview's limits. */
export async function previewQuery(
  app: Parts,
  caller: Caller,
  input: PreviewInput & { signal?: (() => AbortSignal) | undefined },
): Promise<RunAnswer> {
  const version = await draftVersion(app, caller, input)
  const { projectId, name, signal } = input
  const parameters = checkedParameters(version, input.parameters).parameters
  return runQuery(app, {
    projectId,
    environment: null,
    name,
    version,
    parameters,
    keyId: null,
    requestId: caller.requestId,
    entry: 'preview',
    signal,
  })
}

/** DuckDB's plan of a draft. */
export async function explainQuery(app: Parts, caller: Caller, input: PreviewInput): Promise<string> {
  const version = await draftVersion(app, caller, input)
  const { slots } = checkedParameters(version, input.parameters)
  const catalog = await app.catalogs.get(input.projectId)
  return app.engine.explain(input.projectId, catalog, { sql: version.sql, slots })
}

/** The draft as if it were a version. It has no number and no answers are kept of it. */
async function draftVersion(app: Parts, caller: Caller, input: PreviewInput): Promise<LiveVersion> {
  await requireRole(app, caller, input.projectId, 'editor')
  const draft = await readDraft(app, input)
  const sql = input.sql ?? draft.sql
  const slots = input.slots ?? (await slotsFor(app, draft, sql))
  const { tables, columns } = await examine(app, input.projectId, { sql, slots })
  const { previewRows } = app.config.limits
  return liveVersion({
    ...draft,
    id: `draft ${draft.id}`,
    queryId: draft.id,
    number: 0,
    sql,
    slots,
    tables,
    columns,
    cacheSeconds: null,
    maxRows: Math.min(draft.maxRows ?? previewRows, previewRows),
    createdBy: draft.updatedBy,
  })
}

/** Other SQL than is saved may have gained or lost slots: those both have keep what the draft says of them. */
async function slotsFor(app: Parts, draft: Draft, sql: string): Promise<SlotsSchema> {
  if (sql === draft.sql) return draft.slots
  const { slots } = await examine(app, draft.projectId, { sql })
  const properties = Object.entries(slots.properties).map(
    ([name, inferred]) => [name, draft.slots.properties[name] ?? inferred] as const,
  )
  const required = slots.required.filter(
    (name) => !Object.hasOwn(draft.slots.properties, name) || draft.slots.required.includes(name),
  )
  return { ...slots, properties: Object.fromEntries(properties), required }
}

/** As a management call says it: the values stand in the field `parameters`. */
function checkedParameters(version: LiveVersion, parameters: Record<string, unknown>) {
  const checked = checkSlots(version.compiled(), parameters)
  if (!('details' in checked)) return checked
  throw new Failure('invalid_request', {
    reason: 'invalid_field',
    message: `The parameters are not as expected: ${sentence(checked.details)}.`,
    details: checked.details.map(({ field, message }) => ({ field: `parameters.${field}`, message })),
  })
}
