import type { Definition, WholeDefinition } from '../../api/definition.ts'
import { recordAct, requireRole, type Caller } from '../access/index.ts'
import { Failure } from '../failure.ts'
import { addEnvironment, deleteEnvironment, orderEnvironments } from '../projects/index.ts'
import { checkRelease, hasQuery, type ReleaseReport } from '../queries/index.ts'
import { inOneTransaction, lockProjectForQuota, type Database } from '../store/index.ts'
import { dropConnection, dropVariable, planConnection, planVariable, variableName } from './plan-connections.ts'
import { entryOf, refusedBy, type PlanEntry } from './plan-entry.ts'
import {
  dropAlert,
  dropEvaluation,
  dropQuery,
  planAlert,
  planEvaluation,
  planQuery,
  type Unloaded,
} from './plan-queries.ts'
import { definitionOf, readState, type State } from './state.ts'
import type { DefinitionParts, Doing, Results, Step } from './steps.ts'

/** The document of a project, without anything secret. */
export async function findDefinition(
  app: Pick<DefinitionParts, 'store' | 'vault'>,
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
  /** Delete what the definition does not name. */
  prune: boolean
  /** Where the queries are meant to go. */
  environment: string
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
  const done = await inOneTransaction(app.store, { takeBack: check }, async (store, transaction) => {
    await lockProjectForQuota(transaction, projectId)
    const within = partsWithin(app, store)
    const state = await readState(within, caller, projectId)
    const doing = { app: within, caller, projectId, results }
    const plan = await doAll(doing, { steps: planAll(input, state, await unloadedTables(app, input, state)), check })
    const changed = plan.filter(({ action }) => action !== 'unchanged')
    const report = check ? await lookAhead(doing, { plan, environment: input.environment }) : null
    if (changed.length > 0) {
      const details = countsOf(changed)
      await recordAct(transaction, caller, { action: 'definition.applied', target: projectId, projectId, details })
    }
    return { plan, report }
  })
  app.catalogs.forget(projectId)
  const routing = done.report === null ? null : { environment: input.environment, ...done.report.routing }
  if (check) return { plan: done.plan, applied: false, routing, jobs: [], secrets: [] }
  return { plan: done.plan, applied: true, routing, jobs: results.jobs, secrets: results.secrets }
}

/** What asks the store on its own asks the one of the transaction, too. */
function partsWithin(app: DefinitionParts, store: Database): DefinitionParts {
  const sources = { ...app.alerts.sources, hasQuery: (query: Parameters<typeof hasQuery>[1]) => hasQuery(store, query) }
  return { ...app, store, alerts: { ...app.alerts, sources } }
}

type Planned = { kind: PlanEntry['kind']; name: string; plan: () => Step }

/** What comes first may be needed by what follows; what goes does so in the other direction. */
function planAll({ definition, prune }: Input, state: State, unloaded: Unloaded): Planned[] {
  const { variables, connections, queries, evaluations, alerts } = definition
  const pairs = [
    matched('variable', state.variables, variables, {
      nameOf: variableName,
      knownName: variableName,
      put: planVariable,
      drop: dropVariable,
    }),
    matched('connection', state.connections, connections, {
      nameOf: (given) => given.table_name,
      knownName: (known) => known.tableName,
      put: planConnection,
      drop: dropConnection,
    }),
    matched('query', state.queries, queries, {
      nameOf: (given) => given.name,
      knownName: (known) => known.name,
      put: (known, given) => planQuery(known, given, unloaded),
      drop: dropQuery,
    }),
    matched('evaluation', state.evaluations, evaluations, {
      nameOf: (given) => given.question,
      knownName: (known) => known.question,
      put: planEvaluation,
      drop: dropEvaluation,
    }),
    matched('alert', state.alerts, alerts, {
      nameOf: (given) => given.name,
      knownName: ({ alert }) => alert.name,
      put: planAlert,
      drop: dropAlert,
    }),
  ]
  const environments = planEnvironments(state.environments, definition.environments)
  const dropped = prune ? [environments, ...pairs].toReversed().flatMap(({ drop }) => drop) : []
  return [...environments.put, ...pairs.flatMap(({ put }) => put), ...dropped]
}

type Matching<Known, Given> = {
  nameOf: (given: Given) => string
  knownName: (known: Known) => string
  put: (known: Known | undefined, given: Given) => Step
  drop: (known: Known) => Step
}

