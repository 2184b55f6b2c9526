import { afterAll, beforeAll, beforeEach } from 'vitest'
import { expectStatus, openTestApp, type Answer, type Person, type TestApp } from '../harness/app.ts'
import {
  configurationBy,
  openAuthorizationServer,
  usualManners,
  type AuthorizationServer,
} from '../harness/authorization-server.ts'
import { openSource, type Source } from '../harness/source.ts'

type Parts = { t: TestApp; server: AuthorizationServer; elsewhere: Source; editor: Person; projectId: string }

/** What the browser comes back with, as its page hands it on. */
export const returned = (back: URL) => ({
  server: back.pathname.split('/').at(-1) ?? '',
  state: back.searchParams.get('state') ?? '',
  code: back.searchParams.get('code') ?? '',
})

/**
 * An app and an authorization server for all tests of a file, and a server elsewhere that should get nothing; for each
 * test a project with an editor.
 */
export function stageOauth() {
  let t: TestApp
  let server: AuthorizationServer
  let elsewhere: Source
  let editor: Person
  let projectId: string
  beforeAll(async () => {
    ;[server, elsewhere] = await Promise.all([openAuthorizationServer(), openSource()])
    t = await openTestApp({ SLUICE_OUTBOUND_ALLOW: '127.0.0.1' })
    await t.app.jobs.start()
  })
  afterAll(async () => {
    await t.close()
    await Promise.all([server.close(), elsewhere.close()])
  })
  beforeEach(async () => {
    projectId = await t.project()
    editor = await t.member(projectId, 'editor')
    Object.assign(server.manners, usualManners)
    for (const seen of [server.asked, server.apiAnswers, elsewhere.requests]) seen.length = 0
  })

  const path = () => `/v1/projects/${projectId}/datasources`
  const make = async (config: Record<string, unknown> = configurationBy(server)): Promise<string> =>
    (await expectStatus(201, editor.post(path(), { name: 'Orders', kind: 'http_api', config }))).body.id
  const begin = (id: string, person = editor) => person.post(`${path()}/${id}/authorization`)
  const finish = (body: Record<string, unknown>, person = editor) => person.post('/v1/oauth/return', body)
  const goThere = async (id: string) =>
    returned(await server.agree((await expectStatus(201, begin(id))).body.authorization_url))
  const connected = async (config?: Record<string, unknown>): Promise<string> => {
    const id = await make(config)
    await expectStatus(200, finish(await goThere(id)))
    return id
  }
  const standing = async (id: string) => (await expectStatus(200, editor.get(`${path()}/${id}/authorization`))).body
  const tryOut = async (id: string): Promise<Answer['body']> => {
    const { config } = (await editor.get(`${path()}/${id}`)).body
    const body = { ...config, project_id: projectId, datasource_id: id }
    return (await expectStatus(200, editor.post('/v1/http/test-connection', body))).body
  }
  const grants = () =>
    t.app.store.db.selectFrom('upstreamGrants').selectAll().where('projectId', '=', projectId).execute()

  return {
    /** Those of the test that runs. */
    parts: (): Parts => ({ t, server, elsewhere, editor, projectId }),
    /** Where the datasources of the project are. */
    path,
    make,
    begin,
    finish,
    goThere,
    connected,
    standing,
    tryOut,
    grants,
  }
}
