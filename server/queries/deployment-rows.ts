import type { Transaction } from 'kysely'
import { recordAct, type Caller } from '../access/index.ts'
import { Failure } from '../failure.ts'
import { newId } from '../ids.ts'
import type { DeploymentAct, Tables, Database } from '../store/index.ts'
import { columnsOf, contentOf } from './content.ts'
import { labelOf, type Draft } from './drafts.ts'
import type { Inspected } from './inspection.ts'
import { versionOf, type Version } from './version-records.ts'

type Place = { projectId: string; environment: string; name: string }

/** What answers in a place from now on. */
export async function putDeployment(
  transaction: Transaction<Tables>,
  caller: Caller,
  { projectId, environment, name, queryId, versionId }: Place & { queryId: string; versionId: string },
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
export async function chooseVersion(
  transaction: Transaction<Tables>,
  caller: Caller,
  { draft, frozen, inspected, dry }: { draft: Draft; frozen: Version | null; inspected: Inspected; dry: boolean },
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

export async function findLive(
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

/** The version that was live before the one that is. */
export async function findPrevious(app: { store: Database }, draft: Draft, environment: string): Promise<number> {
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
