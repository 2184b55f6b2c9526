import type { Transaction } from 'kysely'
import { recordAct, requireRole, type Caller } from '../../access/index.ts'
import { Failure } from '../../failure.ts'
import type { Database, Tables } from '../../store/index.ts'
import { findQuery, lockDraft, refuseTakenName, type Query } from './drafts.ts'

type Named = { projectId: string; name: string }

/** A port: what other rooms know by the name of a query follows it, in the same transaction. */
export type QueryNameKeepers = {
  renamed(transaction: Transaction<Tables>, names: { projectId: string; from: string; to: string }): Promise<void>
}

type Parts = { store: Database; queryNames: QueryNameKeepers }

/**
 * Gives a query another name, with its versions and whatever names it. Not while it is deployed: callers know it by its
 * name, and would be turned away. A copy under the new name is then the way, deployed beside the old one.
 */
export async function renameQuery(app: Parts, caller: Caller, input: Named & { to: string }): Promise<Query> {
  const { projectId, name, to } = input
  await requireRole(app, caller, projectId, 'editor')
  await refuseTakenName(
    app.store.db.transaction().execute(async (transaction) => {
      const { id } = await lockDraft(transaction, input)
      if (to === name) return
      await refuseDeployed(transaction, { id, name })
      await transaction.updateTable('queries').set({ name: to }).where('id', '=', id).execute()
      await app.queryNames.renamed(transaction, { projectId, from: name, to })
      await recordAct(transaction, caller, { action: 'query.renamed', target: to, projectId, details: { from: name } })
    }),
    to,
  )
  return findQuery(app, caller, { projectId, name: to })
}

async function refuseDeployed(transaction: Transaction<Tables>, { id, name }: { id: string; name: string }) {
  const live = await transaction.selectFrom('deployments').select('environment').where('queryId', '=', id).execute()
  const tried = await transaction.selectFrom('trialVersions').select('releaseId').where('queryId', '=', id).execute()
  if (live.length === 0 && tried.length === 0) return
  const places = live.length === 0 ? 'by a release that is tried out' : live.map((each) => each.environment).join(', ')
  throw new Failure('conflict', {
    reason: 'in_use',
    message: `${name} is deployed in ${places}, and its callers know it by this name. Make a copy under the new name, deploy that, and undeploy ${name} once nobody calls it.`,
  })
}

/** How people sort it. No edit of what it does: its revision and its versions stay. */
export async function tagQuery(
  app: { store: Database },
  caller: Caller,
  input: Named & { tags: string[] },
): Promise<Query> {
  const { projectId, name } = input
  const tags = [...new Set(input.tags)]
  await requireRole(app, caller, projectId, 'editor')
  await app.store.db.transaction().execute(async (transaction) => {
    const { id } = await lockDraft(transaction, input)
    await transaction.updateTable('queries').set({ tags }).where('id', '=', id).execute()
    await recordAct(transaction, caller, { action: 'query.tagged', target: name, projectId, details: { tags } })
  })
  return findQuery(app, caller, input)
}
