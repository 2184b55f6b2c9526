import type { Transaction } from 'kysely'
import type { Definition, WholeDefinition } from '../../api/definition.ts'
import { fixedLimits } from '../../api/limits.ts'
import { recordAct, requireRole, type Caller } from '../access/index.ts'
import { Failure } from '../failure.ts'
import { tablesMovedBy } from '../models/index.ts'
import { checkRelease, hasQuery, readQueryReads, type ReleaseReport } from '../queries/index.ts'
import { inOneTransaction, lockProjectForQuota, type Database, type Tables } from '../store/index.ts'
import { runChangedTests } from './changed-tests.ts'
import { planAll, refuseTwins, type Prune } from './plan-all.ts'
import { entryOf, refusedBy, type PlanEntry } from './plan-entry.ts'
import type { Unloaded } from './plan-queries.ts'
import { definitionOf, readState, type State } from './state.ts'
import type { DefinitionParts, Doing, Planned, Results } from './steps.ts'

/** The document of a project, without anything secret. */
export async function findDefinition(
  app: Pick<DefinitionParts, 'store' | 'vault' | 'config'>,
  caller: Caller,
  projectId: string,
): Promise<WholeDefinition> {
  await requireRole(app, caller, projectId, 'viewer')
  return definitionOf(await readState(app, caller, projectId))
}

export type DefinitionPlan = {
  plan: PlanEntry[]
  applied: boolean
  routing: (ReleaseReport['routing'] & { environment: string }) | null
  jobs: Results['jobs']
  secrets: Results['secrets']
}

type Input = {
  projectId: string
  definition: Definition
  /** Say what would happen, and leave everything as it is. */
  check: boolean
  prune: Prune
  /** Where the queries are meant to go. */
  environment: string
  /** Apply what does not pass its own tests. */
  force: boolean
}

/**
 * Definitions of one project are applied one after the other, and those of all projects few at once: each holds a
 * connection for as long as it takes.
 */
export const definitionTurns = {
  room: 2,
  perName: 1,
  queueLength: 8,
  waitMs: 30_000,
  late: { message: 'Other definitions are still being put. Try again in a moment.', retryAfterSeconds: 5 },
}

/**
 * Makes a project what a document says: all of it or nothing. Each thing is made, changed or deleted by the verb that
 * does so anywhere else, with its checks, its limits and its entry in the audit log. Queries become drafts; what
 * answers changes by a release. A check does the same and takes it back, so that it says what would happen.
 */
export async function putDefinition(app: DefinitionParts, caller: Caller, input: Input): Promise<DefinitionPlan> {
  const { projectId, definition, check } = input
  await requireRole(app, caller, projectId, 'editor')
  refuseTwins(definition)
  const results: Results = { jobs: [], secrets: [], unexamined: new Set() }
  const work = async (store: Database, transaction: Transaction<Tables>) => {
    await lockProjectForQuota(transaction, projectId)
    const within = partsWithin(app, store)
    const state = await readState(within, caller, projectId)
    const doing = { app: within, caller, projectId, results }
    const readers = await readersByTable(store, projectId)
    const movedBy = await tablesMovedBy(store, projectId)
    const steps = await planAll(input, state, await unloadedTables(app, input, state))
    const plan = await doAll(doing, { steps, check })
    for (const entry of plan) {
      const isMoved = ['connection', 'model'].includes(entry.kind) && entry.action !== 'unchanged'
      if (isMoved) entry.readers = readersOfAll(movedBy(entry.name), readers)
    }
    const changed = plan.filter(({ action }) => action !== 'unchanged')
    const report = check ? await lookAhead(doing, { plan, environment: input.environment }) : null
    await runChangedTests(doing, { plan, ...input })
    if (changed.length > 0) {
      const details = countsOf(changed)
      await recordAct(transaction, caller, { action: 'definition.applied', target: projectId, projectId, details })
    }
    return { plan, report }
  }
  const put = () => inOneTransaction(app.store, { takeBack: check }, work)
  const done = await app.definitionGate.run([projectId], put)
  app.catalogs.forget(projectId)
  // Within the transaction nobody else could read them.
  if (!check && definition.settings?.allowed_origins !== undefined) await app.origins.refresh()
  const routing = done.report === null ? null : { environment: input.environment, ...done.report.routing }
  if (check) return { plan: done.plan, applied: false, routing, jobs: [], secrets: [] }
  return { plan: done.plan, applied: true, routing, jobs: results.jobs, secrets: results.secrets }
}

