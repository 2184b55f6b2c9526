import { randomUUID } from 'node:crypto'
import { createQueryLink, makeSignInLink, openSession, systemCaller } from '../../server/access/index.ts'
import { newId } from '../../server/ids.ts'
import { expectStatus, operatorToken, type Person, type TestApp } from './app.ts'
import { openQueryProject, type QueryProject } from './queries.ts'
import { inRegion } from './questions.ts'
import type { Source } from './source.ts'

/** What a call of the matrix names: the parameters of its path, and what bodies are made of. */
export type Ids = {
  project_id: string
  environment: string
  user_id: string
  invitation_id: string
  datasource_id: string
  model_name: string
  test_name: string
  variable_id: string
  api_id: string
  data_object_id: string
  job_id: string
  query_name: string
  version: string
  release_id: string
  evaluation_id: string
  run_id: string
  request_id: string
  counter_example_id: string
  replay_id: string
  call_id: string
  alert_id: string
  channel_id: string
  /** A channel of the project. */
  shared_channel_id: string
  view_id: string
  key_id: string
  link_id: string
  token_id: string
  /** An authorization server, by the address that it sends browsers back to. */
  server: string
  client_id: string
  /** The secret of a sign-in link or of an invitation. */
  link: string
  email: string
  password: string
  /** Where an external API answers. */
  url: string
  /** A name that nothing has yet. */
  unique: string
}

/** Where a client returns to that somebody lets in. */
export const returnAddress = 'https://example.org/back'

export const callers = [
  'nobody',
  'viewer',
  'editor',
  'owner',
  'stranger',
  'key',
  'foreign key',
  'token',
  'viewer token',
  'foreign token',
  'operator',
  'owner from another site',
  'owner without origin',
] as const
export type CallerName = (typeof callers)[number]

type Makers = ReturnType<typeof makersOf>
export type Maker = keyof Makers

export type Stage = {
  ids: Ids
  /** The project of the stranger, who owns it. */
  foreignProjectId: string
  make(maker: Maker): Promise<string>
  unique(): string
  /** The headers that make a request this caller's; of people with a session that nobody else uses. */
  headersOf(caller: CallerName, session?: 'fresh'): Promise<Record<string, string>>
}

/** A project with one of everything, a second one, and everybody who might call. */
export async function openAuthorizationStage(t: TestApp, source: Source): Promise<Stage> {
  const own = await openQueryProject(t)
  const foreign = await openQueryProject(t)
  await own.deploy(inRegion)
  source.answer([{ id: 1, name: 'one' }])
  await loadLists(t, own.projectId)
  const people = {
    viewer: await t.member(own.projectId, 'viewer'),
    editor: await t.member(own.projectId, 'editor'),
    owner: await t.member(own.projectId, 'owner'),
    stranger: await t.member(foreign.projectId, 'owner'),
  }
  let count = 0
  const unique = (): string => `thing_${(count += 1)}`
  const makers = makersOf({ t, own, source, owner: people.owner, unique })
  const ids = await makeIds({ t, own, source, makers, owner: people.owner })
  const sessions = new Map<Person, string>()
  for (const person of Object.values(people)) sessions.set(person, await signedIn(t, person))
  const sessionOf = async (person: Person, kind?: 'fresh'): Promise<Record<string, string>> => {
    const sessionId = kind === 'fresh' ? await signedIn(t, person) : (sessions.get(person) ?? '')
    return { cookie: `sluice_session=${sessionId}` }
  }
  const tokens = {
    token: await makeToken(people.owner, 'owner'),
    'viewer token': await makeToken(people.owner, 'viewer'),
    'foreign token': await makeToken(people.stranger, 'owner'),
    operator: operatorToken,
    key: own.secret,
    'foreign key': foreign.secret,
  }
  return {
    ids,
    foreignProjectId: foreign.projectId,
    unique,
    make: (maker) => makers[maker](),
    async headersOf(caller, kind) {
      if (caller === 'nobody') return {}
      if (caller === 'owner from another site') {
        return { ...(await sessionOf(people.owner, kind)), origin: 'https://elsewhere.example' }
      }
      // What a browser sends where a page of another site made it call.
      if (caller === 'owner without origin') {
        return { ...(await sessionOf(people.owner, kind)), 'sec-fetch-site': 'cross-site' }
      }
      if (caller in people) return sessionOf(people[caller as keyof typeof people], kind)
      return { authorization: `Bearer ${tokens[caller as keyof typeof tokens]}` }
    },
  }
}

/** A table whose rows hold lists. */
async function loadLists(t: TestApp, projectId: string): Promise<void> {
  const path = `/v1/projects/${projectId}/datasources`
  const { body } = await expectStatus(201, t.operator.post(path, { name: 'Lists', kind: 'file', table_name: 'lists' }))
  const rows = [{ id: 1, members: ['a', 'b'] }]
  await expectStatus(201, t.operator.post(`${path}/${body.id}/files?filename=rows.json`, rows))
}

async function makeToken(person: Person, role: string): Promise<string> {
  return (await expectStatus(201, person.post('/v1/management-tokens', { name: role, role }))).body.secret
}

