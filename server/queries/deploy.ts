import type { Transaction } from 'kysely'
import { recordAct, requireRole, type Caller } from '../access/index.ts'
import type { App } from '../app.ts'
import { Failure } from '../failure.ts'
import { newId } from '../ids.ts'
import type { DeploymentAct, Tables } from '../store/index.ts'
import type { KeyThatCalled } from './callers.ts'
import { compare, type Change, type Compatibility } from './compatibility.ts'
import { changedMeanwhile, columnsOf, contentOf, labelOf, lockDraft, readDraft, type Draft } from './drafts.ts'
import { examine, type Inspected } from './inspection.ts'
import { versionOf, type Version } from './version-records.ts'
import { readVersion } from './versions.ts'

/** What a deployment did, or with `check` would do. */
export type DeployReport = {
  name: string
  environment: string
  version: number
  previousVersion: number | null
  status: 'deployed' | 'undeployed'
  compatibility: Compatibility
  changes: Change[]
  callers: KeyThatCalled[]
  routing: Routing
}

/** What it does to the questions of the environment. */
type Routing = Pick<Awaited<ReturnType<App['router']['regressions']>>, 'checked' | 'regressions'>

type Parts = Pick<App, 'store' | 'catalogs' | 'engine' | 'deployments' | 'queryCallers' | 'router' | 'observe' | 'now'>
type Named = { projectId: string; name: string }
type Gate = { check?: boolean; force?: boolean }

const callersDays = 30

/** Freezes the draft as a version (or takes one that exists) and makes it answer in an environment. */
export async function deployQuery(
  app: Parts,
  caller: Caller,
  input: Named & Gate & { environment: string; version?: number | undefined },
): Promise<DeployReport> {
  await requireRole(app, caller, input.projectId, 'editor')
  const draft = await readDraft(app, input)
  const frozen =
    input.version === undefined ? null : await readVersion(app, draft.id, { ...input, number: input.version })
  return makeLive(app, caller, { ...input, act: 'deploy', draft, frozen })
}

/** Makes the version that is live in one environment answer in another. */
export async function promoteQuery(
  app: Parts,
  caller: Caller,
  input: Named & Gate & { from: string; to: string },
): Promise<DeployReport> {
  await requireRole(app, caller, input.projectId, 'editor')
  const draft = await readDraft(app, input)
  const live = await findLive(app.store.db, draft, input.from)
  if (live === undefined) throw notDeployed(input.name, input.from)
  return makeLive(app, caller, { ...input, act: 'promote', environment: input.to, draft, frozen: live })
}

/** Back to a version, by default the one before. A way out of trouble: breaking changes do not stop it. */
export async function rollbackQuery(
  app: Parts,
  caller: Caller,
  input: Named & { environment: string; version?: number | undefined },
): Promise<DeployReport> {
  await requireRole(app, caller, input.projectId, 'editor')
  const draft = await readDraft(app, input)
  const number = input.version ?? (await findPrevious(app, draft, input.environment))
  const frozen = await readVersion(app, draft.id, { name: input.name, number })
  return makeLive(app, caller, { ...input, act: 'rollback', draft, frozen, force: true })
}

/** Takes a query out of an environment; with `check` only says whom and which questions that would meet. */
export async function undeployQuery(
  app: Parts,
  caller: Caller,
  input: Named & { environment: string; check?: boolean },
): Promise<DeployReport> {
  const { projectId, name, environment } = input
  await requireRole(app, caller, projectId, 'editor')
  const found = input.check === true ? await foreseeEnd(app, input) : await endDeployment(app, caller, input)
  return {
    name,
    environment,
    previousVersion: found.version,
    status: 'undeployed',
    compatibility: 'compatible',
    changes: [],
    ...found,
  }
}

type End = Pick<DeployReport, 'version' | 'callers' | 'routing'>

async function foreseeEnd(app: Parts, input: Named & { environment: string }): Promise<End> {
  const draft = await readDraft(app, input)
  const live = await findLive(app.store.db, draft, input.environment)
  if (live === undefined) throw notDeployed(input.name, input.environment)
  const callers = await recentCallers(app, draft, input.environment)
  const routing = await app.router.losses(input).catch((error: unknown) => {
    fault(app, error)
    return unasked
  })
  return { version: live.number, callers, routing }
}

async function endDeployment(app: Parts, caller: Caller, input: Named & { environment: string }): Promise<End> {
  const { name, environment } = input
  const version = await app.store.db.transaction().execute(async (transaction) => {
    const draft = await lockDraft(transaction, input)
    const live = await findLive(transaction, draft, environment)
    if (live === undefined) throw notDeployed(name, environment)
    await transaction
      .deleteFrom('deployments')
      .where('query_id', '=', draft.id)
      .where('environment', '=', environment)
      .execute()
    await keepAct(transaction, caller, { ...input, act: 'undeploy', queryId: draft.id, from: live.number, to: null })
    return live.number
  })
  await applyHere(app, input)
  return { version, callers: [], routing: unasked }
}