/** Things of the same name, in their order: names of alerts may come more than once. */
function matched<Known, Given>(
  kind: PlanEntry['kind'],
  known: Known[],
  given: Given[] | undefined,
  { nameOf, knownName, put, drop }: Matching<Known, Given>,
): { put: Planned[]; drop: Planned[] } {
  if (given === undefined) return { put: [], drop: [] }
  const left = Map.groupBy(known, knownName)
  return {
    put: given.map((each) => {
      const name = nameOf(each)
      const own = left.get(name)?.shift()
      return { kind, name, plan: () => put(own, each) }
    }),
    drop: [...left.values()].flat().map((each) => ({ kind, name: knownName(each), plan: () => drop(each) })),
  }
}

function planEnvironments(known: string[], given: string[] | undefined): { put: Planned[]; drop: Planned[] } {
  if (given === undefined) return { put: [], drop: [] }
  const kind = 'environment'
  const kept = known.filter((name) => given.includes(name))
  const isMoved = given.filter((name) => known.includes(name)).some((name, at) => kept[at] !== name)
  const put = given.map((name, at): Planned => ({
    kind,
    name,
    plan: () => {
      if (!known.includes(name)) {
        const apply: Step['apply'] = async ({ app, caller, projectId }) => {
          await addEnvironment(app, caller, { projectId, name })
          await orderEnvironments(app, caller, { projectId, names: given.slice(0, at + 1) })
        }
        return { entry: entryOf(kind, name, { action: 'create' }), apply }
      }
      if (!isMoved || kept[0] !== name) return { entry: entryOf(kind, name, { action: 'unchanged' }), apply: null }
      const changes = [{ field: 'order', before: known, after: given }]
      return {
        entry: entryOf(kind, name, { action: 'update', changes }),
        apply: ({ app, caller, projectId }) => orderEnvironments(app, caller, { projectId, names: given }),
      }
    },
  }))
  const gone = known.filter((name) => !given.includes(name))
  const drop = gone.map((name): Planned => ({ kind, name, plan: () => dropEnvironment(name) }))
  return { put, drop }
}

/** Deleting an environment ends what answers in it: that is decided by a release, not by a line that is missing. */
function dropEnvironment(name: string): Step {
  return {
    entry: entryOf('environment', name, { action: 'delete' }),
    async apply({ app, caller, projectId }) {
      const live = app.deployments.list(projectId, name).map((each) => each.name)
      if (live.length > 0) {
        const message = `${live.slice(0, 5).join(', ')}${live.length > 5 ? ' and others are' : live.length > 1 ? ' are' : ' is'} deployed in ${name}. Undeploy what answers there first.`
        throw new Failure('conflict', { reason: 'in_use', message })
      }
      await deleteEnvironment(app, caller, { projectId, name })
    },
  }
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
  const { code, reason, details, retryAfterSeconds, fields } = failure
  return new Failure(code, {
    ...(reason !== undefined && { reason: reason as never }),
    message: `Nothing was applied. The ${kind} ${name}: ${failure.message}`,
    details: (details ?? []).map((each) => ({ ...each, field: `${kind} ${name}: ${each.field}` })),
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
    ...(fields !== undefined && { fields }),
    cause: failure,
  })
}

/** What releasing the queries that change would do, on top of what the plan does. */
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
    ...state.connections.map(({ tableName }) => tableName),
    ...(definition.connections ?? []).map(({ table_name: tableName }) => tableName),
  ]
  return new Set(named.filter((name) => !loaded.has(name)))
}

/** A name stands for one thing. Alerts alone may share theirs. */
function refuseTwins({ variables = [], connections = [], queries = [], evaluations = [] }: Definition): void {
  const named: Record<string, string[]> = {
    variables: variables.map(variableName),
    connections: connections.map(({ table_name: tableName }) => tableName),
    queries: queries.map(({ name }) => name),
    evaluations: evaluations.map(({ question }) => question),
  }
  const details = Object.entries(named).flatMap(([field, names]) => {
    const seen = new Set<string>()
    const twins = new Set(names.filter((name) => seen.has(name) || !seen.add(name)))
    return [...twins].map((name) => ({ field, message: `name ${name} twice` }))
  })
  if (details.length === 0) return
  const message = `The definition is not as expected: ${details.map((each) => `${each.field} ${each.message}`).join('; ')}.`
  throw new Failure('invalid_request', { reason: 'invalid_field', message, details })
}

function countsOf(changed: PlanEntry[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const { kind, action } of changed) counts[`${kind}_${action}`] = (counts[`${kind}_${action}`] ?? 0) + 1
  return counts
}
