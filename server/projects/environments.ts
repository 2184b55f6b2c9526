import type { App } from '../app.ts'
import { recordAct, requireRole, type Caller } from '../access/index.ts'
import { Failure } from '../failure.ts'
import { isUniqueViolation } from '../store/index.ts'

export type Environment = { name: string; createdAt: Date }

/** More than anyone deploys to, few enough that an index per environment stays affordable. */
const mostEnvironments = 20

export async function listEnvironments(
  app: Pick<App, 'store'>,
  caller: Caller,
  projectId: string,
): Promise<Environment[]> {
  await requireRole(app, caller, projectId, 'viewer')
  return app.store.db
    .selectFrom('environments')
    .select(['name', 'created_at as createdAt'])
    .where('project_id', '=', projectId)
    .orderBy('position')
    .execute()
}

export async function addEnvironment(
  app: Pick<App, 'store'>,
  caller: Caller,
  input: { projectId: string; name: string },
): Promise<Environment> {
  await requireRole(app, caller, input.projectId, 'owner')
  try {
    return await app.store.db.transaction().execute(async (transaction) => {
      // The project's row is the lock under which positions are given out.
      await transaction
        .selectFrom('projects')
        .select('id')
        .where('id', '=', input.projectId)
        .forUpdate()
        .executeTakeFirstOrThrow()
      const { count, last } = await transaction
        .selectFrom('environments')
        .select((select) => [select.fn.countAll<number>().as('count'), select.fn.max('position').as('last')])
        .where('project_id', '=', input.projectId)
        .executeTakeFirstOrThrow()
      if (count >= mostEnvironments) {
        throw new Failure('conflict', {
          reason: 'in_use',
          message: `A project has at most ${mostEnvironments} environments. Delete one first.`,
        })
      }
      const environment = await transaction
        .insertInto('environments')
        .values({ project_id: input.projectId, name: input.name, position: (last ?? 0) + 1 })
        .returning(['name', 'created_at as createdAt'])
        .executeTakeFirstOrThrow()
      await recordAct(transaction, caller, {
        action: 'environment.added',
        target: input.name,
        projectId: input.projectId,
      })
      return environment
    })
  } catch (error) {
    if (!isUniqueViolation(error, 'environments_pkey')) throw error
    throw new Failure('conflict', {
      reason: 'name_taken',
      message: `The project has an environment ${input.name} already.`,
      cause: error,
    })
  }
}

export async function deleteEnvironment(
  app: Pick<App, 'store'>,
  caller: Caller,
  input: { projectId: string; name: string },
): Promise<void> {
  await requireRole(app, caller, input.projectId, 'owner')
  // Calls that name no environment go to production: it cannot be missing.
  if (input.name === 'production') {
    throw new Failure('conflict', { reason: 'in_use', message: 'Every project keeps its production environment.' })
  }
  await app.store.db.transaction().execute(async (transaction) => {
    const gone = await transaction
      .deleteFrom('environments')
      .where('project_id', '=', input.projectId)
      .where('name', '=', input.name)
      .executeTakeFirst()
    if (gone.numDeletedRows === 0n) {
      throw new Failure('not_found', { message: `The project has no environment ${input.name}.` })
    }
    await recordAct(transaction, caller, {
      action: 'environment.deleted',
      target: input.name,
      projectId: input.projectId,
    })
  })
}
