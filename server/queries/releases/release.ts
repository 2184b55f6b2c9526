import type { Transaction } from 'kysely'
import { labelOf, type Caller } from '../../access/index.ts'
import type { Clock } from '../../clock.ts'
import type { Catalogs } from '../../data/index.ts'
import type { QueryEngine } from '../../engine/index.ts'
import type { Config } from '../../config.ts'
import { Failure } from '../../failure.ts'
import { mapInPieces, type Gate } from '../../flow/index.ts'
import type { Observe } from '../../observe.ts'
import { hasEnvironment, lockEnvironment } from '../../projects/index.ts'
import { awaitLease, type Database, type ReleaseAct, type Tables } from '../../store/index.ts'
import type { KeyThatCalled, QueryCallers } from '../calls/callers.ts'
import { compareContracts } from '../slots/compatibility.ts'
import type { DeployGate, RoutingReport } from '../deployed/deploy-gate.ts'
import type { Deployments } from '../deployed/deployments.ts'
import { draftAsVersion } from './version-pairs.ts'
import { liveVersion } from '../deployed/deployment-index.ts'
import { changedMeanwhile, noQuery } from '../drafts/drafts.ts'
import type { Rehearsal } from './rehearsal.ts'
import { asTested, type TestGate } from './test-gate.ts'
import { startTrial, type NewTrial } from './start-trial.ts'
import { requireNoTrial } from '../deployed/trial-rows.ts'
import { examineAll, type Examined } from './examine.ts'
import { callersDays, judgeTarget } from './judge-target.ts'
import { notDeployed, refusedRelease, type ReleaseReport } from './report.ts'
import {
  findLiveVersions,
  findNewestVersions,
  insertRelease,
  insertVersions,
  keepReplay,
  keepActs,
  markRolledBack,
  putDeployments,
  removeDeployments,
} from './rows.ts'
import { lockDrafts, type ReleaseTarget } from './targets.ts'

export type ReleaseParts = {
  store: Database
  catalogs: Catalogs
  engine: QueryEngine
  deployments: Deployments
  queryCallers: QueryCallers
  releaseGate: Gate
  rehearsal: Rehearsal
  deployGate: DeployGate
  testGate: TestGate
  observe: Observe
  config: Config
  now: Clock
}

/** The deployments of an environment from now on, as one act. */
export type Move = {
  projectId: string
  environment: string
  act: ReleaseAct
  targets: ReleaseTarget[]
  /** Say what it would do, and do nothing of it. */
  check?: boolean | undefined
  /** Break callers and move questions, if that is what it does. */
  force?: boolean | undefined
  /** Try it out instead of giving it to everyone. */
  trial?: NewTrial | undefined
  /** A check that somebody wants to come back to joins the history. */
  keepCheck?: boolean | undefined
  message?: string | undefined
  commit?: string | undefined
  promotedFrom?: string | undefined
  rollsBack?: string | undefined
  /** The version that each query must still have for this to make sense; null: none. */
  mustHave?: ReadonlyMap<string, number | null> | undefined
}

/** Only acts that do not wait for their turn come in between: releases by force, and rollbacks. */
const maxTurns = 10

/**
 * The one way by which a deployment changes: all targets or none, judged together against how the environment would be
 * with all of them. Releases that are judged wait for their turn; rollbacks and releases by force wait for nothing.
 */
export async function makeRelease(app: ReleaseParts, caller: Caller, move: Move): Promise<ReleaseReport> {
  await requireEnvironment(app, move)
  if (move.targets.length === 0) return nothingOf(app, caller, move)
  const examined = await examineAll(app, move)
  if (isGated(move) && asksQuestions(move)) await app.testGate.refuseFailing(asTested({ ...move, examined }))
  const callers = concernsCallers(app, { ...move, examined }) ? await recentCallers(app, move) : new Map()
  const work = () => judgeAndPut(app, caller, { ...move, examined, callers })
  const isAwaited = isGated(move) && asksQuestions(move)
  const { report, refused, results } = await (isAwaited ? inTurn(app, move, work) : work())
  if (refused) throw refusedRelease(report)
  if (move.check === true) return move.keepCheck === true ? rehearse(app, caller, { move, examined, report }) : report
  await applyHere(app, move)
  if (results.length > 0) await keepResults(app, caller, { report, results })
  return report
}