/** Deployed queries by the table that they read. An environment has no tables of its own. */
async function readersByTable(store: Database, projectId: string): Promise<Map<string, PlanEntry['readers']>> {
  const { queries } = await readQueryReads(store, { projectId, limit: fixedLimits.definedObjects.value })
  const readers = new Map<string, PlanEntry['readers']>()
  for (const { name: query, deployments } of queries) {
    for (const { environment, reads } of deployments) {
      for (const table of reads) readers.set(table, [...(readers.get(table) ?? []), { environment, query }])
    }
  }
  return readers
}

function readersOfAll(tables: string[], readers: ReadonlyMap<string, PlanEntry['readers']>): PlanEntry['readers'] {
  const all = tables.flatMap((table) => readers.get(table) ?? [])
  return [...new Map(all.map((each) => [`${each.environment} ${each.query}`, each])).values()]
}

/** Parts that ask the store themselves ask the one of the transaction, too. */
function partsWithin(app: DefinitionParts, store: Database): DefinitionParts {
  const sources = { ...app.alerts.sources, hasQuery: (query: Parameters<typeof hasQuery>[1]) => hasQuery(store, query) }
  return { ...app, store, alerts: { ...app.alerts, sources } }
}

/** A check goes on past what is refused, to say all of it; otherwise nothing is done. */
async function doAll(doing: Doing, { steps, check }: { steps: Planned[]; check: boolean }): Promise<PlanEntry[]> {
  const plan: PlanEntry[] = []
  for (const { kind, name, plan: planStep } of steps) {
    let entry: PlanEntry | undefined
    try {
      const step = planStep()
      entry = step.entry
      plan.push(entry)
      await step.apply?.(doing)
    } catch (error) {
      if (!(error instanceof Failure)) throw error
      if (!check) throw namedFailure(error, { kind, name })
      if (entry === undefined) plan.push((entry = entryOf(kind, name, { action: 'update' })))
      entry.refused = refusedBy(error)
    }
  }
  return plan
}

function namedFailure(failure: Failure, { kind, name }: { kind: PlanEntry['kind']; name: string }): Failure {
  const { code, reason, details, more, retryAfterSeconds, fields } = failure
  return new Failure(code, {
    ...(reason !== undefined && { reason: reason as never }),
    message: `Nothing was applied. The ${kind} ${name}: ${failure.message}`,
    details: (details ?? []).map((each) => ({ ...each, field: `${kind} ${name}: ${each.field}` })),
    more,
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
    ...(fields !== undefined && { fields }),
    cause: failure,
  })
}

/** The report of releasing the changed queries, on top of the plan. */
async function lookAhead(
  { app, caller, projectId, results }: Doing,
  { plan, environment }: { plan: PlanEntry[]; environment: string },
): Promise<ReleaseReport | null> {
  const moved = plan.filter(({ kind, name, action, refused }) => {
    const isSaved = kind === 'query' && (action === 'create' || action === 'update')
    return isSaved && refused === null && !results.unexamined.has(name)
  })
  if (moved.length === 0) return null
  const names = moved.map(({ name }) => name)
  const report = await checkRelease(app, caller, { projectId, environment, names })
  const entries = new Map(report.queries.map((each) => [each.name, each]))
  for (const entry of moved) {
    const own = entries.get(entry.name)
    if (own === undefined) continue
    const { compatibility, changes, callers, previousVersion } = own
    entry.release = { environment, version: previousVersion, compatibility, changes, callers }
  }
  return report
}

/** Tables that will be there and have no rows yet. */
async function unloadedTables(
  app: Pick<DefinitionParts, 'catalogs'>,
  { projectId, definition }: Input,
  state: State,
): Promise<Unloaded> {
  const { tables } = await app.catalogs.get(projectId)
  const loaded = new Set(tables.map(({ name }) => name))
  const named = [
    ...[...state.connections, ...state.models].map(({ tableName }) => tableName),
    ...(definition.models ?? []).map(({ name }) => name),
    ...(definition.connections ?? []).map(({ table_name: tableName }) => tableName),
  ]
  return new Set(named.filter((name) => !loaded.has(name)))
}

function countsOf(changed: PlanEntry[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const { kind, action } of changed) counts[`${kind}_${action}`] = (counts[`${kind}_${action}`] ?? 0) + 1
  return counts
}
