import type { Value } from '../../../api/wire-codec.ts'
import type { user } from '../../../api/people.ts'
import type { Transaction } from 'kysely'
import { Failure, invalidField } from '../../failure.ts'
import { newId } from '../../ids.ts'
import { refuseTaken, type Tables, type Database } from '../../store/index.ts'
import { recordAct } from './audit.ts'
import { systemCaller, type Caller } from './caller.ts'
import type { Passwords } from '../credentials/passwords.ts'
import { endOtherWaysIn } from './sessions.ts'
import type { Attempts } from '../credentials/attempts.ts'

export type User = Value<typeof user>

/** The person signed in, as a caller of what comes next. */
export type UserCaller = Caller & { kind: 'user' }

/**
 * Called at every start: makes the installation's first user on an empty database, and says who it is. The user has
 * no e-mail and no password; the one-time link is the way in.
 */
export async function ensureFirstUser(
  app: { store: Database },
  input: { example: 'wanted' | 'off' },
): Promise<{ userId: string; created: boolean }> {
  return app.store.db.transaction().execute(async (transaction) => {
    const { numInsertedOrUpdatedRows: inserted } = await transaction
      .insertInto('installation')
      .values({ example: input.example })
      .onConflict((conflict) => conflict.doNothing())
      .executeTakeFirstOrThrow()
    if (inserted === 0n) {
      const first = await transaction
        .selectFrom('users')
        .select('id')
        .where('administrator', '=', true)
        .orderBy('id')
        .executeTakeFirstOrThrow()
      return { userId: first.id, created: false }
    }
    const userId = await insertUser(transaction, systemCaller, { name: 'Administrator', administrator: true })
    return { userId, created: true }
  })
}

/** A user as the caller of what the service does on their behalf. */
export async function actAs(app: { store: Database }, userId: string): Promise<UserCaller> {
  const { id, name, email, administrator } = await findUser(app, userId)
  return { ...asCaller({ id, name, email, administrator }, ''), requestId: null }
}

/** Checks e-mail and password. The answer and its time are the same for an unknown e-mail and a wrong password. */
export async function signIn(
  app: { store: Database; passwords: Passwords; signInAttempts: Attempts },
  input: { email: string; password: string; address: string; requestId: string },
): Promise<UserCaller> {
  // The pair, not the e-mail alone: a stranger's guesses must not lock the owner out.
  const keys = [input.address, `${input.address} ${input.email}`]
  const waitSeconds = Math.max(...keys.map((key) => app.signInAttempts.waitSeconds(key)))
  if (waitSeconds > 0) {
    throw new Failure('rate_limit_exceeded', {
      message: `Too many failed sign-ins. Wait ${waitSeconds} s and try again.`,
      retryAfterSeconds: waitSeconds,
    })
  }
  const row = await app.store.db
    .selectFrom('users')
    .select(['id', 'name', 'email', 'administrator', 'passwordHash'])
    .where('email', '=', input.email)
    .executeTakeFirst()
  if (!(await app.passwords.matches(row?.passwordHash ?? null, input.password)) || row === undefined) {
    for (const key of keys) app.signInAttempts.recordFailure(key)
    throw new Failure('authentication_failed', {
      reason: 'wrong_password',
      message: 'E-mail and password do not match.',
    })
  }
  return asCaller(row, input.requestId)
}

export async function findUser(app: { store: Database }, userId: string): Promise<User> {
  const row = await app.store.db.selectFrom('users').selectAll().where('id', '=', userId).executeTakeFirst()
  if (row === undefined) throw new Failure('authentication_failed', { reason: 'unknown' })
  return {
    id: row.id,
    name: row.name,
    email: row.email,
    administrator: row.administrator,
    hasPassword: row.passwordHash !== null,
    createdAt: row.createdAt,
  }
}

/** A person changes themself. What signs them in changes only against the present password, where one is set. */
export async function updateSelf(
  app: { store: Database; passwords: Passwords },
  caller: UserCaller,
  input: {
    name?: string | undefined
    email?: string | undefined
    password?: string | undefined
    currentPassword?: string | undefined
    /** The session that asks: the one that a new password leaves open. */
    sessionId: string
  },
): Promise<User> {
  const { db } = app.store
  const { passwordHash: stored } = await db
    .selectFrom('users')
    .select('passwordHash')
    .where('id', '=', caller.userId)
    .executeTakeFirstOrThrow()
  const touchesSignIn = input.email !== undefined || input.password !== undefined
  if (touchesSignIn && stored !== null && !(await app.passwords.matches(stored, input.currentPassword ?? ''))) {
    throw invalidField('current_password', 'must be the present password')
  }
  const changes = {
    ...(input.name !== undefined && { name: input.name }),
    ...(input.email !== undefined && { email: input.email }),
    ...(input.password !== undefined && { passwordHash: await app.passwords.hash(input.password) }),
  }
  if (Object.keys(changes).length > 0) {
    await refuseTakenEmail(
      db.transaction().execute(async (transaction) => {
        await transaction.updateTable('users').set(changes).where('id', '=', caller.userId).execute()
        // Sessions and links from before the new password must not stay valid.
        if (input.password !== undefined) await endOtherWaysIn(transaction, caller.userId, input.sessionId)
        // By the names of the call: of the password nothing else is told.
        const changed = Object.keys(changes).map((name) => (name === 'passwordHash' ? 'password' : name))
        await recordAct(transaction, caller, { action: 'user.updated', target: caller.userId, details: { changed } })
      }),
    )
  }
  return findUser(app, caller.userId)
}

/** Inserts a user within the act that brings them in. */
export async function insertUser(
  transaction: Transaction<Tables>,
  caller: Caller,
  person: { name: string; email?: string; passwordHash?: string; administrator?: boolean },
): Promise<string> {
  const id = newId('user')
  await transaction
    .insertInto('users')
    .values({
      id,
      name: person.name,
      email: person.email ?? null,
      passwordHash: person.passwordHash ?? null,
      administrator: person.administrator ?? false,
    })
    .execute()
  await recordAct(transaction, caller, { action: 'user.created', target: id })
  return id
}

export function refuseTakenEmail<Result>(act: Promise<Result>): Promise<Result> {
  return refuseTaken(act, 'users_email_key', 'Another user has this e-mail. Sign in with it instead.')
}

export function asCaller(
  user: { id: string; name: string; email: string | null; administrator: boolean },
  requestId: string,
): UserCaller {
  return {
    kind: 'user',
    userId: user.id,
    label: user.email ?? user.name,
    administrator: user.administrator,
    requestId,
  }
}
