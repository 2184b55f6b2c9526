// Data folders of earlier versions open in this one, migrate, and answer as before: `npm test -- upgrade`. Each version
// is taken out of the history and started with a folder of its own, filled by its own calls and asked; then this one is
// started with that folder and asked the same. Where the history is not there it says so and is skipped.
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import { freePort } from './debian-server.mjs'
import { findNode, installMissing, root } from './prepare.mjs'

/**
 * The last commit with each of these schemas that starts. Up to the sixth, migrations were still rewritten: nobody had
 * data then, and their folders are refused with that reason.
 */
const versions = [
  { schema: 6, commit: 'f6cb596' },
  { schema: 8, commit: '337d206' },
  { schema: 10, commit: '3f997b3' },
  { schema: 12, commit: 'e4776f6' },
  { schema: 16, commit: '98861fc' },
  { schema: 17, commit: '518c4d8' },
  { schema: 18, commit: '210050e' },
  { schema: 20, commit: '0e653f3' },
  { schema: 22, commit: 'b6db3bb' },
  { schema: 28, commit: '4c37802' },
  { schema: 29, commit: 'b29937b' },
  { schema: 36, commit: 'd394277' },
  { schema: 40, commit: '8300f98' },
]
/** Names whose values are meant to move on. */
const moving = new Set(['last_used_at', 'next_run_at', 'role', 'state', 'evaluated_at', 'health', 'status_since'])
const readyLimitMs = 120_000
const token = 'management-token-of-the-upgrade-test'
const counts = { passed: 0, failed: 0, skipped: 0 }

installMissing()
const only = process.argv.slice(2).map(Number)
for (const version of versions.filter(({ schema }) => only.length === 0 || only.includes(schema))) {
  if (spawnSync('git', ['merge-base', '--is-ancestor', version.commit, 'HEAD'], { cwd: root }).status === 0) {
    await upgrade(version)
  } else {
    counts.skipped += 1
    console.log(`skipped schema ${version.schema}: ${version.commit} is not in this history`)
  }
}
console.log(`${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`)
process.exitCode = counts.failed === 0 ? 0 : 1

async function upgrade({ schema, commit }) {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-upgrade-'))
  const [sources, data] = [join(folder, 'sources'), join(folder, 'data')]
  try {
    takeOut(commit, sources)
    const made = readdirSync(join(sources, 'server/store/migrations')).length
    check(`schema ${schema}: ${commit} has it`, made === schema, made)
    const before = await during(sources, data, async (api) => {
      const filled = await fill(api)
      return { ...filled, answers: await look(api, filled) }
    })
    const after = await during(root, data, (api) => look(api, before))
    const told = Object.keys(before.answers)
    check(`schema ${schema}: it was asked something`, told.length >= 20, told.length)
    for (const name of told) {
      const [was, is] = [before.answers[name], after[name]]
      check(`schema ${schema}: ${name} is as before`, isPart(was, is), { was, is })
    }
  } catch (error) {
    check(`schema ${schema}: ${error instanceof Error ? error.message : String(error)}`, false)
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 10 })
  }
}

function takeOut(commit, sources) {
  mkdirSync(sources)
  const packed = spawnSync('git', ['archive', commit], { cwd: root, maxBuffer: 2 ** 30 })
  if (packed.status !== 0) throw new Error(`git archive ${commit} failed: ${String(packed.stderr)}`)
  const unpacked = spawnSync('tar', ['-x', '-C', sources], { input: packed.stdout })
  if (unpacked.status !== 0) throw new Error(`tar failed: ${String(unpacked.stderr)}`)
  symlinkSync(join(root, 'node_modules'), join(sources, 'node_modules'))
}

/** A service of some version with some folder, for as long as the work takes. */
async function during(sources, data, work) {
  const port = await freePort()
  const env = {
    PATH: process.env.PATH,
    HOME: process.env.HOME,
    PORT: String(port),
    SLUICE_DATA_DIR: data,
    SLUICE_MANAGEMENT_TOKEN: token,
    SLUICE_LOG_LEVEL: 'error',
  }
  const service = spawn(findNode(), ['--no-warnings', 'server/main.ts'], { cwd: sources, env, stdio: 'pipe' })
  let output = ''
  for (const stream of [service.stdout, service.stderr]) stream.on('data', (bytes) => (output += bytes))
  const ended = once(service, 'exit')
  try {
    const api = { ...apiOf(`http://127.0.0.1:${port}`), printed: () => output }
    await until('it is ready', () => {
      if (service.exitCode !== null) throw new Error(`the service ended:\n${output.slice(-2_000)}`)
      return api.isReady()
    })
    return await work(api)
  } finally {
    service.kill('SIGTERM')
    const late = await Promise.race([ended.then(() => false), wait(60_000, true, { ref: false })])
    if (late) service.kill('SIGKILL')
  }
}

