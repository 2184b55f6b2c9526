import { Command } from 'commander'
import { SluiceError } from '../../../clients/typescript/index.ts'
import { does } from '../../context/command.ts'
import type { Context } from '../../context/context.ts'
import { readDefinition, readFiles } from '../../context/files.ts'
import type { Definition } from '../../../api/definition.ts'
import { messageInFile, type ProjectFiles } from '../../project/index.ts'
import { CommandFailure, exitCodes } from '../../terminal/exit.ts'
import { withQuery } from '../../service/manage.ts'
import type { z } from 'zod'
import type { modelComparison } from '../../../api/models.ts'
import { comparisonText, pendingText, planText, sharedText, type Plan, type Release } from './plan-text.ts'

type Options = Sharing & {
  environment?: string
  prune?: boolean
  only?: string[]
  detailedExitCode?: boolean
  allowBreaking?: boolean
}

export function planCommand(): Command {
  const command = new Command('plan')
    .description(
      'Reads the files and asks the service what applying and releasing them would do: what is created, changed and deleted, what breaks callers, and which questions would move. Changes nothing, and ends as the release would: with 6 where it would be refused.',
    )
    .option('-e, --environment <name>', 'where it would be released')
    .option('--only <queries...>', 'only these queries, and nothing else of the files')
    .option('--allow-breaking', 'breaking callers and moving questions is meant: end with 0')
    .option('--shared', 'changing tables that other environments read is meant: end with 0')
    .option('--prune', 'also delete tables that the files do not name, with their data')
    .option('--no-prune', 'leave alone what the files do not name')
    .option('--detailed-exit-code', 'end with 8 where there is something to release')
  return does<Options>(command, plan)
}

async function plan(context: Context, options: Options): Promise<void> {
  const environment = environmentOf(context, options)
  const planned = await makePlan(context, { environment, prune: pruneOf(options), only: options.only })
  if (context.json)
    context.printJson({
      environment,
      ...planned.plan,
      pending: planned.pending,
      comparisons: planned.comparisons,
    })
  else showPlan(context, planned)
  refuseUnreleasable(planned, { force: options.allowBreaking === true, way: '--allow-breaking says that it is meant.' })
  refuseShared(planned, { ...options, yes: true })
  if (options.detailedExitCode === true && !isEmpty(planned)) process.exitCode = exitCodes.changes
}

export type Planned = {
  environment: string
  plan: Plan
  pending: Pending
  /** Models whose SQL changes. */
  comparisons: Comparison[]
}

/** Drafts that are saved and not live there yet: after a rollback, or a release that was cut off. */
export type Pending = {
  queries: Release['queries']
  regressions: Release['routing']['regressions']
  /** Queries that cannot be looked at, with why. */
  broken: Array<{ name: string; message: string }>
}

type Prune = 'true' | 'false' | 'without_data'

export function environmentOf(context: Context, options: { environment?: string }): string {
  return options.environment ?? context.settings.environment ?? 'production'
}

/** To delete data takes saying so. */
export function pruneOf({ prune, only }: { prune?: boolean; only?: string[] }): Prune {
  if (only !== undefined) return 'false'
  if (prune === undefined) return 'without_data'
  return prune ? 'true' : 'false'
}

/** Where it is released, what becomes of the rest, and which queries alone are meant. */
export type Chosen = { environment: string; prune: Prune; only?: string[] | undefined }

/** The files as they are sent; with `only`, nothing but these queries. */
export async function definitionOf(context: Context, only: string[] | undefined): Promise<Definition> {
  const { definition } = await readDefinition(context)
  if (only === undefined) return definition
  const queries = definition.queries ?? []
  const missing = only.find((name) => !queries.some((query) => query.name === name))
  if (missing !== undefined) {
    throw new CommandFailure('usage', `There is no queries/${missing}.sql.`, {
      hint: `There are: ${queries.map(({ name }) => name).join(', ')}.`,
    })
  }
  return { definition: definition.definition, queries: queries.filter(({ name }) => only.includes(name)) }
}