const unasked = { checked: 0, regressions: [], results: [] }

type Move = Named & Gate & { act: DeploymentAct; environment: string; draft: Draft; frozen: Version | null }

async function makeLive(app: Parts, caller: Caller, move: Move): Promise<DeployReport> {
  const { projectId, name, environment, draft, frozen } = move
  await requireEnvironment(app, move)
  const inspected = await examine(app, projectId, frozen ?? draft)
  const { results, ...routing } = await askAgain(app, move)
  const { refused, ...outcome } = await app.store.db.transaction().execute(async (transaction) => {
    const now = await lockDraft(transaction, move)
    // What was inspected is what is frozen.
    if (frozen === null && now.contentHash !== draft.contentHash) throw changedMeanwhile(name)
    const live = (await findLive(transaction, now, environment)) ?? null
    const compared = compare(live, frozen ?? inspected)
    const isBad = compared.compatibility === 'breaking' || routing.regressions.length > 0
    const refused = isBad && move.force !== true && move.check !== true
    const dry = refused || move.check === true
    const next = await chooseVersion(transaction, caller, { ...move, draft: now, inspected, dry })
    const previousVersion = live?.number ?? null
    if (!dry) {
      await putDeployment(transaction, caller, { ...move, queryId: now.id, versionId: next.id })
      await keepAct(transaction, caller, { ...move, queryId: now.id, from: previousVersion, to: next.number })
    }
    return { refused, ...compared, version: next.number, previousVersion }
  })
  const concernsCallers = outcome.compatibility === 'breaking' || move.check === true
  const callers = concernsCallers ? await recentCallers(app, draft, environment) : []
  const report = { name, environment, status: 'deployed' as const, ...outcome, callers, routing }
  if (refused) throw report.compatibility === 'breaking' ? breaking(report) : stolen(report)
  if (move.check === true) return report
  await applyHere(app, move)
  if (results.length > 0) {
    const place = { projectId, environment, query: name, version: report.version, by: labelOf(caller) }
    await app.router.keepResults(place, results).catch((error: unknown) => fault(app, error))
  }
  return report
}

/** Asks the stored questions of the environment again. Where that cannot be done the deployment goes on without. */
async function askAgain(app: Parts, { projectId, environment, name, draft, frozen, act }: Move) {
  // A way out of trouble does not wait for anything.
  if (act === 'rollback') return unasked
  const { description, slots, examples } = frozen ?? draft
  const changed = { name, description, slots, examples }
  return app.router.regressions({ projectId, environment, changed }).catch((error: unknown) => {
    fault(app, error)
    return unasked
  })
}

function fault(app: Parts, error: unknown): void {
  app.observe({ kind: 'fault', where: 'routing-gate', error })
}

async function putDeployment(
  transaction: Transaction<Tables>,
  caller: Caller,
  { projectId, environment, name, queryId, versionId }: Move & { queryId: string; versionId: string },
): Promise<void> {
  const target = { query_id: queryId, version_id: versionId, deployed_by: labelOf(caller) }
  await transaction
    .insertInto('deployments')
    .values({ project_id: projectId, environment, name, ...target })
    .onConflict((conflict) =>
      conflict
        .columns(['project_id', 'environment', 'name'])
        .doUpdateSet((set) => ({ ...target, deployed_at: set.fn<Date>('now') })),
    )
    .execute()
}

/** The version to make live: one that exists, the newest where nothing changed since, else a new one. */
async function chooseVersion(
  transaction: Transaction<Tables>,
  caller: Caller,
  { draft, frozen, inspected, dry }: Move & { inspected: Inspected; dry: boolean },
): Promise<{ id: string; number: number }> {
  if (frozen !== null) return frozen
  const row = await transaction
    .selectFrom('query_versions')
    .selectAll()
    .where('query_id', '=', draft.id)
    .orderBy('version', 'desc')
    .limit(1)
    .executeTakeFirst()
  const newest = row === undefined ? undefined : versionOf(row)
  if (newest !== undefined && isSame(newest, draft, inspected)) return newest
  const next = { id: newId('version'), number: (newest?.number ?? 0) + 1 }
  if (dry) return next
  await transaction
    .insertInto('query_versions')
    .values({
      id: next.id,
      query_id: draft.id,
      version: next.number,
      ...columnsOf(contentOf(draft)),
      columns: JSON.stringify(inspected.columns),
      tables: JSON.stringify(inspected.tables),
      content_hash: draft.contentHash,
      created_by: labelOf(caller),
    })
    .execute()
  return next
}

