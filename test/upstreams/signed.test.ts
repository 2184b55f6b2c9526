import { generateKeyPairSync } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { expectStatus, openTestApp, type TestApp } from '../harness/app.ts'
import { makeTable } from '../harness/incremental.ts'
import { freePort, python, serverProcess } from './server.ts'

const json = { 'content-type': 'application/x-amz-json-1.0' }
const keys = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const pem = keys.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()

let t: TestApp
let projectId: string
let origin: string
let stop: () => Promise<void>

beforeAll(async () => {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-upstream-'))
  const keyFile = join(folder, 'key.pem')
  await writeFile(keyFile, keys.publicKey.export({ type: 'spki', format: 'pem' }))
  const port = await freePort()
  origin = `http://127.0.0.1:${port}`
  const args = [join(import.meta.dirname, 'signed_server.py'), String(port), keyFile]
  const { start, kill } = serverProcess(port, () => ({ program: python, args, cwd: folder }))
  await start()
  t = await openTestApp({ SLUICE_OUTBOUND_ALLOW: `127.0.0.1:${port}` })
  await t.app.jobs.start()
  projectId = await t.project('Signed')
  stop = async () => {
    await kill()
    await rm(folder, { recursive: true, force: true })
  }
})
afterAll(async () => {
  await t?.close()
  await stop?.()
})

const tryOut = async (config: object) => {
  const body = { project_id: projectId, method: 'GET', ...config }
  return (await expectStatus(200, t.operator.post('/v1/http/test-connection', body))).body
}

/** Unsigned, which moto takes until it is told to check. */
async function aws(service: string, body: string, headers: Record<string, string>): Promise<string> {
  const scope = `nobody/20260101/us-east-1/${service}/aws4_request`
  const authorization = `AWS4-HMAC-SHA256 Credential=${scope}, SignedHeaders=host, Signature=none`
  const sent = await fetch(`${origin}/`, { method: 'POST', body, headers: { authorization, ...headers } })
  const answer = await sent.text()
  if (!sent.ok) throw new Error(`moto answered ${sent.status}: ${answer}`)
  return answer
}

/** Keys of a user who may do this much. From then on moto checks signatures. */
async function keysOf(user: string, action: string) {
  const iam = (fields: Record<string, string>) =>
    aws('iam', new URLSearchParams({ Version: '2010-05-08', UserName: user, ...fields }).toString(), {
      'content-type': 'application/x-www-form-urlencoded',
    })
  await iam({ Action: 'CreateUser' })
  const made = await iam({ Action: 'CreateAccessKey' })
  const field = (name: string) => new RegExp(`<${name}>([^<]+)<`).exec(made)?.[1] ?? ''
  const policy = { Version: '2012-10-17', Statement: [{ Effect: 'Allow', Action: action, Resource: '*' }] }
  await iam({ Action: 'PutUserPolicy', PolicyName: 'all', PolicyDocument: JSON.stringify(policy) })
  await checkSignatures(true)
  return { access_key_id: field('AccessKeyId'), secret_access_key: field('SecretAccessKey'), region: 'us-east-1' }
}

async function checkSignatures(isOn: boolean): Promise<void> {
  await fetch(`${origin}/moto-api/reset-auth`, { method: 'POST', body: isOn ? '0' : '1000' })
}

test('AWS: moto takes the signature, and none with another secret, region or service', async () => {
  const dynamo = (target: string, body: object) =>
    aws('dynamodb', JSON.stringify(body), { ...json, 'x-amz-target': `DynamoDB_20120810.${target}` })
  await dynamo('CreateTable', {
    TableName: 'orders',
    KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
    AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
    BillingMode: 'PAY_PER_REQUEST',
  })
  await dynamo('PutItem', { TableName: 'orders', Item: { id: { S: 'a & ü' } } })
  const auth = { ...(await keysOf('loader', 'dynamodb:*')), service: 'dynamodb' }
  const config = {
    url: `${origin}/`,
    method: 'POST',
    headers: { ...json, 'X-Amz-Target': 'DynamoDB_20120810.Scan' },
    body: { type: 'json', content: { TableName: 'orders' }, content_type: json['content-type'] },
    authType: 'AWS Signature',
    auth,
    responsePathExtractor: 'Items',
  }
  const table = await makeTable(t, projectId, { name: 'Dynamo', config })
  expect(await table.refresh()).toMatchObject({ status: 'succeeded' })
  expect(await table.rows()).toMatchObject([{ id: { S: 'a & ü' } }])
  for (const wrong of [{ secret_access_key: 'another' }, { access_key_id: 'AKIANOBODY0000000000' }]) {
    expect(await tryOut({ ...config, auth: { ...auth, ...wrong } })).toMatchObject({ success: false })
  }
})