/** The changes of the files, and drafts that are still to be released. */
export async function makePlan(context: Context, { environment, prune, only }: Chosen): Promise<Planned> {
  const definition = await definitionOf(context, only)
  const files = await readFiles(context.folder)
  const [manage, projectId] = [await context.manage(), await context.projectId()]
  const progress = context.progress()
  progress.show(null, 'asking the service what would change')
  try {
    const path = `/v1/projects/${projectId}/definition`
    const plan = await manage.send<Plan>('PUT', withQuery(path, { check: true, prune, environment }), definition)
    const changed = new Set(plan.plan.filter(({ action }) => action !== 'unchanged').map(({ name }) => name))
    const saved = plan.plan.filter(({ kind, action }) => kind === 'query' && action !== 'create')
    const names = saved.map(({ name }) => name)
    const pending = await findPending(context, { environment, files, names, changed, only })
    const comparisons = await compareModels(context, plan, definition.models ?? [])
    return { environment, plan: inFiles(plan, files), pending, comparisons }
  } finally {
    progress.end()
  }
}

export type Comparison = z.output<typeof modelComparison> & { name: string }

/** The rows of each model whose SQL changes, beside those that serve. */
async function compareModels(
  context: Context,
  { plan }: Plan,
  models: Array<{ name: string; sql: string }>,
): Promise<Comparison[]> {
  const [manage, projectId] = [await context.manage(), await context.projectId()]
  const compared: Comparison[] = []
  for (const { kind, name, action, changes, refused } of plan) {
    const sql = models.find((model) => model.name === name)?.sql
    const isMoved = kind === 'model' && action === 'update' && changes.some(({ field }) => field === 'sql')
    if (!isMoved || refused !== null || sql === undefined) continue
    const path = `/v1/projects/${projectId}/models/${encodeURIComponent(name)}/compare`
    compared.push({ name, ...(await manage.send<z.output<typeof modelComparison>>('POST', path, { sql })) })
  }
  return compared
}

/** Each refusal of a query with its file, line and column. */
function inFiles(plan: Plan, files: ProjectFiles): Plan {
  const entries = plan.plan.map((entry) => {
    const { kind, name, refused } = entry
    if (kind !== 'query' || refused === null) return entry
    return { ...entry, refused: { ...refused, message: messageInFile(files, name, refused.message) } }
  })
  return { ...plan, plan: entries }
}

type Looking = Pick<Chosen, 'environment' | 'only'> & {
  files: ProjectFiles
  names: string[]
  changed: ReadonlySet<string>
}

async function findPending(context: Context, { environment, files, names, changed, only }: Looking): Promise<Pending> {
  const [manage, projectId] = [await context.manage(), await context.projectId()]
  const check = (queries: 'all' | Array<{ name: string }>): Promise<Release> =>
    manage.send<Release>('POST', `/v1/projects/${projectId}/releases`, { environment, queries, check: true })
  let broken: Pending['broken'] = []
  let release: Release | undefined
  try {
    const wanted = only?.filter((name) => names.includes(name))
    // Queries that the service does not know yet cannot be looked at.
    if (wanted?.length !== 0) release = await check(wanted === undefined ? 'all' : wanted.map((name) => ({ name })))
  } catch (error) {
    broken = brokenQueries(error, files)
    const left = names.filter((name) => !broken.some((each) => each.name === name))
    if (left.length > 0) release = await check(left.map((name) => ({ name })))
  }
  const isPending = ({ name, version, previous_version: before }: Release['queries'][number]): boolean =>
    !changed.has(name) && version !== before
  const queries = release?.queries.filter(isPending) ?? []
  return {
    queries,
    regressions: queries.length === 0 ? [] : (release?.routing.regressions ?? []),
    broken: broken.filter(({ name }) => !changed.has(name)),
  }
}

/** Where a release is refused because of the SQL of its queries: each with its file, line and column. */
export function failureInFiles(error: unknown, files: ProjectFiles): CommandFailure {
  const broken = brokenQueries(error, files)
  return new CommandFailure(
    'refused',
    ['Nothing was released.', ...broken.map(({ message }) => message)].join('\n  '),
    {
      hint: 'The definition is in place. Mend the files, or wait for the first load of their tables, and release again.',
      fields: { broken },
      cause: error,
    },
  )
}

