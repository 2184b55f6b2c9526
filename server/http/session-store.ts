import type { SessionStore } from '@fastify/session'
import type { Session } from 'fastify'
import { endSession, findSession, keepSession, systemCaller, type UserCaller } from '../access/index.ts'
import type { App } from '../app.ts'

declare module 'fastify' {
  interface Session {
    /** Set by a sign-in; absent while nobody is signed in. */
    person?: { userId: string; label: string; administrator: boolean }
    /** When a long-lived session was last given more time. */
    renewedAt?: number
    /** When the stored session ends. */
    endsAt?: number
  }
}

/** Sessions in PostgreSQL behind the session library's callbacks, so that replicas share them and any can be ended. */
export function openSessionStore(app: App): SessionStore {
  const maxAgeMs = app.config.limits.sessionSeconds * 1000
  return {
    get(sessionId, done) {
      findSession(app, sessionId).then(
        (found) => {
          if (found === undefined) return done(null, null)
          const { expiresAt, ...person } = found
          const session: Session = {
            cookie: { originalMaxAge: maxAgeMs, expires: expiresAt },
            person,
            endsAt: expiresAt.getTime(),
          }
          return done(null, session)
        },
        (error: unknown) => done(error),
      )
    },
    set(sessionId, session, done) {
      if (session.person === undefined) return done()
      const caller: UserCaller = { kind: 'user', requestId: null, ...session.person }
      keepSession(app, caller, { sessionId, expiresAt: new Date(app.now() + maxAgeMs) }).then(() => done(), done)
    },
    destroy(sessionId, done) {
      endSession(app, systemCaller, sessionId).then(() => done(), done)
    },
  }
}
