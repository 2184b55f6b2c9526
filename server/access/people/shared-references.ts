import type { Clock } from '../../clock.ts'
import { Failure } from '../../failure.ts'
import type { Database } from '../../store/index.ts'
import type { Attempts } from '../credentials/attempts.ts'
import { recordAct } from './audit.ts'
import type { Caller } from './caller.ts'
import { hashCredential, newCredential } from '../credentials/credential.ts'
import type { ProjectDirectory } from './project-directory.ts'
import { requireRole } from './roles.ts'
import type { Place } from '../../ids.ts'

/** Reference of an environment for everyone with the link: names, slots and columns, and no row. */
export type SharedReference = { environment: string; createdAt: Date }

/** The link that leads there; one before it ends. Its secret exists only in the answer. */
export async function shareReference(
  app: { store: Database; projects: ProjectDirectory; now: Clock },
  caller: Caller,
  { projectId, environment }: Place,
): Promise<SharedReference & { secret: string }> {
  await requireRole(app, caller, projectId, 'owner')
  const known = await app.projects.environmentsOf([projectId])
  if (!known.some(({ name }) => name === environment)) {
    throw new Failure('not_found', { message: `The project has no environment ${environment}.` })
  }
  const { secret, hash } = newCredential('link')
  const createdAt = new Date(app.now())
  await app.store.db.transaction().execute(async (transaction) => {
    const there = { projectId, environment }
    await transaction
      .deleteFrom('sharedReferences')
      .where('projectId', '=', projectId)
      .where('environment', '=', environment)
      .execute()
    await transaction
      .insertInto('sharedReferences')
      .values({ ...there, secretHash: hash, createdAt })
      // Two at once: the one that comes last has the link.
      .onConflict((conflict) => conflict.columns(['projectId', 'environment']).doUpdateSet({ secretHash: hash }))
      .execute()
    await recordAct(transaction, caller, { action: 'reference.shared', target: environment, projectId })
  })
  return { environment, createdAt, secret }
}

/** The link leads nowhere from now on. */
export async function unshareReference(
  app: { store: Database },
  caller: Caller,
  { projectId, environment }: Place,
): Promise<void> {
  await requireRole(app, caller, projectId, 'owner')
  await app.store.db.transaction().execute(async (transaction) => {
    const { numDeletedRows } = await transaction
      .deleteFrom('sharedReferences')
      .where('projectId', '=', projectId)
      .where('environment', '=', environment)
      .executeTakeFirstOrThrow()
    if (numDeletedRows === 0n) throw new Failure('not_found', { message: `${environment} is not shared by a link.` })
    await recordAct(transaction, caller, { action: 'reference.unshared', target: environment, projectId })
  })
}

export async function listSharedReferences(
  app: { store: Database },
  caller: Caller,
  projectId: string,
): Promise<SharedReference[]> {
  await requireRole(app, caller, projectId, 'viewer')
  return app.store.db
    .selectFrom('sharedReferences')
    .select(['environment', 'createdAt'])
    .where('projectId', '=', projectId)
    .orderBy('environment')
    .execute()
}

/** Where a link leads. One that leads nowhere counts for its address, as any secret that is not good. */
export async function findSharedReference(
  app: { store: Database; authenticationAttempts: Attempts },
  { secret, address }: { secret: string; address: string },
): Promise<Place> {
  const waitSeconds = app.authenticationAttempts.waitSeconds(address)
  const place = await app.store.db
    .selectFrom('sharedReferences')
    .select(['projectId', 'environment'])
    .where('secretHash', '=', hashCredential(secret))
    .executeTakeFirst()
  if (place !== undefined) return place
  app.authenticationAttempts.recordFailure(address)
  if (waitSeconds > 0) {
    const message = `Too many links from this address lead nowhere. Wait ${waitSeconds} s.`
    throw new Failure('rate_limit_exceeded', { message, retryAfterSeconds: waitSeconds })
  }
  throw new Failure('not_found', {
    message: 'This link leads nowhere: it was replaced or revoked. Ask for another.',
  })
}
