import { createHash } from 'node:crypto'
import type { App } from '../app.ts'
import { recordAct } from './audit.ts'
import type { Caller } from './caller.ts'

/** Who is signed in under a session id, with the name that the audit log will show. */
export type Session = { userId: string; label: string; administrator: boolean; expiresAt: Date }

/** Opens a session or moves the end of one that exists. Only the first is an act worth the log. */
export async function keepSession(
  app: Pick<App, 'store' | 'now'>,
  caller: Caller & { kind: 'user' },
  input: { sessionId: string; expiresAt: Date },
): Promise<void> {
  const idHash = hashSessionId(input.sessionId)
  await app.store.db.transaction().execute(async (transaction) => {
    const moved = await transaction
      .updateTable('sessions')
      .set({ expires_at: input.expiresAt })
      .where('id_hash', '=', idHash)
      .executeTakeFirst()
    if (moved.numUpdatedRows > 0n) return
    await transaction
      .insertInto('sessions')
      .values({ id_hash: idHash, user_id: caller.userId, expires_at: input.expiresAt })
      .execute()
    await recordAct(transaction, caller, { action: 'session.opened', target: caller.userId })
  })
}

export async function findSession(app: Pick<App, 'store' | 'now'>, sessionId: string): Promise<Session | undefined> {
  const row = await app.store.db
    .selectFrom('sessions')
    .innerJoin('users', 'users.id', 'sessions.user_id')
    .select(['users.id', 'users.name', 'users.email', 'users.administrator', 'sessions.expires_at'])
    .where('sessions.id_hash', '=', hashSessionId(sessionId))
    .where('sessions.expires_at', '>', new Date(app.now()))
    .executeTakeFirst()
  if (row === undefined) return undefined
  return {
    userId: row.id,
    label: row.email ?? row.name,
    administrator: row.administrator,
    expiresAt: row.expires_at,
  }
}

export async function endSession(app: Pick<App, 'store'>, caller: Caller, sessionId: string): Promise<void> {
  await app.store.db.transaction().execute(async (transaction) => {
    const ended = await transaction
      .deleteFrom('sessions')
      .where('id_hash', '=', hashSessionId(sessionId))
      .returning('user_id')
      .executeTakeFirst()
    if (ended !== undefined) {
      await recordAct(transaction, caller, { action: 'session.ended', target: ended.user_id })
    }
  })
}

/** Sessions and links that nobody can use any more. */
export async function forgetExpired(app: Pick<App, 'store' | 'now'>): Promise<void> {
  const now = new Date(app.now())
  await app.store.db.deleteFrom('sessions').where('expires_at', '<', now).execute()
  await app.store.db.deleteFrom('links').where('expires_at', '<', now).execute()
}

/** A session id is as good as a password while it lasts, so the table holds only its hash. */
function hashSessionId(sessionId: string): Buffer {
  return createHash('sha256').update(sessionId).digest()
}
