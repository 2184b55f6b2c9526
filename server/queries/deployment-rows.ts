import type { Transaction } from 'kysely'
import { labelOf, recordAct, type Caller } from '../access/index.ts'
import { Failure } from '../failure.ts'
import { newId } from '../ids.ts'
import type { DeploymentAct, Tables, Database } from '../store/index.ts'
import { columnsOf, contentOf } from './content.ts'
import type { Draft } from './drafts.ts'
import type { Inspected } from './inspection.ts'
import { versionOf, type Version } from './version-records.ts'

type Place = { projectId: string; environment: string; name: string }

/** What answers in a place from now on. */
export async function putDeployment(
  transaction: Transaction<Tables>,
  caller: Caller,
  { projectId, environment, name, queryId, versionId }: Place & { queryId: string; versionId: string },
): Promise<void> {
  const target = { queryId, versionId, deployedBy: labelOf(caller) }
  await transaction
    .insertInto('deployments')
    .values({ projectId, environment, name, ...target })
    .onConflict((conflict) =>
      conflict
        .columns(['projectId', 'environment', 'name'])
        .doUpdateSet((set) => ({ ...target, deployedAt: set.fn<Date>('now') })),
    )
    .execute()
}

/** The version to make live: one that exists, the newest where nothing changed since, else a new one. */
export async function chooseVersion(
  transaction: Transaction<Tables>,
  caller: Caller,
  { draft, frozen, inspected, dry }: { draft: Draft; frozen: Version | null; inspected: Inspected; dry: boolean },
): Promise<{ id: string; number: number }> {
  if (frozen !== null) return frozen
  const row = await transaction
    .selectFrom('queryVersions')
    .selectAll()
    .where('queryId', '=', draft.id)
    .orderBy('version', 'desc')
    .limit(1)
    .executeTakeFirst()
  const newest = row === undefined ? undefined : versionOf(row)
  if (newest !== undefined && isSame(newest, draft, inspected)) return newest
  const next = { id: newId('version'), number: (newest?.number ?? 0) + 1 }
  if (dry) return next
  await transaction
    .insertInto('queryVersions')
    .values({
      id: next.id,
      queryId: draft.id,
      version: next.number,
      ...columnsOf(contentOf(draft)),
      columns: JSON.stringify(inspected.columns),
      tables: JSON.stringify(inspected.tables),
      contentHash: draft.contentHash,
      createdBy: labelOf(caller),
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

export async function findLive(
  db: Pick<Transaction<Tables>, 'selectFrom'>,
  draft: Draft,
  environment: string,
): Promise<Version | undefined> {
  const row = await db
    .selectFrom('deployments')
    .innerJoin('queryVersions', 'queryVersions.id', 'deployments.versionId')
    .selectAll('queryVersions')
    .where('deployments.queryId', '=', draft.id)
    .where('deployments.environment', '=', environment)
    .executeTakeFirst()
  return row === undefined ? undefined : versionOf(row)
}

/** The version that was live before the one that is. */
export async function findPrevious(app: { store: Database }, draft: Draft, environment: string): Promise<number> {
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

type Kept = Place & { act: DeploymentAct; queryId: string; from: number | null; to: number | null }

const actions: Record<DeploymentAct, string> = {
  deploy: 'query.deployed',
  promote: 'query.promoted',
  rollback: 'query.rolled_back',
  undeploy: 'query.undeployed',
}

/** The act joins the query's history and the audit log. */
export async function keepAct(transaction: Transaction<Tables>, caller: Caller, kept: Kept): Promise<void> {
  const { projectId, name, act, environment, queryId, from, to } = kept
  await transaction
    .insertInto('deploymentActs')
    .values({
      id: newId('deploymentAct'),
      queryId,
      environment,
      act,
      version: to,
      previousVersion: from,
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