/** Each release at work asks every stored question of its environment. */
export const releaseTurns = {
  room: 3,
  perName: 1,
  /** Releases to one environment that may wait in one process. */
  queueLength: 100,
  waitMs: 120_000,
  late: {
    message: 'Other releases to this environment are still being judged. Try again in a moment.',
    retryAfterSeconds: 5,
  },
  full: (name: string) => ({
    message: `Too many releases wait for ${name.split(' ').at(-1)} already. Put what belongs together into one release.`,
    retryAfterSeconds: 5,
  }),
}

/**
 * Releases to an environment come one after the other, in every process: each is judged against the result of the one
 * before it.
 */
function inTurn<Value>(
  { store, releaseGate }: ReleaseParts,
  { projectId, environment }: Move,
  work: () => Promise<Value>,
): Promise<Value> {
  const name = `release ${projectId} ${environment}`
  return releaseGate.run([name], async () => {
    await using lease = await awaitLease(store, name, { waitMs: releaseTurns.waitMs })
    if (lease === undefined) throw new Failure('overloaded', releaseTurns.late)
    return await work()
  })
}

/** Whether somebody who calls these queries would have to be named, as far as this process knows what answers now. */
function concernsCallers(
  app: ReleaseParts,
  { check, act, targets, projectId, environment, examined }: Unjudged,
): boolean {
  if (check === true) return true
  return targets.some(({ draft: { id, name }, frozen, isRemoved }) => {
    if (isRemoved) return act !== 'undeploy'
    const next = frozen ?? examined.get(id)
    const live = app.deployments.find({ projectId, environment, name })?.version ?? null
    return next !== undefined && compareContracts(live, next).compatibility === 'breaking'
  })
}

function isGated({ check, force }: Pick<Move, 'check' | 'force'>): boolean {
  return check !== true && force !== true
}

/** Going back and taking out do not ask: who does that has seen what happened. */
function asksQuestions({ act, targets }: Move): boolean {
  return act !== 'rollback' && targets.some(({ isRemoved }) => !isRemoved)
}

type Unjudged = Move & { examined: Examined }
type ReleaseMove = Unjudged & { callers: Map<string, KeyThatCalled[]> }
type Outcome = { report: ReleaseReport; refused: boolean; results: RoutingReport['results'] }

async function judgeAndPut(app: ReleaseParts, caller: Caller, move: ReleaseMove): Promise<Outcome> {
  for (let turn = 0; turn < maxTurns; turn += 1) {
    // Changes that this process has not heard of yet are found below, and read then.
    if (turn > 0) await app.deployments.refresh(move)
    const known = knownNeighbours(app, move)
    const { results, ...routing } = await askAgain(app, move)
    const put = await app.store.db.transaction().execute(async (transaction) => {
      await lockTargets(transaction, move)
      await lockEnvironment(transaction, move)
      if (isGated(move) && asksQuestions(move) && !(await areStill(transaction, move, known))) return null
      return putRelease(transaction, caller, { ...move, routing })
    })
    if (put !== null) return { ...put, results }
  }
  throw new Failure('conflict', {
    reason: 'changed_meanwhile',
    message: `What is deployed in ${move.environment} keeps changing. Deploy again.`,
  })
}

/** The inspected content is the frozen one. */
async function lockTargets(transaction: Transaction<Tables>, { projectId, targets }: Move): Promise<void> {
  const drafts = await lockDrafts(transaction, projectId, targets)
  for (const { draft, frozen, isRemoved } of targets) {
    const now = drafts.get(draft.id)
    if (now === undefined) throw noQuery(draft.name)
    if (frozen === null && !isRemoved && now.contentHash !== draft.contentHash) throw changedMeanwhile(draft.name)
  }
}

/** The other queries of an environment, as this process knows them: its questions are compared with them. */
function knownNeighbours(app: Pick<ReleaseParts, 'deployments'>, move: Move): Map<string, string> {
  const own = namesOf(move)
  const others = app.deployments.list(move.projectId, move.environment).filter(({ name }) => !own.has(name))
  return new Map(others.map((each) => [each.name, each.version.id]))
}

async function areStill(transaction: Transaction<Tables>, move: Move, known: Map<string, string>): Promise<boolean> {
  const own = namesOf(move)
  const rows = await transaction
    .selectFrom('deployments')
    .select(['name', 'versionId'])
    .where('projectId', '=', move.projectId)
    .where('environment', '=', move.environment)
    .execute()
  // One that has gone takes no question.
  return rows.every(({ name, versionId }) => own.has(name) || known.get(name) === versionId)
}

function namesOf({ targets }: Move): Set<string> {
  return new Set(targets.map(({ draft }) => draft.name))
}

