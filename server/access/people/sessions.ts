import { createHash } from 'node:crypto'
import type { Transaction } from 'kysely'
import { recordAct } from './audit.ts'
import type { Caller } from './caller.ts'
import type { Database, Tables } from '../../store/index.ts'
import type { Clock } from '../../clock.ts'

/** The person signed in under a session id, with the name that the audit log will show. */
export type Session = { userId: string; label: string; administrator: boolean; expiresAt: Date }

export async function openSession(
  app: { store: Database; now: Clock },
  caller: Caller & { kind: 'user' },
  input: { sessionId: string; expiresAt: Date },
): Promise<void> {
  const idHash = hashSessionId(input.sessionId)
  await app.store.db.transaction().execute(async (transaction) => {
    await transaction
      .insertInto('sessions')
      .values({ idHash, userId: caller.userId, expiresAt: input.expiresAt })
      .execute()
    await recordAct(transaction, caller, { action: 'session.opened', target: caller.userId })
  })
}

/** Moves the end of a session that is there. One that was ended meanwhile stays ended. */
export async function renewSession(
  app: { store: Database },
  input: { sessionId: string; expiresAt: Date },
): Promise<void> {
  await app.store.db
    .updateTable('sessions')
    .set({ expiresAt: input.expiresAt })
    .where('idHash', '=', hashSessionId(input.sessionId))
    .execute()
}

export async function findSession(
  app: { store: Database; now: Clock },
  sessionId: string,
): Promise<Session | undefined> {
  const row = await app.store.db
    .selectFrom('sessions')
    .innerJoin('users', 'users.id', 'sessions.userId')
    .select(['users.id', 'users.name', 'users.email', 'users.administrator', 'sessions.expiresAt'])
    .where('sessions.idHash', '=', hashSessionId(sessionId))
    .where('sessions.expiresAt', '>', new Date(app.now()))
    .executeTakeFirst()
  if (row === undefined) return undefined
  return {
    userId: row.id,
    label: row.email ?? row.name,
    administrator: row.administrator,
    expiresAt: row.expiresAt,
  }
}

export async function endSession(app: { store: Database }, caller: Caller, sessionId: string): Promise<void> {
  await app.store.db.transaction().execute(async (transaction) => {
    const ended = await transaction
      .deleteFrom('sessions')
      .where('idHash', '=', hashSessionId(sessionId))
      .returning('userId')
      .executeTakeFirst()
    if (ended !== undefined) {
      await recordAct(transaction, caller, { action: 'session.ended', target: ended.userId })
    }
  })
}

/** Ends every session of a user but one, and the sign-in links that were not used yet. */
export async function endOtherWaysIn(
  transaction: Transaction<Tables>,
  userId: string,
  sessionId: string,
): Promise<void> {
  await transaction
    .deleteFrom('sessions')
    .where('userId', '=', userId)
    .where('idHash', '<>', hashSessionId(sessionId))
    .execute()
  await transaction.deleteFrom('links').where('userId', '=', userId).execute()
}

/** Sessions and links that nobody can use any more. */
export async function forgetExpired(app: { store: Database; now: Clock }): Promise<void> {
  const now = new Date(app.now())
  await app.store.db.deleteFrom('sessions').where('expiresAt', '<', now).execute()
  await app.store.db.deleteFrom('links').where('expiresAt', '<', now).execute()
}

/** A session id is as good as a password while it lasts, so the table holds only its hash. */
function hashSessionId(sessionId: string): Buffer {
  return createHash('sha256').update(sessionId).digest()
}
