import { fixedLimits } from '../../../api/limits.ts'
import type { Transaction } from 'kysely'
import { Failure } from '../../failure.ts'
import { newId } from '../../ids.ts'
import { countOf, lockProjectForQuota, refuseFull, type Role, type Tables, type Database } from '../../store/index.ts'
import { recordAct } from './audit.ts'
import { personOf, systemCaller, type Caller } from './caller.ts'
import { hashCredential, newCredential } from '../credentials/credential.ts'
import { addMember } from './members.ts'
import { asCaller, insertUser, refuseTakenEmail, type UserCaller } from './people.ts'
import type { Passwords } from '../credentials/passwords.ts'
import type { ProjectDirectory } from './project-directory.ts'
import { requireRole } from './roles.ts'
import type { Clock } from '../../clock.ts'
import type { Config } from '../../config.ts'

export type Invitation = { id: string; role: Role; email: string | null; createdAt: Date; expiresAt: Date }

const invitationColumns = ['id', 'role', 'email', 'createdAt', 'expiresAt'] as const

/** A new one-time link for a user; the ones before it stop working. The secret exists only in the answer. */
export async function makeSignInLink(
  app: { store: Database; now: Clock; config: Config },
  userId: string,
): Promise<string> {
  const { secret, hash } = newCredential('link')
  await app.store.db.transaction().execute(async (transaction) => {
    await transaction.deleteFrom('links').where('userId', '=', userId).execute()
    await transaction
      .insertInto('links')
      .values({
        id: newId('link'),
        secretHash: hash,
        userId,
        expiresAt: new Date(app.now() + fixedLimits.linkSeconds.value * 1000),
      })
      .execute()
    await recordAct(transaction, systemCaller, { action: 'sign_in_link.created', target: userId })
  })
  return secret
}

export async function signInByLink(
  app: { store: Database; now: Clock },
  input: { secret: string; requestId: string },
): Promise<UserCaller> {
  return app.store.db.transaction().execute(async (transaction) => {
    const used = await transaction
      .updateTable('links')
      .set({ usedAt: new Date(app.now()) })
      .where('secretHash', '=', hashCredential(input.secret))
      .where('userId', 'is not', null)
      .where('usedAt', 'is', null)
      .where('expiresAt', '>', new Date(app.now()))
      .returning('userId')
      .executeTakeFirst()
    if (used === undefined) throw badLink('npm start prints a new one.')
    const user = await transaction
      .selectFrom('users')
      .select(['id', 'name', 'email', 'administrator'])
      .where('id', '=', used.userId)
      .executeTakeFirstOrThrow()
    const caller = asCaller(user, input.requestId)
    await recordAct(transaction, caller, { action: 'sign_in_link.used', target: user.id })
    return caller
  })
}

export async function invite(
  app: { store: Database; now: Clock; config: Config },
  caller: Caller,
  input: { projectId: string; role: Role; email?: string | undefined },
): Promise<Invitation & { secret: string }> {
  await requireRole(app, caller, input.projectId, 'owner')
  const { secret, hash } = newCredential('link')
  return app.store.db.transaction().execute(async (transaction) => {
    await requireRoom(app, transaction, input.projectId)
    const invitation = await transaction
      .insertInto('links')
      .values({
        id: newId('link'),
        secretHash: hash,
        projectId: input.projectId,
        role: input.role,
        email: input.email ?? null,
        createdBy: personOf(caller),
        expiresAt: new Date(app.now() + fixedLimits.invitationSeconds.value * 1000),
      })
      .returning(invitationColumns)
      .$narrowType<{ role: Role }>()
      .executeTakeFirstOrThrow()
    await recordAct(transaction, caller, {
      action: 'invitation.created',
      target: invitation.id,
      projectId: input.projectId,
      details: { role: input.role, email: input.email },
    })
    return { ...invitation, secret }
  })
}

/** An invitation holds a place, so that who accepts one always finds it. */
async function requireRoom(
  app: { now: Clock; config: Config },
  transaction: Transaction<Tables>,
  projectId: string,
): Promise<void> {
  await lockProjectForQuota(transaction, projectId)
  const members = await countOf(transaction.selectFrom('members').where('projectId', '=', projectId))
  const invited = await countOf(
    transaction
      .selectFrom('links')
      .where('projectId', '=', projectId)
      .where('usedAt', 'is', null)
      .where('expiresAt', '>', new Date(app.now())),
  )
  const most = app.config.limits.membersPerProject
  const count = members + invited
  refuseFull({ count, most, what: 'Members of a project, those invited included, are' })
}

/** The invitations that can still be accepted. */
export async function listInvitations(
  app: { store: Database; now: Clock },
  caller: Caller,
  projectId: string,
): Promise<Invitation[]> {
  await requireRole(app, caller, projectId, 'owner')
  return app.store.db
    .selectFrom('links')
    .select(invitationColumns)
    .$narrowType<{ role: Role }>()
    .where('projectId', '=', projectId)
    .where('usedAt', 'is', null)
    .where('expiresAt', '>', new Date(app.now()))
    .orderBy('id')
    .execute()
}