/** Within the caller's transaction, in which drafts and environment are locked. */
export async function putRelease(
  transaction: Transaction<Tables>,
  caller: Caller,
  { routing, ...move }: ReleaseMove & { routing: ReleaseReport['routing'] },
): Promise<{ report: ReleaseReport; refused: boolean }> {
  const { projectId, environment, targets, examined } = move
  const ids = targets.map(({ draft }) => draft.id)
  const live = await findLiveVersions(transaction, environment, ids)
  requireStill(move, live)
  if (move.check !== true) await requireNoTrial(transaction, { ...move, names: namesOf(move) })
  if (move.trial !== undefined) requireTriable(move, live)
  requireLive(move, live)
  const unfrozen = targets.filter(({ frozen, isRemoved }) => frozen === null && !isRemoved)
  const newest = await findNewestVersions(
    transaction,
    unfrozen.map(({ draft }) => draft.id),
  )
  const judged = await mapInPieces(targets, (target) => judgeTarget(move, target, { live, newest }))
  const queries = judged.map(({ entry }) => entry)
  const isBad = queries.some(({ compatibility }) => compatibility === 'breaking') || routing.regressions.length > 0
  const refused = isBad && isGated(move)
  const record = recordOf(move, { queries, routing })
  const report = { ...reportOf(caller, record), createdAt: new Date() }
  if (refused || (move.check === true && move.keepCheck !== true)) return { report, refused }
  const { id, createdAt } = await insertRelease(transaction, caller, record)
  if (move.check !== true) {
    const fresh = judged.flatMap(({ target: { draft }, chosen }) => {
      const inspected = examined.get(draft.id)
      return chosen?.isNew === true && inspected !== undefined ? [{ draft, inspected, chosen }] : []
    })
    await insertVersions(transaction, caller, fresh)
    const put = judged.flatMap(({ target: { draft }, chosen }) =>
      chosen === null ? [] : [{ queryId: draft.id, name: draft.name, versionId: chosen.id }],
    )
    if (move.trial !== undefined) {
      const started = await startTrial(transaction, caller, {
        ...move.trial,
        projectId,
        environment,
        releaseId: id,
        put,
      })
      return { report: { ...report, id, createdAt, [move.trial.kind]: started }, refused }
    }
    await putDeployments(transaction, caller, { projectId, environment, put })
    const removed = targets.filter(({ isRemoved }) => isRemoved).map(({ draft }) => draft.id)
    await removeDeployments(transaction, environment, removed)
    await keepActs(transaction, caller, { ...record, releaseId: id })
    if (move.rollsBack !== undefined) await markRolledBack(transaction, { id: move.rollsBack, by: id })
  }
  return { report: { ...report, id, createdAt }, refused }
}

/** Later releases are not undone with the one that is taken back. */
function requireStill({ mustHave, environment }: Move, live: Map<string, { number: number }>): void {
  const others = [...(mustHave ?? [])].filter(([queryId, number]) => (live.get(queryId)?.number ?? null) !== number)
  if (others.length === 0) return
  throw new Failure('conflict', {
    reason: 'changed_meanwhile',
    message: `${others.length === 1 ? 'A query' : `${others.length} queries`} of this release changed in ${environment} since. Roll back the later releases first, or use force.`,
  })
}

/** A query that is not there cannot be taken out; going back it may be gone already. */
function requireLive({ act, targets, environment }: Move, live: Map<string, unknown>): void {
  const missing = targets.find(({ draft, isRemoved }) => isRemoved && !live.has(draft.id))
  if (missing !== undefined && act !== 'rollback') throw notDeployed(missing.draft.name, environment)
}

/** A share of the calls can only be taken from something that answers them, and not by nothing. */
function requireTriable({ environment, targets }: Move, live: Map<string, unknown>): void {
  const removed = targets.find(({ isRemoved }) => isRemoved)
  if (removed === undefined && live.size > 0) return
  const message =
    removed === undefined
      ? `None of these queries answers in ${environment} yet, so there is nothing to try them beside. Release them without canary and shadow.`
      : `${removed.draft.name} would be taken out, which cannot be tried out. Do that in a release without canary and shadow.`
  throw new Failure('invalid_request', { reason: 'invalid_field', message })
}

