import type { Value } from '../../api/wire-codec.ts'
import type { project } from '../../api/projects.ts'
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
  timesOfActs,
  type Caller,
} from '../access/index.ts'
import { Failure } from '../failure.ts'
import { newId } from '../ids.ts'
import { originsChanged, type Origins } from './origins.ts'
import type { Config } from '../config.ts'
import {
  countOf,
  lockQuota,
  newestFirst,
  refuseFull,
  type Database,
  type Dialect,
  type Page,
  type Tables,
} from '../store/index.ts'

export type Project = Value<typeof project>

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
      queryLinks: false,
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
  const all = await countOf(transaction.selectFrom('projects'))
  refuseFull({ count: all, most: limits.projects, what: 'Projects of the installation are' })
  const person = personBehind(caller)
  if (person === null || person.administrator) return
  const roles = [...(await membershipsOf({ db: transaction }, person.userId)).values()]
  const most = limits.projectsPerPerson
  refuseFull({ count: roles.filter((role) => role === 'owner').length, most, what: 'Projects that a person owns are' })
  await requirePace(limits.projectsPerPersonPerHour, transaction, person.userId)
}

const hourMs = 3_600_000

/** Each project takes an instance, a schema and a place in every list; deleted ones count, or deleting would be the way. */
async function requirePace(most: number, transaction: Transaction<Tables>, userId: string): Promise<void> {
  const made = await timesOfActs(transaction, userId, { action: 'project.created', withinMs: hourMs })
  const earliest = made.at(-most)
  if (earliest === undefined) return
  const waitMs = Math.max(1_000, earliest + hourMs - Date.now())
  throw new Failure('rate_limit_exceeded', {
    message: `One person makes at most ${most} projects in an hour. Use one that is there, wait ${Math.ceil(waitMs / 60_000)} minutes, or ask an administrator to make it.`,
    retryAfterSeconds: Math.ceil(waitMs / 1_000),
  })
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
  const page = await newestFirst(
    app.store.db
      .selectFrom('projects')
      .select(['id', 'name', 'allowedOrigins', 'queryLinks', 'engine', 'createdAt'])
      .$if(memberships !== null, (query) =>
        query.where('id', '=', (is) => is.fn.any(is.val([...(memberships?.keys() ?? [])]))),
      )
      .$if(only !== null, (query) => query.where('id', '=', only ?? '')),
    input,
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
    .select(['id', 'name', 'allowedOrigins', 'queryLinks', 'engine', 'createdAt'])
    .where('id', '=', projectId)
    .executeTakeFirstOrThrow()
  return { ...row, role, isExample: projectId === (await exampleProjectId(app.store)) }
}

export async function changeProject(
  app: { store: Database; origins: Origins },
  caller: Caller,
  input: {
    projectId: string
    name?: string | undefined
    allowedOrigins?: string[] | undefined
    queryLinks?: boolean | undefined
  },
): Promise<Project> {
  await requireRole(app, caller, input.projectId, 'owner')
  const { projectId, name, allowedOrigins, queryLinks } = input
  const opensOtherwise = allowedOrigins !== undefined || queryLinks !== undefined
  if (name === undefined && !opensOtherwise) return findProject(app, caller, projectId)
  await app.store.db.transaction().execute(async (transaction) => {
    await transaction
      .updateTable('projects')
      .set({
        ...(name !== undefined && { name }),
        ...(allowedOrigins !== undefined && { allowedOrigins: [...new Set(allowedOrigins)] }),
        ...(queryLinks !== undefined && { queryLinks }),
      })
      .where('id', '=', projectId)
      .execute()
    await recordAct(transaction, caller, {
      action: name === undefined ? 'project.changed' : 'project.renamed',
      target: projectId,
      projectId,
      details: {
        ...(name !== undefined && { name }),
        ...(allowedOrigins !== undefined && { allowedOrigins }),
        ...(queryLinks !== undefined && { queryLinks }),
      },
    })
    if (opensOtherwise) await app.store.notify(transaction, originsChanged, projectId)
  })
  if (opensOtherwise) await app.origins.refresh()
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
