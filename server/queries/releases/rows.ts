import type { Insertable, Transaction } from 'kysely'
import { labelOf, recordAct, type Caller } from '../../access/index.ts'
import { newId } from '../../ids.ts'
import type {
  Database,
  DeploymentAct,
  ReleaseAct,
  ReleasedQuery,
  ReleaseFacts,
  ReleaseRouting,
  ReplayReport,
  Tables,
} from '../../store/index.ts'
import { columnsOf, contentOf } from '../drafts/content.ts'
import type { Draft } from '../drafts/drafts.ts'
import type { Inspected } from '../drafts/inspection.ts'
import { versionOf, type Version } from '../drafts/version-records.ts'

/** Statements carry at most this many rows: writing one down is work that holds up others. */
const maxRows = 100

/** A version to make live: one that exists, or one that is frozen with the release. */
export type Chosen = { id: string; number: number; isNew: boolean }

/** The live versions, by query. */
export async function findLiveVersions(
  transaction: Pick<Transaction<Tables>, 'selectFrom'>,
  environment: string,
  queryIds: string[],
): Promise<Map<string, Version>> {
  const rows = await transaction
    .selectFrom('deployments')
    .innerJoin('queryVersions', 'queryVersions.id', 'deployments.versionId')
    .selectAll('queryVersions')
    .where('deployments.queryId', '=', (is) => is.fn.any(is.val(queryIds)))
    .where('deployments.environment', '=', environment)
    .execute()
  return new Map(rows.map((row) => [row.queryId, versionOf(row)]))
}

export async function findNewestVersions(
  transaction: Transaction<Tables>,
  queryIds: string[],
): Promise<Map<string, Version>> {
  if (queryIds.length === 0) return new Map()
  const rows = await transaction
    .selectFrom('queryVersions')
    .distinctOn('queryId')
    .selectAll()
    .where('queryId', '=', (is) => is.fn.any(is.val(queryIds)))
    .orderBy('queryId')
    .orderBy('version', 'desc')
    .execute()
  return new Map(rows.map((row) => [row.queryId, versionOf(row)]))
}

/** The newest version where nothing changed since, else a new one. */
export function chooseVersion(newest: Version | undefined, draft: Draft, inspected: Inspected): Chosen {
  if (newest !== undefined && isSame(newest, draft, inspected)) {
    return { id: newest.id, number: newest.number, isNew: false }
  }
  return { id: newId('version'), number: (newest?.number ?? 0) + 1, isNew: true }
}

function isSame(version: Version, draft: Draft, { columns, tables }: Inspected): boolean {
  return (
    version.contentHash === draft.contentHash &&
    JSON.stringify([typesOf(version), version.tables]) === JSON.stringify([typesOf({ columns }), tables])
  )
}

/** Versions of earlier services do not say which columns are counts. */
function typesOf({ columns }: Pick<Version, 'columns'>): Array<[string, string]> {
  return columns.map(({ name, type }) => [name, type])
}

type Frozen = { draft: Draft; inspected: Inspected; chosen: Chosen }

export async function insertVersions(
  transaction: Transaction<Tables>,
  caller: Caller,
  frozen: readonly Frozen[],
): Promise<void> {
  for (const part of chunksOf(frozen)) {
    const rows = part.map(({ draft, inspected, chosen }) => ({
      id: chosen.id,
      queryId: draft.id,
      version: chosen.number,
      ...columnsOf(contentOf(draft)),
      columns: JSON.stringify(inspected.columns),
      tables: JSON.stringify(inspected.tables),
      contentHash: draft.contentHash,
      createdBy: labelOf(caller),
    }))
    await transaction.insertInto('queryVersions').values(rows).execute()
  }
}

type Put = { queryId: string; name: string; versionId: string }

/** Writes the deployments of an environment. */
export async function putDeployments(
  transaction: Transaction<Tables>,
  caller: Caller,
  { projectId, environment, put }: { projectId: string; environment: string; put: readonly Put[] },
): Promise<void> {
  for (const part of chunksOf(put)) {
    await transaction
      .insertInto('deployments')
      .values(part.map((each) => ({ ...each, projectId, environment, deployedBy: labelOf(caller) })))
      .onConflict((conflict) =>
        conflict.columns(['projectId', 'environment', 'name']).doUpdateSet((set) => ({
          queryId: set.ref('excluded.queryId'),
          versionId: set.ref('excluded.versionId'),
          deployedBy: set.ref('excluded.deployedBy'),
          deployedAt: set.fn<Date>('now'),
        })),
      )
      .execute()
  }
}

