import type { SlotsSchema } from '../../api/slots.ts'
import { requireRole, type Caller } from '../access/index.ts'
import { Failure } from '../failure.ts'
import { liveVersion, type LiveVersion } from './deployment-index.ts'
import { readDraft, type Draft } from './drafts.ts'
import { examine } from './inspection.ts'
import { runQuery, type RunAnswer } from './run.ts'
import { checkSlots, sentence } from './slots.ts'
import type { Database } from '../store/index.ts'
import type { Catalogs, QueryEngine, Plan } from '../data/index.ts'
import type { Answers } from './answers.ts'
import type { QueryCallers } from './callers.ts'
import type { CallWatch } from './call-watch.ts'
import type { Observe } from '../observe.ts'
import type { Config } from '../config.ts'
import type { Clock } from '../clock.ts'

type Parts = {
  store: Database
  catalogs: Catalogs
  engine: QueryEngine
  answers: Answers
  queryCallers: QueryCallers
  callWatch: CallWatch
  observe: Observe
  config: Config
  now: Clock
}

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
  const { version, left } = await draftVersion(app, caller, input)
  const { projectId, name, signal } = input
  const parameters = checkedParameters(version, input.parameters).parameters
  return runQuery(app, {
    projectId,
    environment: null,
    name,
    version: { ...version, timeoutMs: left().timeoutMs },
    parameters,
    caller: null,
    requestId: caller.requestId,
    entry: 'preview',
    signal,
  })
}

/** DuckDB's plan of a draft. */
export async function explainQuery(app: Parts, caller: Caller, input: PreviewInput): Promise<Plan> {
  const { version, left } = await draftVersion(app, caller, input)
  const { slots } = checkedParameters(version, input.parameters)
  const catalog = await app.catalogs.get(input.projectId)
  return app.engine.explain(input.projectId, catalog, { sql: version.sql, slots }, left())
}

/** What is left of the time that inspecting and running a draft have together. */
type Left = () => { timeoutMs: number }

/** The draft as if it were a version. It has no number and no answers are kept of it. */
async function draftVersion(
  app: Parts,
  caller: Caller,
  input: PreviewInput,
): Promise<{ version: LiveVersion; left: Left }> {
  await requireRole(app, caller, input.projectId, 'editor')
  const draft = await readDraft(app, input)
  const { previewRows, queryTimeoutMs } = app.config.limits
  const deadlineMs = performance.now() + (draft.timeoutMs ?? queryTimeoutMs)
  const left: Left = () => ({ timeoutMs: Math.max(1, deadlineMs - performance.now()) })
  const sql = input.sql ?? draft.sql
  const slots = input.slots ?? (await slotsFor(app, draft, { sql, left }))
  const { tables, columns } = await examine(app, input.projectId, { sql, slots, limits: left() })
  const version = liveVersion({
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
  return { version, left }
}

/** Other SQL than is saved may have gained or lost slots: those both have keep what the draft says of them. */
async function slotsFor(app: Parts, draft: Draft, { sql, left }: { sql: string; left: Left }): Promise<SlotsSchema> {
  if (sql === draft.sql) return draft.slots
  const { slots } = await examine(app, draft.projectId, { sql, limits: left() })
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
