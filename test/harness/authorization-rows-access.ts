import { open, owner, row, viewer, type Row } from './authorization-row.ts'
import { returnAddress } from './authorization-stage.ts'

/** Projects, who is in them, and with what people and programs sign in. */

const ownerOfKey = row('owner-of-key')

export const projects: Record<string, Row> = {
  'GET /v1/projects': row('signed-in')(),
  'POST /v1/projects': row('maker-of-projects')({ status: 201, body: { name: 'Another' } }),
  'GET /v1/projects/:project_id': viewer(),
  'PATCH /v1/projects/:project_id': owner({ body: { name: 'Shop' } }),
  'DELETE /v1/projects/:project_id': owner({ status: 204, fresh: { project_id: 'project' } }),
  'GET /v1/projects/:project_id/openapi.json': row('viewer-or-key')(),
  'GET /v1/projects/:project_id/shared-references': viewer(),
  'PUT /v1/projects/:project_id/shared-references/:environment': owner(),
  'DELETE /v1/projects/:project_id/shared-references/:environment': owner({
    status: 204,
    fresh: { environment: 'sharedEnvironment' },
  }),
  'GET /v1/projects/:project_id/query-links': owner(),
  'POST /v1/projects/:project_id/query-links': owner({
    status: 409,
    body: { query: 'nothing', expires_at: '2099-01-01T00:00:00Z' },
  }),
  'DELETE /v1/projects/:project_id/query-links/:link_id': owner({ status: 204, fresh: { link_id: 'queryLink' } }),
  'GET /v1/shared/:file': open({ status: 404 }),
  'POST /v1/shared-references/read': open({
    fresh: { link: 'referenceLink' },
    body: ({ link }) => ({ token: link }),
  }),
  'GET /v1/projects/:project_id/environments': viewer(),
  'POST /v1/projects/:project_id/environments': owner({ status: 201, body: ({ unique }) => ({ name: unique }) }),
  'DELETE /v1/projects/:project_id/environments/:environment': owner({
    status: 204,
    fresh: { environment: 'environment' },
  }),
  'GET /v1/projects/:project_id/members': viewer(),
  'PATCH /v1/projects/:project_id/members/:user_id': owner({ body: { role: 'viewer' } }),
  'DELETE /v1/projects/:project_id/members/:user_id': owner({ status: 204, fresh: { user_id: 'member' } }),
  'GET /v1/projects/:project_id/invitations': owner(),
  'POST /v1/projects/:project_id/invitations': owner({ status: 201, body: { role: 'viewer' } }),
  'DELETE /v1/projects/:project_id/invitations/:invitation_id': owner({
    status: 204,
    fresh: { invitation_id: 'invitation' },
  }),
}

export const credentials: Record<string, Row | Row[]> = {
  'GET /v1/api-keys': row('signed-in')(),
  'POST /v1/api-keys': owner({
    status: 201,
    body: ({ project_id }) => ({ name: 'one more', permissions: [{ project_id, environments: '*' }] }),
  }),
  'GET /v1/api-keys/:key_id': ownerOfKey(),
  'PATCH /v1/api-keys/:key_id': ownerOfKey({ body: { name: 'renamed' } }),
  'DELETE /v1/api-keys/:key_id': ownerOfKey({ status: 204, fresh: { key_id: 'key' } }),
  'POST /v1/api-keys/:key_id/rotate': ownerOfKey({ fresh: { key_id: 'key' } }),
  'POST /v1/api-keys/:key_id/disable': ownerOfKey({ fresh: { key_id: 'key' } }),
  'POST /v1/api-keys/:key_id/enable': ownerOfKey({ fresh: { key_id: 'key' } }),
  'GET /v1/api-keys/:key_id/reach': ownerOfKey(),
  'GET /v1/api-keys/:key_id/usage': ownerOfKey(),
  'GET /v1/api-keys/:key_id/addresses': ownerOfKey(),
  'GET /v1/oauth/client': row('person')({ search: `?client_id=:client_id&redirect_uri=${returnAddress}` }),
  'POST /v1/oauth/approvals': row('owner-in-person')({
    status: 201,
    body: ({ client_id, project_id }) => ({
      client_id,
      project_id,
      environment: 'production',
      redirect_uri: returnAddress,
      code_challenge: 'A'.repeat(43),
      code_challenge_method: 'S256',
    }),
  }),
  'POST /v1/oauth/sign-ins': row('person')({
    status: 201,
    body: ({ client_id }) => ({
      client_id,
      role: 'viewer',
      redirect_uri: returnAddress,
      code_challenge: 'A'.repeat(43),
      code_challenge_method: 'S256',
    }),
  }),
  // A code that no device shows.
  'GET /v1/oauth/device': row('person')({ status: 400, search: '?user_code=XXXX-XXXX' }),
  'POST /v1/oauth/device': row('person')({ status: 400, body: { user_code: 'XXXX-XXXX', allow: false } }),
  'GET /v1/plans': row('signed-in')(),
  'GET /v1/management-tokens': row('signed-in')(),
  'POST /v1/management-tokens': row('maker-of-tokens')({
    status: 201,
    body: ({ project_id }) => ({ name: 'CI', role: 'viewer', project_id }),
  }),
  'DELETE /v1/management-tokens/:token_id': row('owner-of-token')({ status: 204, fresh: { token_id: 'token' } }),
  'GET /v1/audit': [row('administrator')(), owner({ search: '?project_id=:project_id' })],
  'GET /v1/audit/choices': [row('administrator')(), owner({ search: '?project_id=:project_id' })],
  'GET /v1/audit/export': [row('administrator')(), owner({ search: '?project_id=:project_id' })],
}

export const people: Record<string, Row> = {
  'POST /v1/session': open({
    status: 201,
    session: 'fresh',
    body: ({ email, password }) => ({ email, password }),
  }),
  'POST /v1/session/link': open({
    status: 201,
    session: 'fresh',
    fresh: { link: 'signInLink' },
    body: ({ link }) => ({ token: link }),
  }),
  'GET /v1/session': row('person')(),
  'DELETE /v1/session': row('person')({ status: 204, session: 'fresh' }),
  'PATCH /v1/session/user': row('person')({ body: {} }),
  'POST /v1/invitations/read': open({ fresh: { link: 'joinLink' }, body: ({ link }) => ({ token: link }) }),
  'POST /v1/invitations/accept': open({
    status: 201,
    session: 'fresh',
    fresh: { link: 'joinLink' },
    body: ({ link, unique }) => ({
      token: link,
      name: unique,
      email: `${unique}@example.org`,
      password: 'a password of ten',
    }),
  }),
}
