import { recordAct, requireRole, type Caller } from '../access/index.ts'
import { Failure } from '../failure.ts'
import type { Config } from '../config.ts'
import { refuseTaken, lockProjectForQuota, refuseFull, type Database } from '../store/index.ts'

export type Environment = { name: string; createdAt: Date }

export async function listEnvironments(
  app: { store: Database },
  caller: Caller,
  projectId: string,
): Promise<Environment[]> {
  await requireRole(app, caller, projectId, 'viewer')
  return app.store.db
    .selectFrom('environments')
    .select(['name', 'createdAt'])
    .where('projectId', '=', projectId)
    .orderBy('position')
    .execute()
}

export async function addEnvironment(
  app: { store: Database; config: Pick<Config, 'limits'> },
  caller: Caller,
  input: { projectId: string; name: string },
): Promise<Environment> {
  await requireRole(app, caller, input.projectId, 'owner')
  return refuseTaken(
    app.store.db.transaction().execute(async (transaction) => {
      // Positions are given out under it, too.
      await lockProjectForQuota(transaction, input.projectId)
      const { count, last } = await transaction
        .selectFrom('environments')
        .select((select) => [select.fn.countAll<number>().as('count'), select.fn.max('position').as('last')])
        .where('projectId', '=', input.projectId)
        .executeTakeFirstOrThrow()
      const most = app.config.limits.environmentsPerProject
      refuseFull({ count, most, what: 'Environments of a project are' })
      const environment = await transaction
        .insertInto('environments')
        .values({ projectId: input.projectId, name: input.name, position: (last ?? 0) + 1 })
        .returning(['name', 'createdAt'])
        .executeTakeFirstOrThrow()
      await recordAct(transaction, caller, {
        action: 'environment.added',
        target: input.name,
        projectId: input.projectId,
      })
      return environment
    }),
    'environments_pkey',
    `The project has an environment ${input.name} already.`,
  )
}

/** The order in which they are shown. Those that are not named come last, as they were. */
export async function orderEnvironments(
  app: { store: Database },
  caller: Caller,
  input: { projectId: string; names: string[] },
): Promise<void> {
  const { projectId, names } = input
  await requireRole(app, caller, projectId, 'owner')
  await app.store.db.transaction().execute(async (transaction) => {
    await lockProjectForQuota(transaction, projectId)
    const there = await transaction
      .selectFrom('environments')
      .select('name')
      .where('projectId', '=', projectId)
      .orderBy('position')
      .execute()
    const others = there.map(({ name }) => name).filter((name) => !names.includes(name))
    for (const [at, name] of [...names, ...others].entries()) {
      await transaction
        .updateTable('environments')
        .set({ position: at + 1 })
        .where('projectId', '=', projectId)
        .where('name', '=', name)
        .execute()
    }
    await recordAct(transaction, caller, { action: 'environments.ordered', target: projectId, projectId })
  })
}

export async function deleteEnvironment(
  app: { store: Database },
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
      .where('projectId', '=', input.projectId)
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
