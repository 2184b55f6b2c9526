import { permittedQueries, resolveScope, type KeyCaller } from '../../access/index.ts'
import type { Failure } from '../../failure.ts'
import type { Deployments } from '../../queries/index.ts'

/** One request of a client, and where its calls go. Nothing of it outlives the request. */
export type McpConnection = {
  caller: KeyCaller
  /** The key is over its limit: a tool says so in its answer. */
  refusal: Failure | null
  /** Undefined where the key reaches several projects and the client has named none. */
  projectId: string | undefined
  environment: string
  /** Where this server is reached, for addresses in answers. */
  baseUrl: string
  /** True for protocols that may ask a person for missing values while a call waits. */
  asksBack: boolean
  /** Session of a client, among those of one key; clients of the protocols before 2026 send it back. */
  sessionId: string | null
  /** The client is gone. */
  signal: AbortSignal
}

/** As any call: by what it says, else by the key's only project and environment, else production. */
export function scopeOf(
  { key }: Pick<KeyCaller, 'key'>,
  address: { projectId?: string | undefined; environment?: string | undefined },
): Pick<McpConnection, 'projectId' | 'environment'> {
  return resolveScope(key, address)
}

/** Whose share a request takes: the project's, or the key's own where it reaches several projects and names none. */
export function holderOf({ caller, projectId }: Pick<McpConnection, 'caller' | 'projectId'>): string {
  return projectId ?? caller.key.id
}

/** The projects whose queries the client sees. */
export function projectsOf(
  app: { deployments: Deployments },
  { caller, projectId, environment }: Pick<McpConnection, 'caller' | 'projectId' | 'environment'>,
): string[] {
  if (projectId !== undefined) return [projectId]
  const reached = app.deployments.projectsIn(environment).filter((each) => {
    const names = permittedQueries(caller.key.permissions, { projectId: each, environment })
    return names === null || names.length > 0
  })
  return reached.toSorted()
}
