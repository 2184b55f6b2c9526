import { changeMember, createdInvitation, invitation, member, newInvitation } from '../../../../api/people.ts'
import * as access from '../../../access/index.ts'
import type { App } from '../../../app.ts'
import { pageLink, type Http } from '../../request/http.ts'
import { shortList, made, nothing, one, operations } from '../operations.ts'

const members = '/v1/projects/:project_id/members'
const invitations = '/v1/projects/:project_id/invitations'

export function serveMembers(http: Http, app: App): void {
  const { get, patch, del } = operations(http, app, 'people')
  get(members, { summary: 'The members', answer: shortList(member) }, (app, caller, { projectId }) =>
    access.listMembers(app, caller, projectId),
  )
  patch(
    `${members}/:user_id`,
    { summary: "Change a member's role", body: changeMember, answer: one(member) },
    access.changeRole,
  )
  del(`${members}/:user_id`, { summary: 'Remove a member, or leave', answer: nothing }, access.removeMember)
}

export function serveInvitations(http: Http, app: App): void {
  const { get, post, del } = operations(http, app, 'people')
  post(
    invitations,
    { summary: 'Invite someone by link', body: newInvitation, answer: made(createdInvitation) },
    async (app, caller, input, { request }) => {
      const { secret, ...invited } = await access.invite(app, caller, input)
      return { ...invited, link: pageLink(app, request, `/join#${secret}`) }
    },
  )
  get(invitations, { summary: 'Open invitations', answer: shortList(invitation) }, (app, caller, input) =>
    access.listInvitations(app, caller, input.projectId),
  )
  del(
    `${invitations}/:invitation_id`,
    { summary: 'Withdraw an invitation', answer: nothing },
    access.withdrawInvitation,
  )
}