function isSame(version: Version, draft: Draft, { columns, tables }: Inspected): boolean {
  return (
    version.contentHash === draft.contentHash &&
    JSON.stringify([version.columns, version.tables]) === JSON.stringify([columns, tables])
  )
}

async function findLive(
  db: Pick<Transaction<Tables>, 'selectFrom'>,
  draft: Draft,
  environment: string,
): Promise<Version | undefined> {
  const row = await db
    .selectFrom('deployments')
    .innerJoin('query_versions', 'query_versions.id', 'deployments.version_id')
    .selectAll('query_versions')
    .where('deployments.query_id', '=', draft.id)
    .where('deployments.environment', '=', environment)
    .executeTakeFirst()
  return row === undefined ? undefined : versionOf(row)
}

async function findPrevious(app: Pick<App, 'store'>, draft: Draft, environment: string): Promise<number> {
  const last = await app.store.db
    .selectFrom('deployment_acts')
    .select('previous_version')
    .where('query_id', '=', draft.id)
    .where('environment', '=', environment)
    .where('previous_version', 'is not', null)
    .whereRef('previous_version', 'is distinct from', 'version')
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst()
  if (last?.previous_version === undefined || last.previous_version === null) {
    throw new Failure('not_found', { message: `${draft.name} has no version before this one in ${environment}.` })
  }
  return last.previous_version
}

function recentCallers(app: Parts, draft: Draft, environment: string): Promise<KeyThatCalled[]> {
  return app.queryCallers.since(draft.id, environment, new Date(app.now() - callersDays * 86_400_000))
}

async function requireEnvironment(app: Parts, { projectId, environment }: Move): Promise<void> {
  const found = await app.store.db
    .selectFrom('environments')
    .select('name')
    .where('project_id', '=', projectId)
    .where('name', '=', environment)
    .executeTakeFirst()
  if (found === undefined) {
    throw new Failure('not_found', { message: `The project has no environment ${environment}.` })
  }
}

type Kept = Named & { act: DeploymentAct; environment: string; queryId: string; from: number | null; to: number | null }

const actions: Record<DeploymentAct, string> = {
  deploy: 'query.deployed',
  promote: 'query.promoted',
  rollback: 'query.rolled_back',
  undeploy: 'query.undeployed',
}

async function keepAct(transaction: Transaction<Tables>, caller: Caller, kept: Kept): Promise<void> {
  const { projectId, name, act, environment, queryId, from, to } = kept
  await transaction
    .insertInto('deployment_acts')
    .values({
      id: newId('deploymentAct'),
      query_id: queryId,
      environment,
      act,
      version: to,
      previous_version: from,
      by: labelOf(caller),
    })
    .execute()
  await recordAct(transaction, caller, {
    action: actions[act],
    target: name,
    projectId,
    details: { environment, version: to, previous_version: from },
  })
}

/** It is committed; a process that cannot read it now hears of it again within seconds. */
async function applyHere(app: Parts, place: { projectId: string; environment: string; name: string }): Promise<void> {
  await app.deployments.refresh(place).catch(() => undefined)
  await app.router.settle(place)
}

function stolen({ name, environment, routing }: DeployReport): Failure {
  const shown = routing.regressions.slice(0, 3).map(({ question, query, takenBy }) => {
    return `"${question}" (${query ?? 'refused'} today) would go to ${takenBy ?? 'nobody'}`
  })
  return new Failure('conflict', {
    reason: 'routing_regression',
    message: `Deploying ${name} to ${environment} would change who answers ${routing.regressions.length} stored questions: ${shown.join('; ')}. Deploy with force to do it.`,
    fields: { routing: wireRouting(routing) },
  })
}

export function wireRouting({ checked, regressions }: Routing) {
  return {
    checked,
    regressions: regressions.map(({ question, query, takenBy, source }) => ({
      question,
      query,
      taken_by: takenBy,
      source,
    })),
  }
}

function breaking({ name, environment, changes, callers }: DeployReport): Failure {
  const reasons = changes.filter((change) => change.level === 'breaking').map((change) => change.message)
  return new Failure('conflict', {
    reason: 'breaking_change',
    message: `This would break callers of ${name} in ${environment}: ${reasons.join('; ')}. Deploy with force to do it.`,
    details: reasons.map((message) => ({ field: name, message })),
    fields: {
      callers: callers.map((key) => ({
        key_id: key.keyId,
        name: key.name,
        last_called_at: key.lastCalledAt.toISOString(),
      })),
    },
  })
}

function notDeployed(name: string, environment: string): Failure {
  return new Failure('not_found', { message: `${name} is not deployed in ${environment}.` })
}
