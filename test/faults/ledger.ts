import { setTimeout as wait } from 'node:timers/promises'
import { operatorToken } from '../harness/app.ts'
import type { Source } from '../harness/source.ts'

/** Whatever came back. */
// oxlint-disable-next-line typescript/no-explicit-any
type Json = Record<string, any>

/**
 * What was asked of the service and what it acknowledged, over many lives of it. Everything is written by one writer of
 * its kind, so what is there must lie between the last that was acknowledged and the last that was asked for.
 */
type Span = { acknowledged: number; asked: number }
type KnownKey = { id: string; secret: string; isDisabled: boolean; isUnsure: boolean }

const rowsPerVersion = 300
const tableNames = ['executed', 'refreshed', 'merged'] as const
const callLimitMs = 10_000
const settleLimitMs = 90_000

/** A world of projects, tables, deployments, keys and jobs, and everything that was said about them. */
// Over 70 lines: one short function for each thing that is written and each that must hold, over the same facts.
export function openLedger(source: Source) {
  let url = ''
  let projectId = ''
  let reader = ''
  let refreshedId = ''
  let mergedId = ''
  /** How often each of the tables was fetched; every row of a version has its number. */
  const served = { executed: 0, refreshed: 0, merged: 0 }
  const projects = new Set<string>()
  const executed: Span = { acknowledged: 0, asked: 0 }
  const refreshed: Span = { acknowledged: 0, asked: 0 }
  const deployed: Span = { acknowledged: 0, asked: 0 }
  /** Loads that were merged: each brought a row of its number, and its number to the row 0. */
  const merged = new Set<number>()
  const keys: KnownKey[] = []
  const jobs: string[] = []

  source.handle((request, response) => {
    const table = tableNames.find((name) => request.url?.endsWith(name)) ?? 'refreshed'
    served[table] += 1
    const stamp = served[table]
    const whole = Array.from({ length: rowsPerVersion }, (_, id) => ({
      id,
      stamp,
      text: `${stamp} `.repeat(20),
    }))
    const rows = table === 'merged' ? [0, stamp].map((id) => ({ id, stamp })) : whole
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(rows))
  })

  async function send(method: string, path: string, body?: unknown, secret = operatorToken) {
    const answer = await fetch(url + path, {
      method,
      headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(callLimitMs),
    })
    const text = await answer.text()
    return { status: answer.status, body: (text === '' ? {} : JSON.parse(text)) as Json }
  }

  async function must(method: string, path: string, body?: unknown): Promise<Json> {
    const answer = await send(method, path, body)
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`)
    return answer.body
  }

  const config = (table: keyof typeof served) => ({ url: `${source.url}?${table}`, method: 'GET' })
  const executeBody = () => ({
    project_id: projectId,
    datasource_id: 'ds_executed',
    connect_spec: { name: 'executed', id: 'http_api', config: config('executed') },
    ...config('executed'),
  })
  const versionSql = (number: number) => `SELECT ${number} AS number, count(*) AS rows FROM executed`

  /** Everything there is to write about, once. */
  async function begin(serviceUrl: string): Promise<void> {
    url = serviceUrl
    projectId = (await must('POST', '/v1/projects', { name: 'first' }))['id']
    await must('POST', '/v1/http/execute-request', executeBody())
    executed.acknowledged = executed.asked = served.executed
    const body = { name: 'refreshed', kind: 'http_api', config: config('refreshed') }
    refreshedId = (await must('POST', `/v1/projects/${projectId}/datasources`, body))['id']
    await refresh()
    const load = { mode: 'merge', primary_key: ['id'] }
    const toMerge = { name: 'merged', kind: 'http_api', config: config('merged'), load }
    mergedId = (await must('POST', `/v1/projects/${projectId}/datasources`, toMerge))['id']
    await merge()
    const path = `/v1/projects/${projectId}/queries`
    const seen = 'SELECT min(stamp) AS least, max(stamp) AS most, count(*) AS rows, count(DISTINCT id) AS ids FROM'
    for (const table of ['executed', 'refreshed']) {
      await must('POST', path, { name: `seen_${table}`, sql: `${seen} ${table}` })
      await must('POST', `${path}/seen_${table}/deploy`, { environment: 'production', force: true })
    }
    const ids = 'SELECT string_agg(id::varchar) AS ids, max(stamp) FILTER (WHERE id = 0) AS newest FROM merged'
    await must('POST', path, { name: 'seen_merged', sql: ids })
    await must('POST', `${path}/seen_merged/deploy`, { environment: 'production', force: true })
    await must('POST', path, { name: 'numbered', sql: versionSql(0) })
    await must('POST', `${path}/numbered/deploy`, { environment: 'production', force: true })
    reader = (await must('POST', '/v1/api-keys', keyBody()))['secret']
  }
  const keyBody = () => ({
    name: 'k',
    plan: 'unlimited',
    permissions: [{ project_id: projectId, environments: '*' }],
  })

  async function refresh(until?: AbortSignal): Promise<void> {
    const before = served.refreshed
    const { id } = await must('POST', `/v1/projects/${projectId}/datasources/${refreshedId}/refresh`, {})
    jobs.push(id)
    const status = await settled(id, until)
    if (status === 'succeeded') {
      refreshed.asked = Math.max(refreshed.asked, served.refreshed)
      refreshed.acknowledged = Math.max(refreshed.acknowledged, before + 1)
    }
  }

  async function merge(until?: AbortSignal): Promise<void> {
    const before = served.merged
    const { id } = await must('POST', `/v1/projects/${projectId}/datasources/${mergedId}/refresh`, {})
    jobs.push(id)
    // After a second attempt nobody knows which of them was merged.
    if ((await settled(id, until)) === 'succeeded' && served.merged === before + 1) merged.add(served.merged)
  }

  async function settled(jobId: string, until?: AbortSignal): Promise<string> {
    for (const deadline = performance.now() + settleLimitMs; performance.now() < deadline;) {
      if (until?.aborted === true) break
      const { status } = (await send('GET', `/v1/jobs/${jobId}`)).body
      if (['succeeded', 'failed', 'cancelled'].includes(status)) return status
      await wait(50)
    }
    return 'unsettled'
  }

  /** Each does one thing, and notes it when it was acknowledged. */
  const acts = {
    async project() {
      const name = `p${Math.random()}`
      if ((await send('POST', '/v1/projects', { name })).status === 201) projects.add(name)
    },
    async execute() {
      const { status } = await send('POST', '/v1/http/execute-request', executeBody())
      executed.asked = served.executed
      if (status === 200) executed.acknowledged = served.executed
    },
    refresh,
    merge,
    async deploy() {
      const path = `/v1/projects/${projectId}/queries/numbered`
      const number = deployed.asked + 1
      if ((await send('PUT', path, { sql: versionSql(number) })).status !== 200) return
      deployed.asked = number
      const { status } = await send('POST', `${path}/deploy`, { environment: 'production', force: true })
      if (status === 200) deployed.acknowledged = number
    },
    async key() {
      const made = await send('POST', '/v1/api-keys', keyBody())
      if (made.status !== 201) return
      const key = { id: made.body['id'], secret: made.body['secret'], isDisabled: false, isUnsure: false }
      keys.push(key)
      if (keys.length % 2 === 0) return
      key.isUnsure = true
      const { status } = await send('POST', `/v1/api-keys/${key.id}/disable`, {})
      if (status !== 200) return
      key.isDisabled = true
      key.isUnsure = false
    },
  }

  /** Writes until told to stop, or until the service is gone. Answers how many acts came through. */
  async function write(act: keyof typeof acts, until: AbortSignal): Promise<number> {
    let done = 0
    while (!until.aborted) {
      try {
        await acts[act](until)
        done += 1
      } catch {
        // What was asked for counts as asked, whether or not it was heard.
        executed.asked = served.executed
        refreshed.asked = served.refreshed
        await wait(100)
      }
    }
    return done
  }

  /** While it runs: whoever reads sees all of one version or all of another. */
  async function look(until: AbortSignal, wrong: string[]): Promise<void> {
    while (!until.aborted) {
      for (const table of ['executed', 'refreshed']) {
        const answer = await send('POST', `/v1/queries/seen_${table}`, {}, reader).catch(() => undefined)
        if (answer?.status === 200) wrong.push(...halves(table, answer.body['data'][0]))
      }
      await wait(20)
    }
  }

  function halves(table: string, row: Record<string, number>): string[] {
    const isWhole = row['least'] === row['most'] && row['rows'] === rowsPerVersion && row['ids'] === rowsPerVersion
    return isWhole ? [] : [`${table} is half visible: ${JSON.stringify(row)}`]
  }

  async function tableFaults(table: 'executed' | 'refreshed', span: Span): Promise<string[]> {
    const answer = await send('POST', `/v1/queries/seen_${table}`, {}, reader)
    if (answer.status !== 200) return [`${table}: ${answer.status} ${JSON.stringify(answer.body)}`]
    const row = answer.body['data'][0]
    const stamp = Number(row['most'])
    const isDue = stamp >= span.acknowledged && stamp <= Math.max(span.asked, served[table])
    return [
      ...halves(table, row),
      ...(isDue ? [] : [`${table} has ${stamp}, not ${span.acknowledged} to ${span.asked}`]),
    ]
  }

  /** Every load that was merged is there, once and whole. */
  async function mergeFaults(): Promise<string[]> {
    const answer = await send('POST', '/v1/queries/seen_merged', {}, reader)
    if (answer.status !== 200) return [`merged: ${answer.status} ${JSON.stringify(answer.body)}`]
    const { ids, newest } = answer.body['data'][0]
    const all = String(ids).split(',').map(Number)
    const there = new Set(all)
    return [
      ...(all.length === there.size ? [] : ['merged has a key twice']),
      ...(Math.max(...there) === Number(newest) ? [] : [`merged is half there: ${Math.max(...there)} and ${newest}`]),
      ...[...merged].filter((id) => !there.has(id)).map((id) => `the load ${id} is gone`),
    ]
  }

  async function projectFaults(): Promise<string[]> {
    const there = new Set<string>()
    for (let cursor: string | null = ''; cursor !== null;) {
      const page = await must('GET', `/v1/projects?limit=200${cursor && `&cursor=${cursor}`}`)
      for (const { name } of page['data'] as Array<{ name: string }>) there.add(name)
      cursor = page['next_cursor'] as string | null
    }
    return [...projects].filter((name) => !there.has(name)).map((name) => `the project ${name} is gone`)
  }

  /** The newest ones; the others were looked at in the rounds before. */
  async function keyFaults(): Promise<string[]> {
    const faults: string[] = []
    for (const key of keys.slice(-20).filter(({ isUnsure }) => !isUnsure)) {
      const { status } = await send('GET', '/v1/key', undefined, key.secret)
      if ((status === 200) === key.isDisabled) faults.push(`a ${key.isDisabled ? 'disabled' : 'good'} key: ${status}`)
    }
    return faults
  }

  /** A job whose process was killed is taken up again once its lease has run out: looked at in the end, for all rounds. */
  async function jobFaults(): Promise<string[]> {
    const faults: string[] = []
    for (const id of jobs.splice(0)) {
      const status = await settled(id)
      if (status === 'unsettled') faults.push(`the job ${id} never ended`)
    }
    return faults
  }

  /** After a start: all that was acknowledged is there, and nothing is half there. */
  async function faults(serviceUrl: string): Promise<string[]> {
    url = serviceUrl
    const numbered = await send('POST', '/v1/queries/numbered', {}, reader)
    const number = Number(numbered.body['data']?.[0]?.number)
    const isDue = number >= deployed.acknowledged && number <= deployed.asked
    return [
      ...(isDue ? [] : [`deployed is ${number}, not ${deployed.acknowledged} to ${deployed.asked}`]),
      ...(await tableFaults('executed', executed)),
      ...(await tableFaults('refreshed', refreshed)),
      ...(await mergeFaults()),
      ...(await projectFaults()),
      ...(await keyFaults()),
    ]
  }

  const figures = () => ({
    projects: projects.size,
    executes: executed.acknowledged,
    deploys: deployed.acknowledged,
    merges: merged.size,
    keys: keys.length,
  })
  return { begin, write, look, faults, jobFaults, figures, acts: Object.keys(acts) as Array<keyof typeof acts> }
}
