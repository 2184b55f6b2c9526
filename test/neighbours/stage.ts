import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { operatorToken } from '../harness/app.ts'
import { startService } from '../harness/process.ts'
import { openSource, type Source } from '../harness/source.ts'

export type Project = { projectId: string; secret: string }

/** The service in a process of its own, so that what its callers do takes none of its time. */
export type Stage = {
  url: string
  source: Source
  /** A management call; throws unless it succeeds. */
  manage(method: string, path: string, body?: unknown): Promise<Record<string, unknown>>
  /** A project with a table `orders`, deployed queries and a key without a limit. */
  project(queries: Record<string, { sql: string; [field: string]: unknown }>): Promise<Project>
  call(project: Project, name: string, body?: unknown, signal?: AbortSignal): Promise<Response>
  ask(project: Project, question: string, signal?: AbortSignal): Promise<Response>
  /** Fetches rows into a table, and answers the job that prepares it. */
  fetchTable(projectId: string, name: string, rows: object[]): Promise<string>
  close(): Promise<void>
}

export async function openStage(): Promise<Stage> {
  const dataDir = await mkdtemp(join(tmpdir(), 'sluice-neighbours-'))
  await chmod(dataDir, 0o711)
  const source = await openSource()
  const service = await startService(dataDir, { SLUICE_OUTBOUND_ALLOW: source.host, SLUICE_LOG_LEVEL: 'error' })
  const { url } = service

  const send = (path: string, secret: string, body: unknown, signal?: AbortSignal) =>
    fetch(url + path, {
      method: 'POST',
      headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
      ...(signal !== undefined && { signal }),
    })

  const manage: Stage['manage'] = async (method, path, body) => {
    const answer = await fetch(url + path, {
      method,
      headers: {
        authorization: `Bearer ${operatorToken}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const text = await answer.text()
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`)
    return text === '' ? {} : (JSON.parse(text) as Record<string, unknown>)
  }

  const fetchTable: Stage['fetchTable'] = async (projectId, name, rows) => {
    source.answer(rows)
    const request = { url: source.url, method: 'GET' }
    const answer = await manage('POST', '/v1/http/execute-request', {
      project_id: projectId,
      datasource_id: `ds_${projectId}_${name}`,
      connect_spec: { name, id: 'http_api', config: request },
      ...request,
    })
    return (answer['jobs'] as Array<{ id: string }>)[0]?.id ?? ''
  }

  return {
    url,
    source,
    manage,
    fetchTable,
    async project(queries) {
      const projectId = String((await manage('POST', '/v1/projects', { name: 'Shop' }))['id'])
      const orders = Array.from({ length: 30 }, (_, id) => ({ id, region: id % 2 === 0 ? 'north' : 'south' }))
      await fetchTable(projectId, 'orders', orders)
      for (const [name, query] of Object.entries(queries)) {
        const path = `/v1/projects/${projectId}/queries`
        await manage('POST', path, { name, ...query })
        await manage('POST', `${path}/${name}/deploy`, { environment: 'production', force: true })
      }
      const permissions = [{ project_id: projectId, environments: '*' }]
      const key = await manage('POST', '/v1/api-keys', { name: 'x', plan: 'unlimited', permissions })
      return { projectId, secret: String(key['secret']) }
    },
    call: ({ secret }, name, body = {}, signal) => send(`/v1/queries/${name}`, secret, body, signal),
    ask: ({ projectId, secret }, question, signal) =>
      send('/v1/query', secret, { query: question, project_id: projectId }, signal),
    async close() {
      service.kill('SIGTERM')
      await service.exited
      await source.close()
      await rm(dataDir, { recursive: true, force: true })
    },
  }
}

/** At least one in a hundred took so long or longer. */
export function percentile(times: number[], share: number): number {
  const sorted = times.toSorted((left, right) => left - right)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
}
