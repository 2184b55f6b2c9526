import { Failure } from '../../failure.ts'
import type { KeyRecord } from './record.ts'
import { onlyEnvironment, onlyProject, permits, permitsWithin } from './permissions.ts'

/** Deployments, as far as the address of a call depends on them. */
export type DeploymentsIndex = {
  /** The projects in which a query of this name is deployed to the environment. */
  projectsWith(queryName: string, environment: string): Iterable<string>
  has(projectId: string, environment: string, queryName: string): boolean
}

/** Address given by a call; `queryName` is absent for a question. */
export type Address = {
  projectId?: string | undefined
  environment?: string | undefined
  queryName?: string | undefined
}

/** Without a project or environment in the call, the key's only one stands in; else production, and see below. */
export function resolveCall(
  key: Pick<KeyRecord, 'permissions'>,
  address: Address,
  deployments: DeploymentsIndex,
): { projectId: string; environment: string } {
  const { queryName } = address
  const { projectId, environment } = resolveScope(key, address)
  if (queryName === undefined) {
    if (projectId === undefined) throw unnamedProject()
    return { projectId, environment }
  }
  if (projectId === undefined) {
    return { projectId: projectDeploying(key, queryName, { environment, deployments }), environment }
  }
  if (!deployments.has(projectId, environment, queryName)) throw notDeployed(queryName, environment)
  return { projectId, environment }
}

/** As far as it goes without the deployments: the project stays open where the key has several. */
export function resolveScope(
  { permissions }: Pick<KeyRecord, 'permissions'>,
  address: Address,
): { projectId: string | undefined; environment: string } {
  const environment = address.environment ?? onlyEnvironment(permissions) ?? 'production'
  const projectId = address.projectId ?? onlyProject(permissions)
  const { queryName } = address
  const reached =
    projectId === undefined
      ? permissions.some((permission) => permitsWithin(permission, { environment, queryName }))
      : permits(permissions, { projectId, environment, queryName })
  if (!reached) throw outOfReach(address)
  return { projectId, environment }
}

/**
 * Whose record a refused call belongs to: the project it named, if the key reaches that one at all, else the key's only
 * one. Nobody writes into the record of a project that is not theirs.
 */
export function placeFor(
  { permissions }: Pick<KeyRecord, 'permissions'>,
  address: Pick<Address, 'projectId' | 'environment'>,
): { projectId: string | null; environment: string | null } {
  const projectId = address.projectId ?? onlyProject(permissions)
  const reached = permissions.some((each) => each.projectId === '*' || each.projectId === projectId)
  if (projectId === undefined || !reached) return { projectId: null, environment: null }
  return { projectId, environment: address.environment ?? onlyEnvironment(permissions) ?? 'production' }
}

/** Looks only at what the key reaches: what lies beyond changes no answer. */
function projectDeploying(
  { permissions }: Pick<KeyRecord, 'permissions'>,
  queryName: string,
  { environment, deployments }: { environment: string; deployments: DeploymentsIndex },
): string {
  const reached: string[] = []
  for (const projectId of deployments.projectsWith(queryName, environment)) {
    if (permits(permissions, { projectId, environment, queryName })) reached.push(projectId)
  }
  const [projectId] = reached
  if (projectId === undefined) throw notDeployed(queryName, environment)
  if (reached.length > 1) throw ambiguousProject(queryName, reached)
  return projectId
}

/** Depends on the call and the key alone, so it is the same whether or not the thing exists. */
export function outOfReach({ environment }: Address): Failure {
  const hint =
    environment === undefined
      ? ' No environment was named: add X-Sluice-Environment or ?environment= if another was meant.'
      : ''
  return new Failure('permission_denied', {
    message: `This API key does not reach that project, environment or query. GET /v1/key tells what it reaches.${hint}`,
  })
}

function notDeployed(queryName: string, environment: string): Failure {
  return new Failure('query_not_found', {
    message: `No query ${queryName} is deployed to ${environment} there. Another project or environment is named with X-Sluice-Project and X-Sluice-Environment.`,
  })
}

function ambiguousProject(queryName: string, projectIds: string[]): Failure {
  const shown = projectIds.slice(0, 10)
  return new Failure('conflict', {
    reason: 'ambiguous_project',
    message: `Several projects have a query ${queryName}: ${shown.join(', ')}${projectIds.length > 10 ? ', …' : ''}. Add X-Sluice-Project or ?project_id=.`,
    fields: { candidates: shown.map((projectId) => ({ project_id: projectId })) },
  })
}

export function unnamedProject(): Failure {
  return new Failure('conflict', {
    reason: 'ambiguous_project',
    message: 'This API key reaches several projects. Say which with project_id.',
  })
}

/**
 * The slots of a call with those that the key fixes. A caller who sends one of them is refused: overriding it silently
 * would answer another question than was asked. What the query has no slot for is left out.
 */
export function withFixedParameters(
  { fixedParameters }: Pick<KeyRecord, 'fixedParameters'>,
  given: Readonly<Record<string, unknown>>,
  slotNames: ReadonlySet<string>,
): Readonly<Record<string, unknown>> {
  const names = Object.keys(fixedParameters)
  if (names.length === 0) return given
  const clashes = names.filter((name) => Object.hasOwn(given, name))
  if (clashes.length > 0) {
    throw new Failure('invalid_query', {
      reason: 'invalid_slots',
      message: `The API key fixes ${clashes.join(', ')}: leave it out of the call.`,
      details: clashes.map((field) => ({ field, message: 'is fixed by the API key' })),
    })
  }
  const fixed = names.filter((name) => slotNames.has(name))
  return { ...given, ...Object.fromEntries(fixed.map((name) => [name, fixedParameters[name]])) }
}
