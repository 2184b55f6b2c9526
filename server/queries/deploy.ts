import type { Transaction } from 'kysely'
import { labelOf, requireRole, type Caller } from '../access/index.ts'
import { Failure } from '../failure.ts'
import { hasEnvironment } from '../projects/index.ts'
import type { DeploymentAct, Tables, Database } from '../store/index.ts'
import type { KeyThatCalled, QueryCallers } from './callers.ts'
import { compareContracts } from './compatibility.ts'
import { breaking, notDeployed, stolen, type DeployReport } from './deploy-report.ts'
import { chooseVersion, findLive, findPrevious, keepAct, putDeployment } from './deployment-rows.ts'
import { changedMeanwhile, lockDraft, readDraft, type Draft } from './drafts.ts'
import { examine, type Inspected } from './inspection.ts'
import { changedNeighbours, knownNeighbours, neverQuiet } from './neighbours.ts'
import type { Version } from './version-records.ts'
import { readVersion } from './versions.ts'
import type { Catalogs, Engine } from '../data/index.ts'
import type { Deployments } from './deployments.ts'
import type { DeployGate } from './deploy-gate.ts'
import type { Observe } from '../observe.ts'
import type { Clock } from '../clock.ts'

type Parts = {
  store: Database
  catalogs: Catalogs
  engine: Engine
  deployments: Deployments
  queryCallers: QueryCallers
  router: DeployGate
  observe: Observe
  now: Clock
}
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
      .where('queryId', '=', draft.id)
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

/** Each time others were deployed while the questions were asked; the last one says so. */
const maxTurns = 10

async function makeLive(app: Parts, caller: Caller, move: Move): Promise<DeployReport> {
  const { projectId, name, environment, draft, frozen } = move
  await requireEnvironment(app, move)
  const inspected = await examine(app, projectId, frozen ?? draft)
  const { results, refused, routing, ...outcome } = await gateAndPut(app, caller, { ...move, inspected })
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

type Examined = Move & { inspected: Inspected }

/** Asks the questions and makes it live, unless the answers say no. Where others came meanwhile, from the beginning. */
async function gateAndPut(app: Parts, caller: Caller, move: Examined) {
  for (let turn = 0; turn < maxTurns; turn += 1) {
    const known = knownNeighbours(app, move)
    const { results, ...routing } = await askAgain(app, move)
    const put = await app.store.db.transaction().execute(async (transaction) => {
      const now = await lockDraft(transaction, move)
      const isGated = move.force !== true && move.check !== true
      const others = isGated ? await changedNeighbours(transaction, move, known) : []
      return others.length > 0 ? { others } : putLive(transaction, caller, { ...move, now, routing })
    })
    if (!('others' in put)) return { ...put, routing, results }
    const { projectId, environment } = move
    await Promise.all(put.others.map((name) => app.deployments.refresh({ projectId, environment, name })))
  }
  throw neverQuiet(move)
}

async function putLive(
  transaction: Transaction<Tables>,
  caller: Caller,
  { now, routing, ...move }: Examined & { now: Draft; routing: DeployReport['routing'] },
) {
  const { name, environment, draft, frozen, inspected } = move
  // What was inspected is what is frozen.
  if (frozen === null && now.contentHash !== draft.contentHash) throw changedMeanwhile(name)
  const live = (await findLive(transaction, now, environment)) ?? null
  const compared = compareContracts(live, frozen ?? inspected)
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

function recentCallers(app: Parts, draft: Draft, environment: string): Promise<KeyThatCalled[]> {
  return app.queryCallers.since(draft.id, environment, new Date(app.now() - callersDays * 86_400_000))
}

async function requireEnvironment(app: Parts, { projectId, environment }: Move): Promise<void> {
  if (await hasEnvironment(app.store, { projectId, environment })) return
  throw new Failure('not_found', { message: `The project has no environment ${environment}.` })
}

/** It is committed; a process that cannot read it now hears of it again within seconds. */
async function applyHere(app: Parts, place: { projectId: string; environment: string; name: string }): Promise<void> {
  await app.deployments.refresh(place).catch(() => undefined)
  await app.router.settle(place)
}