export async function withdrawInvitation(
  app: { store: Database },
  caller: Caller,
  input: { projectId: string; invitationId: string },
): Promise<void> {
  await requireRole(app, caller, input.projectId, 'owner')
  await app.store.db.transaction().execute(async (transaction) => {
    const gone = await transaction
      .deleteFrom('links')
      .where('projectId', '=', input.projectId)
      .where('id', '=', input.invitationId)
      .where('usedAt', 'is', null)
      .returning('email')
      .executeTakeFirst()
    if (gone === undefined) throw new Failure('not_found', { message: 'There is no such invitation.' })
    await recordAct(transaction, caller, {
      action: 'invitation.withdrawn',
      target: input.invitationId,
      projectId: input.projectId,
      details: { email: gone.email },
    })
  })
}

/** Content of an invitation, for the page that asks whether to accept it. Uses nothing up. */
export async function readInvitation(
  app: { store: Database; projects: ProjectDirectory; now: Clock },
  secret: string,
): Promise<{ projectName: string; role: Role; email: string | null }> {
  const row = await app.store.db
    .selectFrom('links')
    .select(['projectId', 'role', 'email'])
    .$narrowType<{ projectId: string; role: Role }>()
    .where('secretHash', '=', hashCredential(secret))
    .where('projectId', 'is not', null)
    .where('usedAt', 'is', null)
    .where('expiresAt', '>', new Date(app.now()))
    .executeTakeFirst()
  const [project] = row === undefined ? [] : await app.projects.list({ among: [row.projectId], limit: 1 })
  if (row === undefined || project === undefined) throw badLink('Ask for a new one.')
  return { projectName: project.name, role: row.role, email: row.email }
}

/**
 * Joins the project: someone signed in as themself, anyone else as a new user with the name, e-mail and password given.
 */
export async function acceptInvitation(
  app: { store: Database; passwords: Passwords; now: Clock },
  caller: UserCaller | null,
  input: {
    secret: string
    requestId: string
    person: { name?: string | undefined; email?: string | undefined; password?: string | undefined }
  },
): Promise<{ caller: UserCaller; projectId: string }> {
  // Hashing takes long; the transaction should not.
  const passwordHash = caller === null ? await app.passwords.hash(requirePerson(input.person).password) : ''
  return refuseTakenEmail(
    app.store.db.transaction().execute(async (transaction) => {
      const used = await transaction
        .updateTable('links')
        .set({ usedAt: new Date(app.now()) })
        .where('secretHash', '=', hashCredential(input.secret))
        .where('projectId', 'is not', null)
        .where('usedAt', 'is', null)
        .where('expiresAt', '>', new Date(app.now()))
        .returning(['id', 'projectId', 'role', 'email'])
        .$narrowType<{ projectId: string; role: Role }>()
        .executeTakeFirst()
      if (used === undefined) throw badLink('Ask for a new one.')
      const joining =
        caller ?? (await insertInvited(transaction, { ...requirePerson(input.person), passwordHash }, input.requestId))
      await requireAddress(transaction, joining, used.email)
      // An invitation never lowers the role of someone who is a member already.
      await addMember(transaction, { projectId: used.projectId, userId: joining.userId, role: used.role })
      await recordAct(transaction, joining, {
        action: 'invitation.accepted',
        target: used.id,
        projectId: used.projectId,
        details: { role: used.role },
      })
      return { caller: joining, projectId: used.projectId }
    }),
  )
}

/** An invitation that names an address is for whoever has it: a link that was passed on lets nobody else in. */
async function requireAddress(
  transaction: Transaction<Tables>,
  { userId }: UserCaller,
  invited: string | null,
): Promise<void> {
  if (invited === null) return
  const { email } = await transaction
    .selectFrom('users')
    .select('email')
    .where('id', '=', userId)
    .executeTakeFirstOrThrow()
  if (email === invited) return
  throw new Failure('permission_denied', {
    reason: 'other_address',
    message: 'This invitation is for another e-mail address. Use it with that one, or ask for one of your own.',
  })
}

async function insertInvited(
  transaction: Transaction<Tables>,
  person: { name: string; email: string; passwordHash: string },
  requestId: string,
): Promise<UserCaller> {
  const id = await insertUser(transaction, { kind: 'system', requestId }, person)
  return asCaller({ id, name: person.name, email: person.email, administrator: false }, requestId)
}

function requirePerson(person: {
  name?: string | undefined
  email?: string | undefined
  password?: string | undefined
}): { name: string; email: string; password: string } {
  const { name, email, password } = person
  if (name === undefined || email === undefined || password === undefined) {
    const missing = Object.entries({ name, email, password }).filter(([, value]) => value === undefined)
    throw new Failure('invalid_request', {
      reason: 'invalid_field',
      message: 'Give a name, an e-mail and a password, or sign in first.',
      details: missing.map(([field]) => ({ field, message: 'is required for a new user' })),
    })
  }
  return { name, email, password }
}

function badLink(next: string): Failure {
  return new Failure('authentication_failed', {
    reason: 'unknown',
    message: `This link is wrong, was used before, or has expired. ${next}`,
  })
}
