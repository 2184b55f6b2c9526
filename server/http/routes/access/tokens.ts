import { createdManagementToken, managementToken, newManagementToken } from '../../../../api/people.ts'
import * as access from '../../../access/index.ts'
import type { App } from '../../../app.ts'
import type { Http } from '../../request/http.ts'
import { made, nothing, operations, page, pageOnly } from '../operations.ts'

export function serveManagementTokens(http: Http, app: App): void {
  const { get, post, del } = operations(http, app, 'access')
  post(
    '/v1/management-tokens',
    {
      summary: 'Create a management token',
      description: 'It does what its role allows, and never more than its maker may at that moment.',
      body: newManagementToken,
      answer: made(createdManagementToken),
    },
    (app, caller, { expiresAt, ...input }) =>
      access.createManagementToken(app, caller, {
        ...input,
        ...(expiresAt !== undefined && { expiresAt: new Date(expiresAt) }),
      }),
  )
  get(
    '/v1/management-tokens',
    {
      summary: "One's own management tokens; all of them for administrators",
      query: pageOnly,
      answer: page(managementToken),
    },
    access.listManagementTokens,
  )
  del(
    '/v1/management-tokens/:token_id',
    { summary: 'Revoke a management token', answer: nothing },
    (app, caller, { tokenId }) => access.revokeManagementToken(app, caller, tokenId),
  )
}
