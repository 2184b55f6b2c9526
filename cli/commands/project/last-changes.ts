import type { z } from 'zod'
import type { auditEntry } from '../../../api/people.ts'
import type { query } from '../../../api/queries.ts'
import type { Context } from '../../context/context.ts'
import { CommandFailure } from '../../terminal/exit.ts'

export type LastChange = { by: string; at: string }
type Named = { id: string; table_name?: string; name?: string }
type AuditEntry = z.output<typeof auditEntry>

const audited = 200

/** The last change of each thing on the service, by the file that says it. The audit log is for owners: without it, of queries alone. */
export async function lastChanges(context: Context, paths: string[]): Promise<Map<string, LastChange>> {
  const [manage, projectId] = [await context.manage(), await context.projectId()]
  const found = new Map<string, LastChange>()
  if (paths.some((path) => path.startsWith('queries/'))) {
    for (const { name, updated_at: at, updated_by: by } of await manage.list<z.output<typeof query>>(
      `/v1/projects/${projectId}/queries`,
    )) {
      found.set(`queries/${name}.sql`, { at, by })
    }
  }
  if (paths.every((path) => path.startsWith('queries/'))) return found
  const entries = await auditOf(context, projectId)
  if (entries.length === 0) return found
  const sources = await manage.list<Named>(`/v1/projects/${projectId}/datasources`)
  const apis = await manage.list<Named>(`/v1/projects/${projectId}/apis`)
  const files = new Map([
    ...sources.map(({ id, table_name: table }) => [id, `connections/${table}.yaml`] as const),
    ...apis.map(({ id, name }) => [id, `apis/${name}.yaml`] as const),
  ])
  for (const { action, target, at, actor } of entries) {
    const path = files.get(target) ?? folderOf(action)
    // The newest comes first. A load changes no connection.
    if (path === undefined || found.has(path) || /refresh/.test(action)) continue
    found.set(path, { at, by: actor.label })
  }
  return found
}

/** The file that holds many things, whichever of them changed. */
function folderOf(action: string): string | undefined {
  if (/^(variable|environment|project)\./.test(action)) return 'sluice.yaml'
  return undefined
}

async function auditOf(context: Context, projectId: string): Promise<AuditEntry[]> {
  const manage = await context.manage()
  try {
    return await manage.list<AuditEntry>('/v1/audit', { project_id: projectId }, audited)
  } catch (error) {
    if (error instanceof CommandFailure && error.exit === 'credentials') return []
    throw error
  }
}
