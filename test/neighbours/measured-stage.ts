import { setTimeout as wait } from 'node:timers/promises'
import { join } from 'node:path'
import { authorizationRows } from '../harness/authorization-rows.ts'
import { createEmptyDatabase, type TestDatabase } from '../harness/database.ts'
import { openInstallation, type Installation, type Project } from '../harness/installation.ts'
import { serverCommand } from '../harness/process.ts'
import { requestsOf, type Ids, type Load, type Request, type Who } from './loads/load.ts'

/**
 * The longest that one call may keep the event loop of the service from everybody else's. Judged is the delay less the
 * time in which others had the processor. A machine that others use still makes each turn longer, by caches and clocks
 * that are shared; so a load that takes too long is tried again, and fails where every attempt did.
 */
export const mostDelayMs = 100
const attempts = 3
/** So much no busy machine adds. */
const hopelessMs = 4 * mostDelayMs

export type MeasuredStage = {
  installation: Installation
  database: TestDatabase
  /** The project that loads are about. */
  project: Project
  /** Whom the loads are no business of. */
  neighbour: Project
  ids: Ids
  credentials: Record<Who, Record<string, string>>
  /** Runs it unless it has run. */
  once(make: (stage: MeasuredStage) => Promise<unknown>): Promise<unknown>
  close(): Promise<void>
}
export type Measured = {
  name: string
  statuses: number[]
  bytes: number
  clockMs: number
  delayMs: number
  busyMs: number
}

/** The service with a meter in its process, and two projects with one query each. */
export async function openMeasured(): Promise<MeasuredStage> {
  const meter = join(import.meta.dirname, 'event-loop-meter.ts')
  const command = ['--no-warnings', '--import', meter, ...(await serverCommand())]
  const database = await createEmptyDatabase()
  const environment = {
    SLUICE_DATABASE_URL: database.url,
    SLUICE_OAUTH_REGISTRATIONS_PER_MINUTE: '1000',
    SLUICE_FAILED_AUTHENTICATIONS_PER_MINUTE: '1000',
    SLUICE_FAILED_SIGN_INS_PER_MINUTE: '1000',
    SLUICE_ALERT_INTERVAL_SECONDS: '5',
  }
  const installation = await openInstallation({ command, environment })
  const queries = { order_count: { sql: 'SELECT count(*) AS orders FROM orders' } }
  const [project, neighbour] = [await installation.project(queries), await installation.project(queries)]
  const made = new Map<unknown, Promise<unknown>>()
  const stage: MeasuredStage = {
    installation,
    database,
    project,
    neighbour,
    ids: {
      ...unknownIds,
      project_id: project.projectId,
      datasource_id: `ds_${project.projectId}_orders`,
      environment: 'production',
      query_name: 'order_count',
      version: '1',
      url: installation.source.url,
    },
    credentials: {
      nobody: { origin: installation.url },
      key: { authorization: `Bearer ${project.secret}` },
      operator: { authorization: `Bearer ${installation.operator}` },
      person: await personOf(installation, project),
    },
    once(make) {
      const done = made.get(make) ?? make(stage)
      made.set(make, done)
      return done
    },
    async close() {
      await installation.close()
      await database.drop()
    },
  }
  return stage
}

/** Parameters of which the stage has nothing. */
const unknownIds: Ids = Object.fromEntries(
  Object.keys(authorizationRows).flatMap((route) =>
    [...route.matchAll(/:(\w+)/g)].map(([, name = '']) => [name, 'none']),
  ),
)

/** The secret of an invitation as owner of the project, good once. */
export async function invitedBy({ manage }: Installation, { projectId }: Project): Promise<string> {
  const { link } = await manage('POST', `/v1/projects/${projectId}/invitations`, { role: 'owner' })
  return new URL(String(link)).hash.slice(1)
}

/** An owner of the project, who has come by an invitation. */
async function personOf(installation: Installation, project: Project): Promise<Record<string, string>> {
  const { url } = installation
  const token = await invitedBy(installation, project)
  const answer = await fetch(`${url}/v1/invitations/accept`, {
    method: 'POST',
    headers: { origin: url, 'content-type': 'application/json' },
    body: JSON.stringify({ token, name: 'Ada', email: 'ada@example.org', password: 'a password of ten' }),
  })
  const [cookie = ''] = (answer.headers.get('set-cookie') ?? '').split(';')
  if (answer.status !== 201) throw new Error(`no person: ${answer.status} ${await answer.text()}`)
  return { cookie, origin: url }
}

/** The longest turns of the service's event loop since this was asked last. */
async function longestTurns({ service }: Installation): Promise<Pick<Measured, 'clockMs' | 'delayMs' | 'busyMs'>> {
  const before = service.output().length
  service.kill('SIGUSR2')
  for (;;) {
    const found = /event loop: (\d+) (-?\d+) (\d+)\n/.exec(service.output().slice(before))?.slice(1)
    if (found !== undefined) {
      const [clockMs = 0, delayMs = 0, busyMs = 0] = found.map(Number)
      return { clockMs, delayMs, busyMs }
    }
    await wait(10)
  }
}

