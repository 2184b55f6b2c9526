import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { operatorToken } from './app.ts'
import { endService, killAll, postmasterTree, startService, type ServiceProcess } from './process.ts'
import { openSource, type Source } from './source.ts'

export type Project = { projectId: string; secret: string }

/** The service in a process of its own, so that what its callers do takes none of its time. */
export type Installation = {
  url: string
  dataDir: string
  service: ServiceProcess
  /** May do everything. */
  operator: string
  source: Source
  /** A management call; throws unless it succeeds. */
  manage: (method: string, path: string, body?: unknown) => Promise<Record<string, unknown>>
  /** A project with a table `orders`, deployed queries and a key without a limit. */
  project: (queries: Record<string, { sql: string; [field: string]: unknown }>) => Promise<Project>
  call(project: Project, name: string, body?: unknown, signal?: AbortSignal): Promise<Response>
  ask(project: Project, question: string, signal?: AbortSignal): Promise<Response>
  /** Fetches rows into a table, and answers the job that prepares it. */
  fetchTable(projectId: string, name: string, rows: object[]): Promise<string>
  close: () => Promise<void>
}

type Options = {
  environment?: Record<string, string>
  dataDir?: string
  /** What is started, where it is not the service itself. */
  command?: string[]
  program?: string
}

export async function openInstallation(options: Options = {}): Promise<Installation> {
  const dataDir = options.dataDir ?? (await makeFolder())
  const source = await openSource()
  const environment = { SLUICE_OUTBOUND_ALLOW: source.host, SLUICE_LOG_LEVEL: 'error', ...options.environment }
  const removeAll = async (): Promise<void> => {
    await source.close()
    killAll(postmasterTree(dataDir))
    await rm(dataDir, { recursive: true, force: true, maxRetries: 10 })
  }
  const service = await startService(dataDir, environment, options.command, options.program).catch(
    async (error: unknown) => {
      // Why it did not start matters more than what is left of it.
      await removeAll().catch(() => undefined)
      throw error
    },
  )
  const { url } = service

  const send = (path: string, secret: string, body: unknown, signal?: AbortSignal) =>
    fetch(url + path, {
      method: 'POST',
      headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
      ...(signal !== undefined && { signal }),
    })

  const manage: Installation['manage'] = async (method, path, body) => {
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

  const fetchTable: Installation['fetchTable'] = async (projectId, name, rows) => {
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
    dataDir,
    service,
    operator: operatorToken,
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
      await endService(service)
      await removeAll()
    },
  }
}

async function makeFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-installation-'))
  // As root the database runs as someone else, who has to pass.
  await chmod(folder, 0o711)
  return folder
}

/** At least one in a hundred took so long or longer. */
export function percentile(times: number[], share: number): number {
  const sorted = times.toSorted((left, right) => left - right)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
}