/** As signing in does, without the second that a password takes. */
async function signedIn(t: TestApp, person: Person): Promise<string> {
  const caller = {
    kind: 'user',
    userId: person.userId,
    label: person.email,
    administrator: false,
    requestId: null,
  } as const
  const sessionId = randomUUID()
  await openSession(t.app, caller, { sessionId, expiresAt: new Date(t.app.now() + 86_400_000) })
  return sessionId
}

type Parts = { t: TestApp; own: QueryProject; source: Source; owner: Person; unique: () => string }

/** Each makes something new of its kind and says its id. */
function makersOf({ t, own, source, owner, unique }: Parts) {
  const path = `/v1/projects/${own.projectId}`
  const made = async (url: string, body: Record<string, unknown>, field = 'id'): Promise<string> =>
    (await expectStatus(201, t.operator.post(url, body))).body[field]
  const { db } = t.app.store
  const member = async (): Promise<string> => {
    const id = newId('user')
    await db
      .insertInto('users')
      .values({ id, name: unique(), email: `${unique()}@example.org` })
      .execute()
    await db.insertInto('members').values({ projectId: own.projectId, userId: id, role: 'viewer' }).execute()
    return id
  }
  const datasource = () =>
    made(`${path}/datasources`, { name: unique(), kind: 'http_api', config: { url: source.url, method: 'GET' } })
  /** An answered question, as if it had been asked. */
  const question = async (): Promise<string> => {
    const requestId = newId('request')
    const asked = { environment: 'production', at: new Date(), outcome: 'answered' as const, query: inRegion.name }
    const nothing = { parameters: null, confidence: null, keyId: null, resolved: null }
    await db
      .insertInto('questions')
      .values({ id: newId('question'), projectId: own.projectId, requestId, text: unique(), ...asked, ...nothing })
      .execute()
    const call = { requestId, projectId: own.projectId, environment: 'production', query: inRegion.name, version: 1 }
    const took = { totalMs: 1, queueMs: 0, sqlMs: 1, rows: 1, bytes: 1, cache: null }
    const outcome = { keyId: null, code: null, reason: null }
    t.app.observe({ kind: 'query-answered', entry: 'question', ...call, ...outcome, ...took })
    return requestId
  }
  const counterExample = async () => made(`${path}/questions/${await question()}/report`, { expected_query: null })
  const queuedJob = async () => made(`${path}/datasources/${await datasource()}/refresh`, {})
  return {
    member,
    question,
    counterExample,
    datasource,
    /** One that somebody has connected, as if they had agreed. */
    async connectedDatasource() {
      const there = { authorization_url: `${source.url}/authorize`, token_url: `${source.url}/token` }
      const auth = { ...there, client_id: 'client', client_secret: 'secret' }
      const config = { url: source.url, method: 'GET', authType: 'OAuth2 Authorization Code', auth }
      const id = await made(`${path}/datasources`, { name: unique(), kind: 'http_api', config })
      const tokens = { boundTo: '', accessToken: 'a', refreshToken: null, expiresAt: null }
      const at = { connectedAt: new Date(), usedAt: new Date() }
      const purpose = `datasource ${id}`
      const sealedTokens = t.app.vault.seal(tokens)
      await db
        .insertInto('upstreamGrants')
        .values({ id: newId('grant'), projectId: own.projectId, datasourceId: id, purpose, sealedTokens, ...at })
        .execute()
      return id
    },
    api: () => made(`${path}/apis`, { name: unique(), config: { url: source.url } }),
    variable: () => made(`${path}/variables`, { name: unique(), value: 'v' }),
    queuedJob,
    async project() {
      const id = await t.project()
      await db.insertInto('members').values({ projectId: id, userId: owner.userId, role: 'owner' }).execute()
      return id
    },
    environment: () => made(`${path}/environments`, { name: unique() }, 'name'),
    invitation: () => made(`${path}/invitations`, { role: 'viewer' }),
    async sharedEnvironment() {
      const name = await made(`${path}/environments`, { name: unique() }, 'name')
      await expectStatus(200, t.operator.put(`${path}/shared-references/${name}`))
      return name
    },
    async referenceLink() {
      const { body } = await expectStatus(200, t.operator.put(`${path}/shared-references/production`))
      return body.link.split('#')[1] ?? ''
    },
    async queryLink() {
      const link = { environment: 'production', query: 'linked', parameters: {}, rate: null, perDay: null }
      const expiresAt = new Date(Date.now() + 86_400_000)
      return (await createQueryLink(t.app, systemCaller, { ...link, projectId: own.projectId, expiresAt })).id
    },
    async joinLink() {
      return (await made(`${path}/invitations`, { role: 'viewer' }, 'link')).split('#')[1] ?? ''
    },
    signInLink: async () => makeSignInLink(t.app, await member()),
    /** Another version of the table that is there, in the same file. */
    async dataObject() {
      const last = await db
        .selectFrom('dataObjects')
        .selectAll()
        .where('projectId', '=', own.projectId)
        .where('kind', '=', 'response_data')
        .orderBy('version', 'desc')
        .executeTakeFirstOrThrow()
      const id = newId('dataObject')
      const { columns, projectId, datasourceId, kind, format, fileHash, sizeBytes, rowCount, version } = last
      const shared = { projectId, datasourceId, kind, format, fileHash, sizeBytes, rowCount }
      const copy = { ...shared, columns: JSON.stringify(columns), id, version: version + 1 }
      await db.insertInto('dataObjects').values(copy).execute()
      return id
    },
    async cancelledJob() {
      const id = await queuedJob()
      await expectStatus(200, t.operator.post(`/v1/jobs/${id}/cancel`))
      return id
    },
    model: () => made(`${path}/models`, { name: unique(), sql: 'SELECT id FROM orders' }, 'name'),
    async rowTest() {
      const name = unique()
      await expectStatus(200, t.operator.put(`${path}/tests`, { name, model: 'nothing', expect: [] }))
      return name
    },
    query: () => made(`${path}/queries`, { name: unique(), sql: 'SELECT count(*) AS n FROM orders' }, 'name'),
    evaluation: () => made(`${path}/evaluations`, { question: `Is ${unique()} there?`, expected_query: null }),
    sharedChannel: () =>
      made(`${path}/alert-channels`, { name: unique(), channel: { type: 'webhook', url: source.url } }),
    view: () => made(`${path}/views`, { page: 'requests', name: unique(), filter: {}, shared: true }),
    alert: () => made(`${path}/alerts`, { name: unique(), type: 'requests_above', threshold: 100 }),
    key: () =>
      made('/v1/api-keys', { name: unique(), permissions: [{ project_id: own.projectId, environments: '*' }] }),
    async client() {
      const body = { client_name: unique(), redirect_uris: [returnAddress] }
      return (await expectStatus(201, t.anonymous.post('/oauth/register', body))).body.client_id as string
    },
    async token() {
      const body = { name: unique(), role: 'viewer' }
      return (await expectStatus(201, owner.post('/v1/management-tokens', body))).body.id as string
    },
  }
}

