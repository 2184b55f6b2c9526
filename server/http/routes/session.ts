import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import { acceptInvitation, invitationPreview, signIn, signInByLink, updateSelf, user } from '../../../api/people.ts'
import * as access from '../../access/index.ts'
import type { App } from '../../app.ts'
import { noContent, refusals } from '../answer/answers.ts'
import { personCallerOf, requireOwnOrigin } from '../request/caller.ts'
import type { Http } from '../request/http.ts'
import { sessionCookie } from '../request/session-store.ts'

const open = { door: 'open' } as const
const person = { door: 'person' } as const
const joined = z.object({ user, project_id: z.string() })

// Over 70 lines: a list of routes.
export function serveSession(http: Http, app: App): void {
  http.post(
    '/v1/session',
    {
      config: open,
      schema: {
        tags: ['people'],
        summary: 'Sign in with e-mail and password',
        security: [],
        body: signIn,
        response: { 201: user, ...refusals },
      },
    },
    async (request, reply) => {
      requireOwnOrigin(app, request)
      const caller = await access.signIn(app, { ...request.body, address: request.ip, requestId: request.id })
      return reply.code(201).send(await openSession(app, request, caller))
    },
  )

  http.post(
    '/v1/session/link',
    {
      config: open,
      schema: {
        tags: ['people'],
        summary: 'Sign in with a one-time link',
        security: [],
        body: signInByLink,
        response: { 201: user, ...refusals },
      },
    },
    async (request, reply) => {
      requireOwnOrigin(app, request)
      const caller = await access.signInByLink(app, { secret: request.body.token, requestId: request.id })
      return reply.code(201).send(await openSession(app, request, caller))
    },
  )

  http.get(
    '/v1/session',
    { config: person, schema: { tags: ['people'], summary: 'Who is signed in', response: { 200: user, ...refusals } } },
    async (request) => wireUser(await access.findUser(app, personCallerOf(request).userId)),
  )

  http.patch(
    '/v1/session/user',
    {
      config: person,
      schema: {
        tags: ['people'],
        summary: "Change one's own name, e-mail or password",
        description: 'A new password ends every other session of the same person.',
        body: updateSelf,
        response: { 200: user, ...refusals },
      },
    },
    async (request) => {
      const { current_password: currentPassword, ...changes } = request.body
      const { sessionId } = request.session
      const input = { ...changes, currentPassword, sessionId }
      return wireUser(await access.updateSelf(app, personCallerOf(request), input))
    },
  )

  http.delete(
    '/v1/session',
    { config: person, schema: { tags: ['people'], summary: 'Sign out', response: { 204: noContent, ...refusals } } },
    async (request, reply) => {
      personCallerOf(request)
      await request.session.destroy()
      return reply.clearCookie(sessionCookie, { path: '/' }).code(204).send()
    },
  )

  http.post(
    '/v1/invitations/read',
    {
      config: open,
      schema: {
        tags: ['people'],
        summary: 'What an invitation offers; uses nothing up',
        security: [],
        body: signInByLink,
        response: { 200: invitationPreview, ...refusals },
      },
    },
    async (request) => {
      const { projectName, ...rest } = await access.readInvitation(app, request.body.token)
      return { project_name: projectName, ...rest }
    },
  )

  http.post(
    '/v1/invitations/accept',
    {
      config: open,
      schema: {
        tags: ['people'],
        summary: 'Join a project by invitation',
        description: 'Signed in: as oneself. Else: as a new user with the name, e-mail and password given.',
        security: [],
        body: acceptInvitation,
        response: { 201: joined, ...refusals },
      },
    },
    async (request, reply) => {
      requireOwnOrigin(app, request)
      const { token: secret, ...newcomer } = request.body
      const self = request.caller?.kind === 'user' ? request.caller : null
      const input = { secret, person: newcomer, requestId: request.id }
      const { caller, projectId } = await access.acceptInvitation(app, self, input)
      return reply.code(201).send({ user: await openSession(app, request, caller), project_id: projectId })
    },
  )
}

/** A new session id at every sign-in: one that someone else planted before is worth nothing after. */
async function openSession(
  app: App,
  request: FastifyRequest,
  caller: access.UserCaller,
): Promise<z.output<typeof user>> {
  await request.session.regenerate()
  request.session.person = { userId: caller.userId, label: caller.label, administrator: caller.administrator }
  await request.session.save()
  return wireUser(await access.findUser(app, caller.userId))
}

function wireUser({ hasPassword, createdAt, ...rest }: access.User): z.output<typeof user> {
  return { ...rest, has_password: hasPassword, created_at: createdAt.toISOString() }
}
