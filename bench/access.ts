// What a key costs a call, and how exact its limit is. `node bench/access.ts`; with Redis: `npm run bench -- access`.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { admit, keyCredential, openKeyAccess, resolveCall } from '../server/access/index.ts'
import { openAttempts } from '../server/access/credentials/attempts.ts'
import { newCredential } from '../server/access/credentials/credential.ts'
import { openVault } from '../server/access/credentials/vault.ts'
import { readConfig, type Config } from '../server/config.ts'
import { newId } from '../server/ids.ts'
import { openDatabase, soleReplica, type Database } from '../server/store/index.ts'
import { measureBurst } from './burst.ts'

const keyCount = 100_000
const projectCount = 2_000
const deploymentCount = 10_000
const calls = 200_000

const redisUrl = process.env['TEST_REDIS_URL']
const folder = await mkdtemp(join(tmpdir(), 'sluice-bench-'))
const config = readConfig({ SLUICE_DATA_DIR: join(folder, 'data') })
if ('mistakes' in config) throw new Error(config.mistakes.join('\n'))
const store = await openDatabase({
  dataDir: config.dataDir,
  connections: 60,
  timeoutMs: 60_000,
  observe: () => undefined,
})
try {
  const { host, port, user, database } = store.pool.options
  const databaseUrl = `postgresql://${user}@localhost/${database}?host=${encodeURIComponent(host ?? '')}&port=${port}`
  await measureBurst({ folder, databaseUrl, replicas: 1, redisUrl: undefined })
  if (redisUrl !== undefined) await measureBurst({ folder, databaseUrl, replicas: 3, redisUrl })
  await measureCalls(store, config)
} finally {
  await store.close()
  await rm(folder, { recursive: true, force: true })
}

async function measureCalls(database: Database, settings: Config): Promise<void> {
  const secrets = await fillKeys(database)
  const before = usedMegabytes()
  const loadAt = performance.now()
  const { access, close } = await openKeyAccess({
    store: database,
    vault: openVault('for a measurement, and nothing else'),
    config: settings,
    replicas: soleReplica,
    now: Date.now,
    observe: () => undefined,
  })
  const loadMs = performance.now() - loadAt
  const deployments = fakeDeployments()
  const megabytes = usedMegabytes() - before
  const authenticationAttempts = openAttempts(settings.limits.failedAuthenticationsPerMinute, Date.now)
  const app = { ...access, authenticationAttempts, now: Date.now, config: settings }
  const order = Array.from({ length: calls }, (_, at) => (at * 7919) % keyCount)
  let refused = 0
  const run = async (turns: number[]): Promise<{ wall: number; processor: number }> => {
    const startedAt = performance.now()
    const startedCpu = process.cpuUsage()
    for (const at of turns) {
      const { caller, refusal } = await admit(app, {
        credential: () => keyCredential(secrets[at] ?? ''),
        takesBrowserTokens: false,
        address: '127.0.0.1',
        requestId: 'req_bench',
      })
      if (refusal !== null) refused += 1
      resolveCall(caller.key, { queryName: `query_${at % 5}` }, deployments)
    }
    const { user, system } = process.cpuUsage(startedCpu)
    return {
      wall: ((performance.now() - startedAt) * 1_000) / turns.length,
      processor: (user + system) / turns.length,
    }
  }
  await run(order.slice(0, 20_000))
  const { wall, processor } = await run(order)
  console.log(
    `${keyCount} keys and ${deploymentCount} deployments: loaded in ${Math.round(loadMs)} ms, ${megabytes.toFixed(1)} MB`,
  )
  console.log(
    `authentication, limit and resolution: ${wall.toFixed(1)} µs a call, ${processor.toFixed(1)} µs of processor (${calls} calls, ${refused} limited)`,
  )
  const [known, unknown] = [
    secrets.slice(0, 50_000),
    Array.from({ length: 50_000 }, () => newCredential('live').secret),
  ]
  const look = (list: string[]): number => {
    const startedAt = performance.now()
    for (const secret of list) access.keys.find(keyCredential(secret))
    return ((performance.now() - startedAt) * 1_000) / list.length
  }
  const times = Array.from({ length: 9 }, () => [look(known), look(unknown)] as const)
  const middle = (at: 0 | 1): string => (times.map((pair) => pair[at]).toSorted((a, b) => a - b)[4] ?? 0).toFixed(2)
  console.log(`looking up a key that exists: ${middle(0)} µs, one that does not: ${middle(1)} µs`)
  await close()
  console.log(`after ${calls} calls by every key: ${(usedMegabytes() - before).toFixed(1)} MB`)
}

async function fillKeys({ db }: Database): Promise<string[]> {
  const projects = Array.from({ length: projectCount }, (_, at) => ({ id: projectId(at), name: `Project ${at}` }))
  await db.insertInto('projects').values(projects).execute()
  const secrets: string[] = []
  for (let page = 0; page < keyCount / 1_000; page += 1) {
    const rows = Array.from({ length: 1_000 }, () => {
      const { secret, hash, start, last4 } = newCredential('live')
      secrets.push(secret)
      const name = `Key number ${secrets.length}`
      return { id: newId('key'), name, secretHash: hash, start, last4, plan: 'pro', fixedParameters: '{}' }
    })
    await db.insertInto('apiKeys').values(rows).execute()
    const permissions = rows.map(({ id }, at) => ({
      keyId: id,
      position: 0,
      projectId: projectId(page * 1_000 + at),
      environments: ['production', 'staging'],
    }))
    await db.insertInto('apiKeyPermissions').values(permissions).execute()
  }
  return secrets
}

/** Five queries in every project, all in production. */
function fakeDeployments() {
  const deployed = new Map<string, Set<string>>()
  for (let at = 0; at < deploymentCount; at += 1) {
    const name = `production/query_${at % 5}`
    deployed.set(name, (deployed.get(name) ?? new Set()).add(projectId(Math.floor(at / 5))))
  }
  return {
    projectsWith: (query: string, environment: string) => deployed.get(`${environment}/${query}`) ?? [],
    has: (project: string, environment: string, query: string) =>
      deployed.get(`${environment}/${query}`)?.has(project) ?? false,
  }
}

function projectId(at: number): string {
  return `prj_bench${String(at % projectCount).padStart(17, '0')}`
}

function usedMegabytes(): number {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  collect()
  const { heapUsed, external } = process.memoryUsage()
  return (heapUsed + external) / 1_048_576
}