async function makeIds(parts: Omit<Parts, 'unique'> & { makers: Makers }): Promise<Ids> {
  const { t, own, source, makers, owner } = parts
  const path = `/v1/projects/${own.projectId}`
  const { body: objects } = await expectStatus(200, t.operator.get(`${path}/data-objects`))
  const { body: run } = await expectStatus(201, t.operator.post(`${path}/evaluations/run`, {}))
  const { body: releases } = await expectStatus(200, t.operator.get(`${path}/releases`))
  const channels = [{ type: 'webhook', url: source.url }]
  const { body: alert } = await expectStatus(
    201,
    t.operator.post(`${path}/alerts`, { name: 'many', type: 'requests_above', threshold: 100, channels }),
  )
  return {
    project_id: own.projectId,
    environment: 'staging',
    user_id: await makers.member(),
    invitation_id: await makers.invitation(),
    datasource_id: await makers.datasource(),
    model_name: await makers.model(),
    test_name: await makers.rowTest(),
    variable_id: await makers.variable(),
    api_id: await makers.api(),
    data_object_id: objects.data.find(({ kind }: { kind: string }) => kind === 'response_data').id,
    job_id: await makers.queuedJob(),
    query_name: inRegion.name,
    version: '1',
    release_id: releases.data[0].id,
    evaluation_id: await makers.evaluation(),
    run_id: run.id,
    request_id: await makers.question(),
    counter_example_id: await makers.counterExample(),
    ...(await makeReplay(t, own.projectId)),
    alert_id: alert.id,
    channel_id: alert.channels[0].id,
    shared_channel_id: await makers.sharedChannel(),
    view_id: await makers.view(),
    key_id: await makers.key(),
    link_id: await makers.queryLink(),
    token_id: await makers.token(),
    server: 'a-server',
    client_id: await makers.client(),
    link: await makers.joinLink(),
    email: owner.email,
    password: owner.password,
    url: source.url,
    unique: 'thing_0',
  }
}

/** A replay with a call that differs, as its job leaves it. */
async function makeReplay({ app }: TestApp, projectId: string): Promise<Pick<Ids, 'replay_id' | 'call_id'>> {
  const [replayId, callId] = [newId('replay'), newId('replayCall')]
  const { db } = app.store
  const record = {
    projectId,
    environment: 'production',
    kind: 'replay',
    status: 'finished',
    createdBy: 'operator',
  } as const
  const rest = { releaseId: null, jobId: null, plan: '[]', total: 1, counts: '{}', finishedAt: new Date() }
  await db
    .insertInto('replays')
    .values({ id: replayId, ...record, ...rest })
    .execute()
  const details = {
    parameters: {},
    times: 1,
    outcome: 'failed',
    because: null,
    before: null,
    after: null,
    comparison: null,
  }
  await db
    .insertInto('replayCalls')
    .values({
      id: callId,
      replayId,
      query: 'orders_in_region',
      outcome: 'failed',
      beforeVersion: 1,
      afterVersion: null,
      calledAt: new Date(),
      keyId: null,
      sealedDetails: app.vault.seal(details),
    })
    .execute()
  return { replay_id: replayId, call_id: callId }
}
