import type { Transaction } from 'kysely'
import {
  addMember,
  dropProjectFromKeys,
  effectiveRole,
  exampleProjectId,
  membershipsOf,
  personBehind,
  personOf,
  recordAct,
  requireRole,
  type Caller,
} from '../access/index.ts'
import { Failure } from '../failure.ts'
import { newId } from '../ids.ts'
import { originsChanged, type Origins } from './origins.ts'
import type { Config } from '../config.ts'
import {
  lockQuota,
  pageAfter,
  refuseFull,
  type Database,
  type Dialect,
  type Page,
  type Role,
  type Tables,
} from '../store/index.ts'

export type Project = {
  id: string
  name: string
  allowedOrigins: string[]
  /** What answers its queries. */
  engine: Dialect
  role: Role
  /** Whether it came with the installation, to be looked at. */
  isExample: boolean
  createdAt: Date
}

const defaultEnvironments = ['development', 'staging', 'production']

/** Its maker is its first owner. */
export async function createProject(
  app: { store: Database; config: Pick<Config, 'limits' | 'trinoUrl'> },
  caller: Caller,
  { name, engine = 'duckdb' }: { name: string; engine?: Dialect | undefined },
): Promise<Project> {
  if (engine === 'trino' && app.config.trinoUrl === undefined) {
    throw new Failure('conflict', {
      reason: 'no_trino',
      message: 'A project cannot be on Trino here: whoever runs the server sets SLUICE_TRINO_URL (docs/scaling.md).',
    })
  }
  if (caller.kind === 'token' && (caller.projectId !== null || caller.role !== 'owner')) {
    throw new Failure('permission_denied', {
      reason: 'role_too_small',
      message: 'To make a project, a management token needs the role owner and must not belong to one project.',
    })
  }
  const id = newId('project')
  const owner = personOf(caller)
  return app.store.db.transaction().execute(async (transaction) => {
    await requireRoom(app.config, transaction, caller)
    const { createdAt } = await transaction
      .insertInto('projects')
      .values({ id, name, engine })
      .returning('createdAt')
      .executeTakeFirstOrThrow()
    await transaction
      .insertInto('environments')
      .values(defaultEnvironments.map((name, position) => ({ projectId: id, name, position })))
      .execute()
    if (owner !== null) {
      await addMember(transaction, { projectId: id, userId: owner, role: 'owner' })
    }
    await recordAct(transaction, caller, {
      action: 'project.created',
      target: id,
      projectId: id,
      details: { name, ...(engine !== 'duckdb' && { engine }) },
    })
    return {
      id,
      name,
      allowedOrigins: [],
      engine,
      role: caller.kind === 'token' ? caller.role : 'owner',
      isExample: false,
      createdAt,
    }
  })
}

async function requireRoom(
  { limits }: Pick<Config, 'limits'>,
  transaction: Transaction<Tables>,
  caller: Caller,
): Promise<void> {
  await lockQuota(transaction, 'projects')
  const all = await transaction
    .selectFrom('projects')
    .select((row) => row.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  refuseFull({ count: all.count, most: limits.projects, what: 'Projects of the installation are' })
  const person = personBehind(caller)
  if (person === null || person.administrator) return
  const roles = [...(await membershipsOf({ db: transaction }, person.userId)).values()]
  const most = limits.projectsPerPerson
  refuseFull({ count: roles.filter((role) => role === 'owner').length, most, what: 'Projects that a person owns are' })
}

/** The projects the caller has a role in, newest first. */
export async function listProjects(
  app: { store: Database },
  caller: Caller,
  input: { limit: number; cursor?: string | undefined },
): Promise<Page<Project>> {
  const person = personBehind(caller)
  // Null: all there are.
  const memberships = person === null || person.administrator ? null : await membershipsOf(app.store, person.userId)
  const only = caller.kind === 'token' ? caller.projectId : null
  const page = await pageAfter(
    (after, limit) =>
      app.store.db
        .selectFrom('projects')
        .select(['id', 'name', 'allowedOrigins', 'engine', 'createdAt'])
        .$if(memberships !== null, (query) =>
          query.where('id', '=', (is) => is.fn.any(is.val([...(memberships?.keys() ?? [])]))),
        )
        .$if(only !== null, (query) => query.where('id', '=', only ?? ''))
        .$if(after !== undefined, (query) => query.where('id', '<', after ?? ''))
        .orderBy('id', 'desc')
        .limit(limit)
        .execute(),
    input,
    (project) => project.id,
  )
  const example = await exampleProjectId(app.store)
  const items = page.items.flatMap((row) => {
    const role = effectiveRole(caller, row.id, memberships?.get(row.id) ?? null)
    return role === undefined ? [] : [{ ...row, role, isExample: row.id === example }]
  })
  return { ...page, items }
}

export async function findProject(app: { store: Database }, caller: Caller, projectId: string): Promise<Project> {
  const role = await requireRole(app, caller, projectId, 'viewer')
  const row = await app.store.db
    .selectFrom('projects')
    .select(['id', 'name', 'allowedOrigins', 'engine', 'createdAt'])
    .where('id', '=', projectId)
    .executeTakeFirstOrThrow()
  return { ...row, role, isExample: projectId === (await exampleProjectId(app.store)) }
}

export async function changeProject(
  app: { store: Database; origins: Origins },
  caller: Caller,
  input: { projectId: string; name?: string | undefined; allowedOrigins?: string[] | undefined },
): Promise<Project> {
  await requireRole(app, caller, input.projectId, 'owner')
  const { projectId, name, allowedOrigins } = input
  if (name === undefined && allowedOrigins === undefined) return findProject(app, caller, projectId)
  await app.store.db.transaction().execute(async (transaction) => {
    await transaction
      .updateTable('projects')
      .set({
        ...(name !== undefined && { name }),
        ...(allowedOrigins !== undefined && { allowedOrigins: [...new Set(allowedOrigins)] }),
      })
      .where('id', '=', projectId)
      .execute()
    await recordAct(transaction, caller, {
      action: name === undefined ? 'project.changed' : 'project.renamed',
      target: projectId,
      projectId,
      details: { ...(name !== undefined && { name }), ...(allowedOrigins !== undefined && { allowedOrigins }) },
    })
    if (allowedOrigins !== undefined) await app.store.notify(transaction, originsChanged, projectId)
  })
  if (allowedOrigins !== undefined) await app.origins.refresh()
  return findProject(app, caller, input.projectId)
}

/** Everything of the project goes with it; the audit log stays. */
export async function deleteProject(app: { store: Database }, caller: Caller, projectId: string): Promise<void> {
  await requireRole(app, caller, projectId, 'owner')
  await app.store.db.transaction().execute(async (transaction) => {
    await dropProjectFromKeys(app, transaction, projectId)
    await transaction.deleteFrom('projects').where('id', '=', projectId).execute()
    await recordAct(transaction, caller, { action: 'project.deleted', target: projectId, projectId })
  })
}
