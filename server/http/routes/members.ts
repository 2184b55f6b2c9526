import { z } from 'zod'
import { changeMember, createdInvitation, invitation, member, newInvitation } from '../../../api/people.ts'
import * as access from '../../access/index.ts'
import type { App } from '../../app.ts'
import { noContent, refusals } from '../answer/answers.ts'
import { callerOf } from '../request/caller.ts'
import { pageLink, type Http } from '../request/http.ts'
import { toWire } from '../../../api/wire-codec.ts'

const tags = ['people']
const ofProject = z.object({ project_id: z.string() })
const ofMember = ofProject.extend({ user_id: z.string() })
const ofInvitation = ofProject.extend({ invitation_id: z.string() })

export function serveMembers(http: Http, app: App): void {
  const list = z.object({ data: z.array(member), next_cursor: z.null() })

  http.get(
    '/v1/projects/:project_id/members',
    { schema: { tags, summary: 'The members', params: ofProject, response: { 200: list, ...refusals } } },
    async (request) => {
      const found = await access.listMembers(app, callerOf(request), request.params.project_id)
      return { data: found.map(wireMember), next_cursor: null }
    },
  )

  http.patch(
    '/v1/projects/:project_id/members/:user_id',
    {
      schema: {
        tags,
        summary: "Change a member's role",
        params: ofMember,
        body: changeMember,
        response: { 200: member, ...refusals },
      },
    },
    async (request) => {
      const { project_id: projectId, user_id: userId } = request.params
      return wireMember(await access.changeRole(app, callerOf(request), { projectId, userId, ...request.body }))
    },
  )

  http.delete(
    '/v1/projects/:project_id/members/:user_id',
    {
      schema: {
        tags,
        summary: 'Remove a member, or leave',
        params: ofMember,
        response: { 204: noContent, ...refusals },
      },
    },
    async (request, reply) => {
      const { project_id: projectId, user_id: userId } = request.params
      await access.removeMember(app, callerOf(request), { projectId, userId })
      return reply.code(204).send()
    },
  )
}

export function serveInvitations(http: Http, app: App): void {
  const list = z.object({ data: z.array(invitation), next_cursor: z.null() })

  http.post(
    '/v1/projects/:project_id/invitations',
    {
      schema: {
        tags,
        summary: 'Invite someone by link',
        params: ofProject,
        body: newInvitation,
        response: { 201: createdInvitation, ...refusals },
      },
    },
    async (request, reply) => {
      const input = { projectId: request.params.project_id, ...request.body }
      const { secret, ...made } = await access.invite(app, callerOf(request), input)
      const link = pageLink(app, request, `/join#${secret}`)
      return reply.code(201).send({ ...wireInvitation(made), link })
    },
  )

  http.get(
    '/v1/projects/:project_id/invitations',
    { schema: { tags, summary: 'Open invitations', params: ofProject, response: { 200: list, ...refusals } } },
    async (request) => {
      const found = await access.listInvitations(app, callerOf(request), request.params.project_id)
      return { data: found.map(wireInvitation), next_cursor: null }
    },
  )

  http.delete(
    '/v1/projects/:project_id/invitations/:invitation_id',
    {
      schema: {
        tags,
        summary: 'Withdraw an invitation',
        params: ofInvitation,
        response: { 204: noContent, ...refusals },
      },
    },
    async (request, reply) => {
      const { project_id: projectId, invitation_id: invitationId } = request.params
      await access.withdrawInvitation(app, callerOf(request), { projectId, invitationId })
      return reply.code(204).send()
    },
  )
}

function wireMember(found: access.Member): z.output<typeof member> {
  return toWire(member, found)
}

function wireInvitation(found: access.Invitation): z.output<typeof invitation> {
  return toWire(invitation, found)
}