test('AWS Glacier: an inventory is started, waited for and downloaded', async () => {
  // Of a GET, moto refuses the signature of Amazon's own client as well.
  await checkSignatures(false)
  const vault = `${origin}/-/vaults/orders`
  const scope = 'nobody/20260101/us-east-1/glacier/aws4_request'
  const authorization = `AWS4-HMAC-SHA256 Credential=${scope}, SignedHeaders=host, Signature=none`
  await fetch(vault, { method: 'PUT', headers: { authorization } })
  for (const name of ['january', 'february']) {
    const headers = { authorization, 'x-amz-archive-description': name }
    const archived = await fetch(`${vault}/archives`, { method: 'POST', headers, body: `rows of ${name}` })
    expect(archived.status).toBe(201)
  }
  const auth = {
    access_key_id: 'AKIANOBODY0000000000',
    secret_access_key: 'x',
    region: 'us-east-1',
    service: 'glacier',
  }
  const config = {
    url: `${vault}/jobs`,
    method: 'POST',
    body: { type: 'json', content: { Type: 'inventory-retrieval' } },
    authType: 'AWS Signature',
    auth,
    responsePathExtractor: 'ArchiveList',
    steps: [
      {
        url: '/-/vaults/orders/jobs/{{start_header:x-amz-job-id}}',
        until: { path: 'StatusCode', is: ['Succeeded'], fails: ['Failed'], every_seconds: 1 },
      },
      { url: '/-/vaults/orders/jobs/{{start_header:x-amz-job-id}}/output' },
    ],
  }
  const table = await makeTable(t, projectId, { name: 'Archives', config })
  const begun = Date.now()
  expect(await table.refresh()).toMatchObject({ status: 'succeeded' })
  // So long it takes to make one.
  expect(Date.now() - begun).toBeGreaterThan(4_000)
  expect((await table.rows()).map(({ ArchiveDescription: name, Size: size }) => [name, size])).toEqual([
    ['january', 15],
    ['february', 16],
  ])
})

test('Flask-HTTPAuth takes the answer to its challenge', async () => {
  const config = { url: `${origin}/checks/digest?a=b%20c`, authType: 'Digest Auth' }
  const auth = { username: 'operator', password: 'pass, "word"' }
  expect(await tryOut({ ...config, auth })).toMatchObject({ success: true, data: [{ id: 1 }, { id: 2 }] })
  expect(await tryOut({ ...config, auth: { ...auth, password: 'x' } })).toMatchObject({ status: 401 })
})

test('PyJWT takes the token of a service account, and exchanges it', async () => {
  const tokenUrl = `${origin}/checks/token`
  const auth = {
    private_key: pem,
    algorithm: 'ES256',
    issuer: 'loader',
    audience: tokenUrl,
    scope: 'read',
    token_url: tokenUrl,
  }
  const config = { url: `${origin}/checks/token-rows`, authType: 'Signed JWT' }
  expect(await tryOut({ ...config, auth })).toMatchObject({ success: true })
  expect(await tryOut({ ...config, auth: { ...auth, audience: 'another' } })).toMatchObject({
    success: false,
    error: { code: 'token_refused' },
  })
})

test('an HMAC over a template is the one that Python makes', async () => {
  const auth = {
    secret: 'a key of theirs',
    template: String.raw`{timestamp}\n{method}\n{path_and_query}\n`,
    header: 'X-Sign',
    timestamp_header: 'X-Time',
  }
  const config = { url: `${origin}/checks/hmac`, authType: 'HMAC', parameters: { since: { value: '2026-01-01' } } }
  expect(await tryOut({ ...config, auth })).toMatchObject({ success: true })
  expect(await tryOut({ ...config, auth: { ...auth, secret: 'another' } })).toMatchObject({ status: 401 })
})