export async function removeDeployments(
  transaction: Transaction<Tables>,
  environment: string,
  queryIds: string[],
): Promise<void> {
  if (queryIds.length === 0) return
  await transaction
    .deleteFrom('deployments')
    .where('queryId', '=', (is) => is.fn.any(is.val(queryIds)))
    .where('environment', '=', environment)
    .execute()
}

export type ReleaseRecord = ReleaseFacts & { queries: ReleasedQuery[]; routing: ReleaseRouting }

/** The release joins the history. */
export async function insertRelease(
  transaction: Transaction<Tables>,
  caller: Caller,
  release: ReleaseRecord,
): Promise<{ id: string; createdAt: Date }> {
  const { queries, routing, ...fields } = release
  const row: Insertable<Tables['releases']> = {
    id: newId('release'),
    ...fields,
    queries: JSON.stringify(queries),
    queryNames: queries.map(({ name }) => name),
    breakingCount: queries.filter(({ compatibility }) => compatibility === 'breaking').length,
    routing: JSON.stringify({ checked: routing.checked, regressions: routing.regressions }),
    rolledBackBy: null,
    createdBy: labelOf(caller),
  }
  const { createdAt } = await transaction
    .insertInto('releases')
    .values(row)
    .returning('createdAt')
    .executeTakeFirstOrThrow()
  return { id: row.id, createdAt }
}

export async function keepReplay(
  { db }: Pick<Database, 'db'>,
  { id, replay }: { id: string; replay: ReplayReport },
): Promise<void> {
  await db
    .updateTable('releases')
    .set({ replay: JSON.stringify(replay) })
    .where('id', '=', id)
    .execute()
}

export async function markRolledBack(
  transaction: Transaction<Tables>,
  { id, by }: { id: string; by: string },
): Promise<void> {
  await transaction
    .updateTable('releases')
    .set({ status: 'rolled_back', rolledBackBy: by })
    .where('id', '=', id)
    .execute()
}

const actions: Record<DeploymentAct, string> = {
  deploy: 'query.deployed',
  promote: 'query.promoted',
  rollback: 'query.rolled_back',
  undeploy: 'query.undeployed',
}

/** The acts join the history of each query, and the audit log: one entry for the release as a whole. */
export async function keepActs(
  transaction: Transaction<Tables>,
  caller: Caller,
  { releaseId, ...release }: ReleaseRecord & { releaseId: string },
): Promise<void> {
  const { projectId, environment, queries, message, commit } = release
  for (const part of chunksOf(queries)) {
    const rows = part.map(({ queryId, version, previousVersion }) => ({
      id: newId('deploymentAct'),
      queryId,
      environment,
      act: actOf(release.act, version),
      version,
      previousVersion,
      by: labelOf(caller),
      releaseId,
    }))
    await transaction.insertInto('deploymentActs').values(rows).execute()
  }
  const [only] = queries
  if (release.act !== 'release' && queries.length === 1 && only !== undefined) {
    const { name, version, previousVersion } = only
    const details = { environment, version, previous_version: previousVersion, release_id: releaseId }
    await recordAct(transaction, caller, { action: actions[release.act], target: name, projectId, details })
    return
  }
  const names = queries.slice(0, maxNamed).map(({ name }) => name)
  const details = { environment, act: release.act, queries: names, query_count: queries.length, message, commit }
  await recordAct(transaction, caller, { action: 'release.made', target: releaseId, projectId, details })
}

/** An entry of the audit log names so many queries; the release itself has them all. */
export const maxNamed = 100

function actOf(act: ReleaseAct, version: number | null): DeploymentAct {
  if (act === 'release') return version === null ? 'undeploy' : 'deploy'
  return act
}

function chunksOf<Item>(items: readonly Item[]): Item[][] {
  const parts: Item[][] = []
  for (let at = 0; at < items.length; at += maxRows) parts.push(items.slice(at, at + maxRows))
  return parts
}