/** Sends a load while a neighbour calls, again where it took too long. Throws where it does not reach what it is about. */
export async function measure(stage: MeasuredStage, load: Load): Promise<Measured> {
  for (const make of load.given ?? []) await stage.once(make)
  let best: Measured | undefined
  for (let attempt = 1; attempt <= attempts; attempt += 1) {
    await load.before?.(stage)
    const found = await measureOnce(stage, load, attempt)
    if (best === undefined || found.delayMs < best.delayMs) best = found
    if (best.delayMs <= mostDelayMs || best.delayMs > hopelessMs) break
  }
  if (best === undefined) throw new Error('nothing was measured')
  return best
}

async function measureOnce(stage: MeasuredStage, load: Load, attempt: number): Promise<Measured> {
  const { installation, neighbour } = stage
  // What starts with the first call is no part of what a call costs.
  await (await installation.call(neighbour, 'order_count')).text()
  await wait(200)
  await longestTurns(installation)
  const over = new AbortController()
  const calling = callMeanwhile(stage, over.signal)
  const startedMs = performance.now()
  const answers: Array<{ status: number; text: string }> = []
  let slowestMs = 0
  try {
    const ids = { ...stage.ids, attempt: String(attempt) }
    for (const request of requestsOf(load, ids, stage.credentials)) answers.push(await send(stage, load, request))
  } finally {
    over.abort()
    slowestMs = await calling
  }
  const tookMs = Math.round(performance.now() - startedMs)
  const turns = await longestTurns(installation)
  const statuses = answers.map(({ status }) => status)
  const bytes = answers.reduce((sum, { text }) => sum + text.length, 0)
  const figures = `delay ${turns.delayMs} ms (clock ${turns.clockMs}, processor ${turns.busyMs}), neighbour ${slowestMs} ms`
  process.stdout.write(`${load.name}: ${statuses.join(' ')}, ${bytes} bytes in ${tookMs} ms, ${figures}\n`)
  assertReached(load, answers)
  return { name: load.name, statuses, bytes, ...turns }
}

async function send(stage: MeasuredStage, load: Load, request: Request): Promise<{ status: number; text: string }> {
  const { method, path, headers, payload } = request
  const ask = (signal?: AbortSignal) =>
    fetch(stage.installation.url + path, {
      method,
      headers,
      redirect: 'manual',
      ...(payload !== undefined && { body: payload }),
      ...(signal !== undefined && { signal }),
    })
  if (load.streams !== undefined) {
    const over = new AbortController()
    const streams = await Promise.all(Array.from({ length: load.streams.count }, () => ask(over.signal)))
    const texts = streams.map((each) => readUntil(each, over.signal))
    await load.streams.meanwhile(stage)
    over.abort()
    return { status: Math.max(...streams.map(({ status }) => status)), text: (await Promise.all(texts)).join('') }
  }
  const answer = await ask()
  const text = await answer.text()
  await load.after?.(stage, text)
  return { status: answer.status, text }
}

async function readUntil(answer: Response, over: AbortSignal): Promise<string> {
  const pieces: string[] = []
  const decoder = new TextDecoder()
  try {
    for await (const piece of answer.body ?? []) pieces.push(decoder.decode(piece as Uint8Array, { stream: true }))
  } catch (error) {
    if (!over.aborted) throw error
  }
  return pieces.join('')
}

function assertReached(
  { name, status = 200, bytes = 0, words = '' }: Load,
  answers: Array<{ status: number; text: string }>,
) {
  for (const { status: found, text } of answers) {
    const isBlamed = found >= 400 && found < 500 && ![401, 403, 429].includes(found)
    const isExpected =
      typeof status === 'number' ? found === status : isBlamed || (status === 'answered' && found < 400)
    const reached = isExpected && text.length >= bytes && text.includes(words)
    if (!reached) throw new Error(`${name}: ${found}, ${text.length} bytes: ${text.slice(0, 400)}`)
  }
}

/** Calls every 40 ms, and answers how long the slowest took. Throws where one fails. */
async function callMeanwhile({ installation, neighbour }: MeasuredStage, over: AbortSignal): Promise<number> {
  let slowestMs = 0
  while (!over.aborted) {
    const startedMs = performance.now()
    const answer = await installation.call(neighbour, 'order_count')
    const text = await answer.text()
    if (answer.status !== 200) throw new Error(`the neighbour: ${answer.status} ${text}`)
    slowestMs = Math.max(slowestMs, Math.round(performance.now() - startedMs))
    await wait(40)
  }
  return slowestMs
}
