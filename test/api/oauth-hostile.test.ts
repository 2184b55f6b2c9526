import { beforeEach, describe, expect, test } from 'vitest'
import { expectStatus, type Person, type TestApp } from '../harness/app.ts'
import type { AuthorizationServer } from '../harness/authorization-server.ts'
import type { Source } from '../harness/source.ts'
import { stageOauth } from './oauth-stage.ts'

const stage = stageOauth()
const { make, begin, finish, goThere, connected, standing, tryOut, grants } = stage
let t: TestApp
let server: AuthorizationServer
let elsewhere: Source
let editor: Person
beforeEach(() => void ({ t, server, elsewhere, editor } = stage.parts()))

describe('a hostile authorization server', () => {
  const hostile: Array<[string, NonNullable<AuthorizationServer['manners']['token']>, string]> = [
    [
      'an endless body',
      (_request, response) => {
        response.writeHead(200, { 'content-type': 'application/json' })
        const timer = setInterval(() => response.write(Buffer.alloc(65_536, 0x20)), 1)
        response.on('close', () => clearInterval(timer))
      },
      'too_large',
    ],
    [
      'a token of 10 MB',
      (_request, response) => void response.end(JSON.stringify({ access_token: 'x'.repeat(10_000_000) })),
      'too_large',
    ],
    [
      'a redirect to another origin',
      (_request, response) => void response.writeHead(307, { location: elsewhere.url }).end(),
      'token_refused',
    ],
    [
      'a token with a line break',
      (_request, response) => void response.end(JSON.stringify({ access_token: 'a\r\nx-evil: 1' })),
      'token_refused',
    ],
    ['no JSON', (_request, response) => void response.end('<html>'), 'token_refused'],
    ['a list', (_request, response) => void response.end('[1]'), 'token_refused'],
    ['a body that breaks off', (request) => void request.socket.destroy(), 'connect_error'],
  ]
  test.each(hostile)('%s connects nothing and leaks nothing', async (_name, token, reason) => {
    const id = await make()
    const back = await goThere(id)
    server.manners.token = token
    const refused = await finish(back)
    expect(refused.status).toBe(502)
    expect([reason, 'too_many_redirects']).toContain(refused.body.reason)
    expect(JSON.stringify(refused.body)).not.toMatch(/code-[0-9a-f]|the-client-secret/)
    expect(await grants()).toEqual([])
    expect(elsewhere.requests).toEqual([])
  })

  test.each([-5, 'soon', 1e300, null, {}])('a life of %s is no reason to fail', async (life) => {
    const id = await make()
    const back = await goThere(id)
    server.manners.token = (_request, response) =>
      void response.end(JSON.stringify({ access_token: 'good', expires_in: life, refresh_token: 7 }))
    await expectStatus(200, finish(back))
    expect(await standing(id)).toMatchObject({ status: 'connected', renews: false })
  })

  test('repeats of the refresh token in its words are left out', async () => {
    const id = await connected()
    t.advance(3_601_000)
    server.manners.token = async (request, response) => {
      const pieces: Buffer[] = []
      for await (const piece of request) pieces.push(piece as Buffer)
      const sent = new URLSearchParams(Buffer.concat(pieces).toString()).get('refresh_token') ?? ''
      response.writeHead(400).end(JSON.stringify({ error: 'invalid_grant', error_description: `bad ${sent}` }))
    }
    const { error } = await tryOut(id)
    expect(error.message).toContain('bad ***')
    expect(JSON.stringify(await standing(id))).not.toMatch(/refresh-[0-9a-f]/)
  })

  test('attempts of one person are few, and old ones go', async () => {
    const id = await make()
    for (let count = 0; count < 25; count += 1) await expectStatus(201, begin(id))
    const { rows } = await t.app.store.pool.query(
      'select count(*)::int as n from upstream_attempts where user_id = $1',
      [editor.userId],
    )
    expect(rows[0].n).toBe(20)
  })
})