/** Saved queries that cannot run as they are, such as those over a table without data. */
function brokenQueries(error: unknown, files: ProjectFiles): Pending['broken'] {
  const cause = error instanceof CommandFailure ? error.cause : undefined
  const isSql = cause instanceof SluiceError && cause.body['reason'] === 'invalid_sql'
  if (!isSql || cause.details.length === 0) throw error
  return cause.details.map(({ field: name, message }) => ({ name, message: messageInFile(files, name, message) }))
}

export function isEmpty({ plan, pending }: Planned): boolean {
  const isSaved = pending.queries.length === 0 && pending.broken.length === 0
  return isSaved && plan.plan.every(({ action }) => action === 'unchanged')
}

export function showPlan(context: Context, planned: Planned): void {
  const { print, style } = context
  const shared = sharedTables(planned)
  print(`\nPlan for ${style.bold(planned.environment)}\n`)
  if (shared.length > 0) print(`${sharedText(shared, planned.environment, style)}\n`)
  print(planText(planned.plan, style))
  for (const comparison of planned.comparisons) print(comparisonText(comparison, style))
  const saved = pendingText(planned.pending, style)
  if (saved !== '') print(saved)
}

export type SharedTable = { name: string; readers: Array<{ environment: string; query: string }> }

/** Tables that would change under queries of other environments: all of them read the same tables. */
export function sharedTables({ plan, environment }: Pick<Planned, 'plan' | 'environment'>): SharedTable[] {
  return plan.plan.flatMap(({ kind, name, action, readers }) => {
    const others = readers.filter((each) => each.environment !== environment)
    const isMoved = kind === 'connection' && (action === 'update' || action === 'delete')
    return isMoved && others.length > 0 ? [{ name, readers: others }] : []
  })
}

type Sharing = { yes?: boolean; shared?: boolean }

/** Changing what other environments read takes saying so, where nobody is asked. */
export function refuseShared(planned: Planned, { yes, shared }: Sharing): void {
  const tables = sharedTables(planned)
  if (tables.length === 0 || yes !== true || shared === true) return
  const names = tables.map(({ name }) => name).join(', ')
  throw new CommandFailure('refused', `A release is refused: other environments read ${names}, which would change.`, {
    hint: 'Nothing was changed. All environments read the same tables. --shared says that it is meant.',
    fields: { shared: tables },
  })
}

/** Before anything is changed: the service would refuse the release and leave the drafts behind. */
export function refuseUnreleasable({ plan, pending }: Planned, { force, way }: { force: boolean; way: string }): void {
  const impossible = plan.plan.flatMap(({ kind, name, refused }) => {
    if (refused === null || (force && refused.reason === 'test_failed')) return []
    return [kind === 'query' ? refused.message : `${kind} ${name}: ${refused.message}`]
  })
  if (impossible.length > 0) {
    const isForcible = plan.plan.every(({ refused }) => refused === null || refused.reason === 'test_failed')
    throw new CommandFailure('refused', ['This cannot be applied.', ...impossible].join('\n  '), {
      ...(isForcible && { hint: `Nothing was changed. ${way}` }),
      fields: { plan },
    })
  }
  const breaking = [
    ...plan.plan.filter((entry) => entry.release?.compatibility === 'breaking'),
    ...pending.queries.filter(({ compatibility }) => compatibility === 'breaking'),
  ].map(({ name }) => name)
  const questions = [...(plan.routing?.regressions ?? []), ...pending.regressions].map(({ question }) => question)
  const moved = new Set(questions).size
  if (force || (breaking.length === 0 && moved === 0)) return
  const reasons = [
    ...(breaking.length === 0 ? [] : [`${breaking.join(', ')} would break callers`]),
    ...(moved === 0 ? [] : [`${moved} test ${moved === 1 ? 'question' : 'questions'} would be answered differently`]),
  ]
  throw new CommandFailure('refused', `A release is refused: ${reasons.join(', and ')}.`, {
    hint: `Nothing was changed. ${way}`,
    fields: { plan },
  })
}
