import type { App } from '../app.ts'
import {
  dropProjectFromKeys,
  effectiveRole,
  personBehind,
  personOf,
  recordAct,
  requireRole,
  type Caller,
} from '../access/index.ts'
import { Failure } from '../failure.ts'
import { newId } from '../ids.ts'
import { pageAfter, type Page, type Role } from '../store/index.ts'

export type Project = { id: string; name: string; role: Role; createdAt: Date }

const defaultEnvironments = ['development', 'staging', 'production']

/** Its maker is its first owner. */
export async function createProject(
  app: Pick<App, 'store'>,
  caller: Caller,
  input: { name: string },
): Promise<Project> {
  if (caller.kind === 'token' && caller.projectId !== null) {
    throw new Failure('permission_denied', {
      reason: 'role_too_small',
      message: 'This management token belongs to one project and cannot make another.',
    })
  }
  const id = newId('project')
  const owner = personOf(caller)
  return app.store.db.transaction().execute(async (transaction) => {
    const { created_at: createdAt } = await transaction
      .insertInto('projects')
      .values({ id, name: input.name })
      .returning('created_at')
      .executeTakeFirstOrThrow()
    await transaction
      .insertInto('environments')
      .values(defaultEnvironments.map((name, position) => ({ project_id: id, name, position })))
      .execute()
    if (owner !== null) {
      await transaction.insertInto('members').values({ project_id: id, user_id: owner, role: 'owner' }).execute()
    }
    await recordAct(transaction, caller, {
      action: 'project.created',
      target: id,
      projectId: id,
      details: { name: input.name },
    })
    return { id, name: input.name, role: caller.kind === 'token' ? caller.role : 'owner', createdAt }
  })
}

/** The projects the caller has a role in, newest first. */
export async function listProjects(
  app: Pick<App, 'store'>,
  caller: Caller,
  input: { limit: number; cursor?: string | undefined },
): Promise<Page<Project>> {
  const person = personBehind(caller)
  const seesAll = person === null || person.administrator
  const only = caller.kind === 'token' ? caller.projectId : null
  const page = await pageAfter(
    (after, limit) =>
      app.store.db
        .selectFrom('projects')
        .leftJoin('members', (join) =>
          join.onRef('members.project_id', '=', 'projects.id').on('members.user_id', '=', person?.userId ?? ''),
        )
        .select(['projects.id', 'projects.name', 'projects.created_at as createdAt', 'members.role'])
        .$if(!seesAll, (query) => query.where('members.role', 'is not', null))
        .$if(only !== null, (query) => query.where('projects.id', '=', only ?? ''))
        .$if(after !== undefined, (query) => query.where('projects.id', '<', after ?? ''))
        .orderBy('projects.id', 'desc')
        .limit(limit)
        .execute(),
    input,
    (project) => project.id,
  )
  const items = page.items.flatMap((row) => {
    const role = effectiveRole(caller, row.id, row.role)
    return role === undefined ? [] : [{ ...row, role }]
  })
  return { ...page, items }
}

export async function findProject(app: Pick<App, 'store'>, caller: Caller, projectId: string): Promise<Project> {
  const role = await requireRole(app, caller, projectId, 'viewer')
  const row = await app.store.db
    .selectFrom('projects')
    .select(['id', 'name', 'created_at as createdAt'])
    .where('id', '=', projectId)
    .executeTakeFirstOrThrow()
  return { ...row, role }
}

export async function renameProject(
  app: Pick<App, 'store'>,
  caller: Caller,
  input: { projectId: string; name: string },
): Promise<Project> {
  await requireRole(app, caller, input.projectId, 'owner')
  await app.store.db.transaction().execute(async (transaction) => {
    await transaction.updateTable('projects').set({ name: input.name }).where('id', '=', input.projectId).execute()
    await recordAct(transaction, caller, {
      action: 'project.renamed',
      target: input.projectId,
      projectId: input.projectId,
      details: { name: input.name },
    })
  })
  return findProject(app, caller, input.projectId)
}

/** Everything of the project goes with it; the audit log stays. */
export async function deleteProject(app: Pick<App, 'store'>, caller: Caller, projectId: string): Promise<void> {
  await requireRole(app, caller, projectId, 'owner')
  await app.store.db.transaction().execute(async (transaction) => {
    await dropProjectFromKeys(app, transaction, projectId)
    await transaction.deleteFrom('projects').where('id', '=', projectId).execute()
    await recordAct(transaction, caller, { action: 'project.deleted', target: projectId, projectId })
  })
}