function recordOf(move: Move, { queries, routing }: Pick<ReleaseReport, 'queries' | 'routing'>) {
  return {
    projectId: move.projectId,
    environment: move.environment,
    status: move.check === true ? ('checked' as const) : (move.trial?.kind ?? ('released' as const)),
    act: move.act,
    message: move.message ?? null,
    commit: move.commit ?? null,
    // A way back passes every gate without being forced to.
    forced: move.force === true && move.act !== 'rollback',
    promotedFrom: move.promotedFrom ?? null,
    rollsBack: move.rollsBack ?? null,
    queries,
    routing,
  }
}

function reportOf(caller: Caller, record: ReturnType<typeof recordOf>): Omit<ReleaseReport, 'createdAt'> {
  const none = { replay: null, canary: null, shadow: null }
  return { id: null, ...record, ...none, rolledBackBy: null, createdBy: labelOf(caller) }
}

function nothingOf(app: Pick<ReleaseParts, 'now'>, caller: Caller, move: Move): ReleaseReport {
  const record = recordOf(move, { queries: [], routing: { checked: 0, regressions: [] } })
  return { ...reportOf(caller, record), createdAt: new Date(app.now()) }
}

/** The replay of recorded calls. It joins the check, which somebody wants to come back to. */
async function rehearse(
  app: ReleaseParts,
  caller: Caller,
  { move, examined, report }: { move: Move; examined: Examined; report: ReleaseReport },
): Promise<ReleaseReport> {
  const { projectId, environment, targets } = move
  const candidates = targets.flatMap(({ draft, frozen, isRemoved }) => {
    const before = app.deployments.find({ projectId, environment, name: draft.name })?.version
    const inspected = examined.get(draft.id)
    if (isRemoved || before === undefined || inspected === undefined) return []
    const after = frozen === null ? draftAsVersion(draft, inspected) : liveVersion(frozen)
    return [{ name: draft.name, before, after }]
  })
  const replay = await app.rehearsal.run(caller, { projectId, environment, candidates }).catch((error: unknown) => {
    app.observe({ kind: 'fault', where: 'replay', error })
    return null
  })
  if (replay !== null && report.id !== null) await keepReplay(app.store, { id: report.id, replay })
  return { ...report, replay }
}

const unasked: RoutingReport = { checked: 0, regressions: [], results: [] }

/** Asks the stored questions of the environment again. Where that cannot be done the release goes on without. */
async function askAgain(app: ReleaseParts, move: Move): Promise<RoutingReport> {
  if (!asksQuestions(move)) return unasked
  const { projectId, environment, targets } = move
  const changed = targets.flatMap(({ draft, frozen, isRemoved }) => {
    const { description, sql, slots, examples } = frozen ?? draft
    return isRemoved ? [] : [{ name: draft.name, description, sql, slots, examples }]
  })
  const removed = targets.filter(({ isRemoved }) => isRemoved).map(({ draft }) => draft.name)
  return app.deployGate.regressions({ projectId, environment, changed, removed }).catch((error: unknown) => {
    app.observe({ kind: 'fault', where: 'routing-gate', error })
    return unasked
  })
}

export function recentCallers(
  app: Pick<ReleaseParts, 'queryCallers' | 'now'>,
  { targets, environment }: Move,
): Promise<Map<string, KeyThatCalled[]>> {
  const ids = targets.map(({ draft }) => draft.id)
  return app.queryCallers.since(ids, environment, new Date(app.now() - callersDays * 86_400_000))
}

async function requireEnvironment(app: ReleaseParts, { projectId, environment }: Move): Promise<void> {
  if (await hasEnvironment(app.store, { projectId, environment })) return
  throw new Failure('not_found', { message: `The project has no environment ${environment}.` })
}

/** It is committed; a process that cannot read it now hears of it again within seconds. */
export async function applyHere(
  app: { deployments: Deployments; deployGate: Pick<DeployGate, 'settle'> },
  place: { projectId: string; environment: string },
): Promise<void> {
  await app.deployments.refresh(place).catch(() => undefined)
  await app.deployGate.settle(place)
}

/** Results of evaluation cases stay with the version; for several queries, with their environment. */
async function keepResults(
  app: ReleaseParts,
  caller: Caller,
  { report, results }: Pick<Outcome, 'report' | 'results'>,
): Promise<void> {
  const { projectId, environment, queries } = report
  const [only] = queries
  const about =
    queries.length === 1 && only !== undefined && only.version !== null
      ? { query: only.name, version: only.version }
      : {}
  const place = { projectId, environment, by: labelOf(caller), ...about }
  await app.deployGate.keepResults(place, results).catch((error: unknown) => {
    app.observe({ kind: 'fault', where: 'routing-gate', error })
  })
}
