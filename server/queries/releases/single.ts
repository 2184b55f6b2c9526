import type { Value } from '../../../api/wire-codec.ts'
import type { deployment } from '../../../api/queries.ts'
import { requireRole, type Caller } from '../../access/index.ts'
import { Failure } from '../../failure.ts'
import type { Database } from '../../store/index.ts'
import { readDraft, type Draft } from '../drafts/drafts.ts'
import type { Version } from '../drafts/version-records.ts'
import { readVersion } from '../drafts/versions.ts'
import { makeRelease, type Move, type ReleaseParts } from './release.ts'
import { notDeployed, type ReleaseReport } from './report.ts'
import { findLiveVersions } from './rows.ts'

/** The effect of a deployment of one query, planned with `check`. */
export type DeployReport = Value<typeof deployment>

type Named = { projectId: string; name: string }
type Gate = { check?: boolean; force?: boolean }

/** Freezes the draft as a version (or takes one that exists) and makes it answer in an environment. */
export async function deployQuery(
  app: ReleaseParts,
  caller: Caller,
  input: Named & Gate & { environment: string; version?: number | undefined },
): Promise<DeployReport> {
  await requireRole(app, caller, input.projectId, 'editor')
  const draft = await readDraft(app, input)
  const frozen =
    input.version === undefined ? null : await readVersion(app, draft.id, { ...input, number: input.version })
  return deployOne(app, caller, { ...input, act: 'deploy', draft, frozen })
}

/** Makes the version that is live in one environment answer in another. */
export async function promoteQuery(
  app: ReleaseParts,
  caller: Caller,
  input: Named & Gate & { from: string; to: string },
): Promise<DeployReport> {
  await requireRole(app, caller, input.projectId, 'editor')
  const draft = await readDraft(app, input)
  const live = await findLive(app.store, draft, input.from)
  if (live === undefined) throw notDeployed(input.name, input.from)
  const { from: promotedFrom, to: environment } = input
  return deployOne(app, caller, { ...input, act: 'promote', environment, promotedFrom, draft, frozen: live })
}

/** Back to a version, by default the one before. A way out of trouble: breaking changes do not stop it. */
export async function rollbackQuery(
  app: ReleaseParts,
  caller: Caller,
  input: Named & { environment: string; version?: number | undefined },
): Promise<DeployReport> {
  await requireRole(app, caller, input.projectId, 'editor')
  const draft = await readDraft(app, input)
  const number = input.version ?? (await findPrevious(app, draft, input.environment))
  const frozen = await readVersion(app, draft.id, { name: input.name, number })
  return deployOne(app, caller, { ...input, act: 'rollback', draft, frozen, force: true })
}

/** Takes a query out of an environment; with `check` only says whom and which questions that would meet. */
export async function undeployQuery(
  app: ReleaseParts,
  caller: Caller,
  input: Named & { environment: string; check?: boolean },
): Promise<DeployReport> {
  const { projectId, name, environment, check } = input
  await requireRole(app, caller, projectId, 'editor')
  const draft = await readDraft(app, input)
  if ((await findLive(app.store, draft, environment)) === undefined) throw notDeployed(name, environment)
  const targets = [{ draft, frozen: null, isRemoved: true }]
  const report = await makeRelease(app, caller, { projectId, environment, act: 'undeploy', targets, check })
  const routing = check === true ? await lossesOf(app, input) : report.routing
  return singleReport(name, { ...report, routing }, 'undeployed')
}

type One = Omit<Move, 'targets'> & Named & { draft: Draft; frozen: Version | null }

async function deployOne(app: ReleaseParts, caller: Caller, input: One): Promise<DeployReport> {
  const { draft, frozen, projectId, environment, act, check, force, promotedFrom } = input
  const targets = [{ draft, frozen, isRemoved: false }]
  const move = { projectId, environment, act, check, force, promotedFrom, targets }
  return singleReport(input.name, await makeRelease(app, caller, move), 'deployed')
}

function singleReport(name: string, report: ReleaseReport, status: DeployReport['status']): DeployReport {
  const [entry] = report.queries
  if (entry === undefined) throw new Failure('internal_error')
  const { previousVersion, compatibility, changes } = entry
  return {
    name,
    environment: report.environment,
    version: entry.version ?? previousVersion ?? 0,
    previousVersion,
    status,
    compatibility,
    changes,
    callers: entry.callers.map((key) => ({ ...key, lastCalledAt: new Date(key.lastCalledAt) })),
    routing: report.routing,
  }
}

/** The questions that would be lost without it. */
async function lossesOf(app: ReleaseParts, input: Named & { environment: string }): Promise<DeployReport['routing']> {
  return app.deployGate.losses(input).catch((error: unknown) => {
    app.observe({ kind: 'fault', where: 'routing-gate', error })
    return { checked: 0, regressions: [] }
  })
}

async function findLive(
  { db }: Pick<Database, 'db'>,
  { id }: Draft,
  environment: string,
): Promise<Version | undefined> {
  return (await findLiveVersions(db, environment, [id])).get(id)
}

/** The version that was live before the one that is. */
async function findPrevious(app: { store: Database }, draft: Draft, environment: string): Promise<number> {
  const last = await app.store.db
    .selectFrom('deploymentActs')
    .select('previousVersion')
    .where('queryId', '=', draft.id)
    .where('environment', '=', environment)
    .where('previousVersion', 'is not', null)
    .whereRef('previousVersion', 'is distinct from', 'version')
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst()
  if (last?.previousVersion === undefined || last.previousVersion === null) {
    throw new Failure('not_found', { message: `${draft.name} has no version before this one in ${environment}.` })
  }
  return last.previousVersion
}
