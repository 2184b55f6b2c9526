import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import { acceptInvitation, invitationPreview, signIn, signInByLink, updateSelf, user } from '../../../../api/people.ts'
import * as access from '../../../access/index.ts'
import type { App } from '../../../app.ts'
import { personCallerOf, requireOwnOrigin } from '../../request/caller.ts'
import type { Http } from '../../request/http.ts'
import { sessionCookie } from '../../request/session-store.ts'
import { made, nothing, one, openOperations, operations } from '../operations.ts'

const person = { door: 'person' } as const
const joined = z.object({ user, project_id: z.string() })

export function serveSession(http: Http, app: App): void {
  const { post } = openOperations(http, app, 'people')
  const { get, patch, del } = operations(http, app, 'people')
  post(
    '/v1/session',
    { summary: 'Sign in with e-mail and password', body: signIn, answer: made(user) },
    async (app, _caller, input, { request }) => {
      requireOwnOrigin(app, request)
      const caller = await access.signIn(app, { ...input, address: request.ip, requestId: request.id })
      return openSession(app, request, caller)
    },
  )
  post(
    '/v1/session/link',
    { summary: 'Sign in with a one-time link', body: signInByLink, answer: made(user) },
    async (app, _caller, { token: secret }, { request }) => {
      requireOwnOrigin(app, request)
      return openSession(app, request, await access.signInByLink(app, { secret, requestId: request.id }))
    },
  )
  get(
    '/v1/session',
    { config: person, summary: 'Who is signed in', answer: one(user) },
    (app, _caller, _, { request }) => access.findUser(app, personCallerOf(request).userId),
  )
  patch(
    '/v1/session/user',
    {
      config: person,
      summary: "Change one's own name, e-mail or password",
      description: 'A new password ends every other session of the same person.',
      body: updateSelf,
      answer: one(user),
    },
    (app, _caller, input, { request }) =>
      access.updateSelf(app, personCallerOf(request), { ...input, sessionId: request.session.sessionId }),
  )
  del(
    '/v1/session',
    { config: person, summary: 'Sign out', answer: nothing },
    async (_app, _caller, _, { request, reply }) => {
      await request.session.destroy()
      void reply.clearCookie(sessionCookie, { path: '/' })
    },
  )
  post(
    '/v1/invitations/read',
    { summary: 'What an invitation offers; uses nothing up', body: signInByLink, answer: one(invitationPreview) },
    (app, _caller, { token }) => access.readInvitation(app, token),
  )
  post(
    '/v1/invitations/accept',
    {
      summary: 'Join a project by invitation',
      description: 'Signed in: as oneself. Else: as a new user with the name, e-mail and password given.',
      body: acceptInvitation,
      answer: made(joined),
    },
    async (app, signedIn, { token: secret, ...newcomer }, { request }) => {
      requireOwnOrigin(app, request)
      const self = signedIn?.kind === 'user' ? signedIn : null
      const input = { secret, person: newcomer, requestId: request.id }
      const { caller, projectId } = await access.acceptInvitation(app, self, input)
      return { user: await openSession(app, request, caller), projectId }
    },
  )
}

/** A new session id at every sign-in: one that someone else planted before is worth nothing after. */
async function openSession(app: App, request: FastifyRequest, caller: access.UserCaller): Promise<access.User> {
  await request.session.regenerate()
  request.session.person = { userId: caller.userId, label: caller.label, administrator: caller.administrator }
  await request.session.save()
  return access.findUser(app, caller.userId)
}