function apiOf(url) {
  const send = async (method, path, { body, key = token } = {}) => {
    const answer = await fetch(url + path, {
      method,
      headers: { authorization: `Bearer ${key}`, ...(body !== undefined && { 'content-type': 'application/json' }) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(60_000),
    })
    const text = await answer.text()
    return { status: answer.status, body: text === '' ? null : JSON.parse(text) }
  }
  return {
    send,
    isReady: () =>
      fetch(`${url}/readyz`).then(
        ({ ok }) => ok,
        () => false,
      ),
    async list(path) {
      const answer = await send('GET', path)
      if (answer.status !== 200) throw new Error(`GET ${path}: ${answer.status} ${JSON.stringify(answer.body)}`)
      return answer.body.data
    },
    async made(path, body) {
      const answer = await send('POST', path, { body })
      if (answer.status !== 201) throw new Error(`POST ${path}: ${answer.status} ${JSON.stringify(answer.body)}`)
      return answer.body
    },
  }
}

/** What somebody has in a folder after a while: the example project of every new installation, and things of their own. */
async function fill(api) {
  const project = await api.made('/v1/projects', { name: 'Of before' })
  await api.made(`/v1/projects/${project.id}/environments`, { name: 'preview' })
  await api.made(`/v1/projects/${project.id}/invitations`, { role: 'viewer', email: 'ada@example.org' })
  const keyFor = (projectId) =>
    api.made('/v1/api-keys', {
      name: 'Of before',
      permissions: [{ project_id: projectId, environments: ['production'] }],
      fixed_parameters: {},
    })
  // It says how to ask once the example is whole; stopped before, the next start makes it anew.
  await until('the example is whole', () => api.printed().includes('"project_id"'))
  const example = await until('the example project is deployed', async () => {
    const found = (await api.list('/v1/projects')).find(({ id }) => id !== project.id)
    return found !== undefined && (await isDeployed(api, found.id)) ? found : undefined
  })
  const path = `/v1/projects/${example.id}`
  await api.made(`${path}/alerts`, { name: 'Errors', type: 'error_rate_above', threshold: 0.5, channels: [] })
  return { projectIds: [project.id, example.id], apiKey: await keyFor(example.id), exampleId: example.id }
}

async function isDeployed(api, projectId) {
  const queries = await api.list(`/v1/projects/${projectId}/queries`)
  return queries.length > 0 && (await api.list(`/v1/projects/${projectId}/deployments`)).length >= queries.length
}

/** Everything that is there by the calls of its time, and every query and question of the example answered. */
async function look(api, { projectIds, apiKey, exampleId }) {
  const answers = {}
  const read = async (path) => {
    const { status, body } = await api.send('GET', path)
    answers[path] = { status, data: body.data ?? body }
  }
  await read('/v1/projects')
  for (const id of projectIds)
    for (const noun of ['environments', 'invitations', 'members']) await read(`/v1/projects/${id}/${noun}`)
  // That of the example has a new secret at each start.
  await read(`/v1/api-keys/${apiKey.id}`)
  const { secret: key } = apiKey
  const path = `/v1/projects/${exampleId}`
  for (const noun of ['datasources', 'queries', 'deployments', 'alerts', 'data-objects']) await read(`${path}/${noun}`)
  for (const { name, examples } of await api.list(`${path}/queries`)) {
    await read(`${path}/queries/${name}/versions`)
    const [example] = examples
    const called = await api.send('POST', `/v1/queries/${name}`, { key, body: example?.parameters ?? {} })
    answers[`the call of ${name}`] = { status: called.status, data: called.body.data }
    if (example === undefined) continue
    const question = { query: example.question, project_id: exampleId }
    const asked = await until(`“${example.question}” is read`, async () => {
      const answer = await api.send('POST', '/v1/query', { key, body: question })
      return answer.status === 503 ? undefined : answer
    })
    answers[`“${example.question}”`] = {
      status: asked.status,
      data: asked.body.data,
      query_used: asked.body.query_used,
    }
  }
  return answers
}

/** Whether all that was said is said still. More may be said. */
function isPart(was, is) {
  if (Array.isArray(was))
    return Array.isArray(is) && was.length === is.length && was.every((each, at) => isPart(each, is[at]))
  if (typeof was !== 'object' || was === null) return isDeepStrictEqual(was, is)
  if (typeof is !== 'object' || is === null) return false
  return Object.entries(was).every(([name, value]) => moving.has(name) || isPart(value, is[name]))
}

async function until(what, look) {
  for (const deadline = Date.now() + readyLimitMs; Date.now() < deadline; await wait(200)) {
    const found = await look()
    if (found !== undefined && found !== false) return found
  }
  throw new Error(`not in time: ${what}`)
}

function check(name, isGood, seen) {
  counts[isGood ? 'passed' : 'failed'] += 1
  if (!isGood) console.log(`FAILED ${name}${seen === undefined ? '' : `\n${JSON.stringify(seen).slice(0, 3_000)}`}`)
}
