import { expect } from 'vitest'
import { canary, type Json, type Stage } from './stage.ts'

/** Calls are recorded and run again: their values are sealed, and one of them is never written down. */
export async function record({ secrets, call, made }: Stage, projectId: string): Promise<void> {
  const project = `/v1/projects/${projectId}`
  const settings = { recording: true, redacted_slots: ['pin'] }
  expect((await call('PUT', `${project}/replay-settings`, { body: settings })).status).toBe(200)
  const text = { type: 'string' }
  const query = (more: string) => ({
    sql: `SELECT $word::VARCHAR AS word, length($pin::VARCHAR)${more} AS pin, '${canary}' AS canary`,
    slots: { type: 'object', properties: { word: text, pin: text }, required: ['word', 'pin'] },
    examples: [{ question: 'What is the word of 0?', parameters: { word: 'w', pin: '0' } }],
  })
  await made(`${project}/queries`, { name: 'recorded', ...query('') })
  await made(`${project}/queries/recorded/deploy`, { environment: 'production', force: true })
  const permissions = [{ project_id: projectId, environments: '*' }]
  const key = await made('/v1/api-keys', { name: 'r', plan: 'unlimited', permissions }, true)
  secrets['a key of recorded calls'] = key['secret']
  const headers = { authorization: `Bearer ${key['secret']}` }
  const word = secrets['a value of a recorded call'] ?? ''
  const pin = secrets['a value that is kept out of the record'] ?? ''
  const values = { body: { word, pin }, headers, shows: true } as const
  await made(`${project}/queries/recorded/preview`, { parameters: { word, pin } }, true)
  expect((await call('PUT', `${project}/queries/recorded`, { body: query(' + 1') })).status).toBe(200)
  const replayed = async (): Promise<Json> => {
    expect((await call('POST', '/v1/queries/recorded', values)).status).toBe(200)
    await call('GET', `/v1/queries/recorded?word=${word}&pin=${pin}`, { headers, shows: true })
    await call('POST', '/v1/queries/recorded', { body: { word, pin, other: 1 }, headers })
    return made(`${project}/replays`, { queries: [{ name: 'recorded' }] })
  }
  let replay: Json = {}
  await expect.poll(async () => (replay = await replayed())['different'], { timeout: 30_000 }).toBeGreaterThan(0)
  const { body } = await call('GET', `${project}/replays/${replay['id']}/calls`, { shows: true })
  for (const { id } of body['data'] as Array<{ id: string }>) {
    const found = await call('GET', `${project}/replays/${replay['id']}/calls/${id}`, { shows: true })
    // Whoever may read it reads the values, but for the one.
    expect(JSON.stringify(found.body)).toContain(word)
    expect(JSON.stringify(found.body)).not.toContain(pin)
  }
}

export async function watch({ secrets, api, call, made }: Stage, projectId: string): Promise<void> {
  const channels = [
    { type: 'webhook', url: `${api()}?token=${secrets['a secret of a webhook']}` },
    { type: 'slack', url: api(`/hooks/${secrets['a secret of a Slack address']}`) },
    { type: 'email', to: 'a@example.org' },
  ]
  const body = { name: 'busy', type: 'requests_above', threshold: 1, channels }
  const alert = await made(`/v1/projects/${projectId}/alerts`, body, true)
  secrets['a secret that signs'] = alert['channels'][0].secret
  const path = `/v1/projects/${projectId}/alerts/${alert['id']}`
  await call('POST', `${path}/test`, { body: {} })
  await expect
    .poll(async () => (await call('GET', `${path}/deliveries`)).body['data'].length, { timeout: 20_000 })
    .toBeGreaterThan(0)
  const rotated = await made(`${path}/channels/${alert['channels'][0].id}/rotate`, {}, true)
  secrets['a rotated secret that signs'] = String(
    rotated['secret'] ?? JSON.stringify(rotated).match(/whsec_[^"]+/)?.[0],
  )
  for (const page of ['', '/deliveries', '/history']) await call('GET', path + page)
  const channel = { type: 'webhook', url: `${api()}?token=${secrets['a secret of a shared channel']}` }
  const shared = await made(`/v1/projects/${projectId}/alert-channels`, { name: 'On call', channel }, true)
  secrets['a secret of a shared channel that signs'] = String(shared['secret'])
  await call('POST', `/v1/projects/${projectId}/alert-channels/${shared['id']}/test`, { body: {} })
}
