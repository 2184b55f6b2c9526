import type { SlotsSchema } from '../../../api/slots.ts'
import { labelOf, requireRole, type Caller } from '../../access/index.ts'
import { Failure, listProblems } from '../../failure.ts'
import { defaultSettings } from '../drafts/content.ts'
import { liveVersion, type LiveVersion } from '../deployed/deployment-index.ts'
import { readDraft, type Draft } from '../drafts/drafts.ts'
import { examine } from '../drafts/inspection.ts'
import { runQuery, streamQuery } from './run.ts'
import type { Run, RunAnswer, RunParts, StreamAnswer } from './run-types.ts'
import { checkSlots } from '../slots/slots.ts'
import type { Database } from '../../store/index.ts'
import type { EnginePlan, ReadFormat } from '../../engine/index.ts'

type Parts = RunParts & { store: Database }

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
  return runQuery(app, draftRun(caller, input, { ...version, timeoutMs: left().timeoutMs }))
}

/** The same with all of its rows, for a file of them. */
export async function streamDraft(
  app: Parts,
  caller: Caller,
  input: PreviewInput & { signal?: (() => AbortSignal) | undefined; format: ReadFormat },
): Promise<StreamAnswer> {
  const { version, left, draft } = await draftVersion(app, caller, input)
  const whole = { ...version, maxRows: draft.maxRows, timeoutMs: left().timeoutMs }
  return streamQuery(app, draftRun(caller, input, whole), input.format)
}

function draftRun(
  { requestId }: Caller,
  { projectId, name, parameters, signal }: PreviewInput & { signal?: (() => AbortSignal) | undefined },
  version: LiveVersion,
): Run {
  return {
    projectId,
    environment: null,
    name,
    version,
    parameters: checkedParameters(version, parameters).parameters,
    caller: null,
    requestId,
    entry: 'preview',
    signal,
  }
}

export type ScratchInput = {
  projectId: string
  sql: string
  slots?: SlotsSchema | undefined
  parameters: Record<string, unknown>
  maxRows?: number | undefined
  maxBytes?: number | undefined
}

/** Runs SQL that nobody has saved: inspected, limited and told as a draft is, and of no name. */
export async function runScratch(
  app: Parts,
  caller: Caller,
  input: ScratchInput & { signal?: (() => AbortSignal) | undefined },
): Promise<RunAnswer> {
  const { projectId, sql, maxRows, maxBytes = Infinity, signal } = input
  await requireRole(app, caller, projectId, 'editor')
  const { previewRows, queryBytes, queryTimeoutMs } = app.config.limits
  const left = timeLeft(queryTimeoutMs)
  const { engine: dialect } = await app.catalogs.get(projectId)
  const examined = await examine(app, projectId, { sql, slots: input.slots, dialect, limits: left() })
  const { slots, tables, columns } = examined
  const version = liveVersion({
    ...defaultSettings,
    dialect,
    id: 'scratch',
    queryId: 'scratch',
    number: 0,
    description: '',
    examples: [],
    sql,
    slots,
    tables,
    columns,
    maxRows: Math.min(maxRows ?? previewRows, previewRows),
    maxBytes: Math.min(maxBytes, queryBytes),
    contentHash: '',
    createdAt: new Date(app.now()),
    createdBy: labelOf(caller),
  })
  return runQuery(app, {
    projectId,
    environment: null,
    name: '',
    version: { ...version, timeoutMs: left().timeoutMs },
    parameters: checkedParameters(version, input.parameters).parameters,
    caller: null,
    requestId: caller.requestId,
    entry: 'preview',
    signal,
  })
}

/** The engine's plan of a draft. */
export async function explainQuery(app: Parts, caller: Caller, input: PreviewInput): Promise<EnginePlan> {
  const { version, left } = await draftVersion(app, caller, input)
  const { slots } = checkedParameters(version, input.parameters)
  const catalog = await app.catalogs.get(input.projectId)
  return app.engine.explain(input.projectId, catalog, { dialect: version.dialect, sql: version.sql, slots }, left())
}

/** The time left to inspecting and running a draft together. */
type Left = () => { timeoutMs: number }

function timeLeft(timeoutMs: number): Left {
  const deadlineMs = performance.now() + timeoutMs
  return () => ({ timeoutMs: Math.max(1, deadlineMs - performance.now()) })
}

/** The draft as if it were a version. It has no number and no answers are kept of it. */
async function draftVersion(
  app: Parts,
  caller: Caller,
  input: PreviewInput,
): Promise<{ version: LiveVersion; left: Left; draft: Draft }> {
  await requireRole(app, caller, input.projectId, 'editor')
  const draft = await readDraft(app, input)
  const { previewRows, queryTimeoutMs } = app.config.limits
  const left = timeLeft(draft.timeoutMs ?? queryTimeoutMs)
  const sql = input.sql ?? draft.sql
  const { engine } = await app.catalogs.get(input.projectId)
  const dialect = input.sql === undefined ? draft.dialect : engine
  const slots = input.slots ?? (await slotsFor(app, { ...draft, dialect }, { sql, left }))
  const { tables, columns } = await examine(app, input.projectId, { sql, slots, dialect, limits: left() })
  const version = liveVersion({
    ...draft,
    id: `draft ${draft.id}`,
    queryId: draft.id,
    number: 0,
    dialect,
    sql,
    slots,
    tables,
    columns,
    maxRows: Math.min(draft.maxRows ?? previewRows, previewRows),
    createdBy: draft.updatedBy,
  })
  return { version, left, draft }
}

/** Other SQL than is saved may have gained or lost slots: those both have keep what the draft says of them. */
async function slotsFor(app: Parts, draft: Draft, { sql, left }: { sql: string; left: Left }): Promise<SlotsSchema> {
  if (sql === draft.sql) return draft.slots
  const { slots } = await examine(app, draft.projectId, { sql, dialect: draft.dialect, limits: left() })
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
    message: `The parameters are not as expected: ${listProblems(checked.details, checked.more)}.`,
    details: checked.details.map(({ field, message }) => ({ field: `parameters.${field}`, message })),
    more: checked.more,
  })
}
