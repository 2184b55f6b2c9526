import { callbackify } from 'node:util'
import type { SessionStore } from '@fastify/session'
import type { Session } from 'fastify'
import {
  endSession,
  findSession,
  openSession,
  renewSession,
  systemCaller,
  type UserCaller,
} from '../../access/index.ts'
import type { App } from '../../app.ts'

declare module 'fastify' {
  interface Session {
    /** Set by a sign-in; absent while nobody is signed in. */
    person?: { userId: string; label: string; administrator: boolean }
    /** When a long-lived session was last given more time. */
    renewedAt?: number
    /** When the stored session ends; absent on one that is not stored yet. */
    endsAt?: number
  }
}

export const sessionCookie = 'sluice_session'

/** Sessions in PostgreSQL behind the session library's callbacks, so that replicas share them and any can be ended. */
export function openSessionStore(app: App): SessionStore {
  const maxAgeMs = app.config.limits.sessionSeconds * 1000
  const caller = (person: NonNullable<Session['person']>): UserCaller => ({ kind: 'user', requestId: null, ...person })
  return {
    get: callbackify(async (sessionId: string): Promise<Session | null> => {
      const found = await findSession(app, sessionId)
      if (found === undefined) return null
      const { expiresAt, ...person } = found
      return { cookie: { originalMaxAge: maxAgeMs, expires: expiresAt }, person, endsAt: expiresAt.getTime() }
    }),
    set: callbackify(async (sessionId: string, { person, endsAt }: Session): Promise<void> => {
      if (person === undefined) return
      const expiresAt = new Date(app.now() + maxAgeMs)
      if (endsAt === undefined) await openSession(app, caller(person), { sessionId, expiresAt })
      else await renewSession(app, { sessionId, expiresAt })
    }),
    destroy: callbackify((sessionId: string): Promise<void> => endSession(app, systemCaller, sessionId)),
  }
}
