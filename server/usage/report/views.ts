import type { Value } from '../../../api/wire-codec.ts'
import type { savedView } from '../../../api/usage.ts'
import { fixedLimits } from '../../../api/limits.ts'
import { labelOf, personOf, requireRole, type Caller } from '../../access/index.ts'
import type { Config } from '../../config.ts'
import { Failure, invalidField } from '../../failure.ts'
import { newId } from '../../ids.ts'
import { countOf, lockProjectForQuota, refuseFull, refuseTaken, type Database } from '../../store/index.ts'

/** A filter of a page under a name: a person's own, or shared by the project. */
export type SavedView = Value<typeof savedView>

type OfView = { projectId: string; viewId: string }
type Parts = { store: Database }

const columns = ['id', 'userId', 'page', 'name', 'filter', 'createdAt', 'createdBy'] as const

/** Shared views and the caller's own, by name. */
export async function listViews(
  app: Parts,
  caller: Caller,
  { projectId, page }: { projectId: string; page?: SavedView['page'] | undefined },
): Promise<SavedView[]> {
  await requireRole(app, caller, projectId, 'viewer')
  const rows = await app.store.db
    .selectFrom('savedViews')
    .select(columns)
    .where('projectId', '=', projectId)
    .where((row) => row.or([row('userId', 'is', null), row('userId', '=', personOf(caller) ?? '')]))
    .$if(page !== undefined, (query) => query.where('page', '=', page ?? 'metrics'))
    .orderBy('name')
    .orderBy('id')
    .execute()
  return rows.map(viewOf)
}

export async function createView(
  app: Parts & { config: Pick<Config, 'limits'> },
  caller: Caller,
  input: { projectId: string; page: SavedView['page']; name: string; filter: Record<string, string>; shared: boolean },
): Promise<SavedView> {
  const { projectId, page, name, filter, shared } = input
  await requireRole(app, caller, projectId, shared ? 'editor' : 'viewer')
  const person = personOf(caller)
  if (!shared && person === null) {
    const message = 'must be true: a view of one’s own belongs to a person, and this token is nobody’s'
    throw invalidField('shared', message)
  }
  const userId = shared ? null : person
  const made = app.store.db.transaction().execute(async (transaction) => {
    await lockProjectForQuota(transaction, projectId)
    const count = await countOf(
      transaction
        .selectFrom('savedViews')
        .where('projectId', '=', projectId)
        .where('userId', shared ? 'is' : '=', userId),
    )
    refuseFull({ count, most: fixedLimits.viewsPerProject.value, what: 'Saved views are' })
    return transaction
      .insertInto('savedViews')
      .values({
        id: newId('view'),
        projectId,
        userId,
        page,
        name,
        filter: JSON.stringify(filter),
        createdBy: labelOf(caller),
      })
      .returning(columns)
      .executeTakeFirstOrThrow()
  })
  return viewOf(await refuseTakenName(made, name))
}

export async function changeView(
  app: Parts,
  caller: Caller,
  { name, filter, ...place }: OfView & { name?: string | undefined; filter?: Record<string, string> | undefined },
): Promise<SavedView> {
  const before = await requireOwn(app, caller, place)
  const changed = app.store.db
    .updateTable('savedViews')
    .set({ name: name ?? before.name, filter: JSON.stringify(filter ?? before.filter) })
    .where('id', '=', before.id)
    .returning(columns)
    .executeTakeFirst()
  const row = await refuseTakenName(changed, name ?? before.name)
  return row === undefined ? missing(place.viewId) : viewOf(row)
}

export async function deleteView(app: Parts, caller: Caller, place: OfView): Promise<void> {
  const { id } = await requireOwn(app, caller, place)
  await app.store.db.deleteFrom('savedViews').where('id', '=', id).execute()
}

/** One's own, or the project's for its editors. Another's is as missing as one that does not exist. */
async function requireOwn(app: Parts, caller: Caller, { projectId, viewId }: OfView): Promise<SavedView> {
  await requireRole(app, caller, projectId, 'viewer')
  const row = await app.store.db
    .selectFrom('savedViews')
    .select(columns)
    .where('id', '=', viewId)
    .where('projectId', '=', projectId)
    .where((each) => each.or([each('userId', 'is', null), each('userId', '=', personOf(caller) ?? '')]))
    .executeTakeFirst()
  if (row === undefined) return missing(viewId)
  if (row.userId === null) await requireRole(app, caller, projectId, 'editor')
  return viewOf(row)
}

function missing(viewId: string): never {
  throw new Failure('not_found', { message: `There is no saved view ${viewId}.` })
}

function refuseTakenName<Result>(act: Promise<Result>, name: string): Promise<Result> {
  return refuseTaken(act, 'saved_views_by_name', `There is a view called ${name} already.`)
}

function viewOf({ userId, ...row }: Omit<SavedView, 'shared'> & { userId: string | null }): SavedView {
  return { ...row, shared: userId === null }
}
