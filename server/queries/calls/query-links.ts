import {
  createQueryLink,
  requireRole,
  type Caller,
  type KeyCaller,
  type NewQueryLink,
  type QueryLink,
} from '../../access/index.ts'
import type { SlotsSchema } from '../../../api/slots.ts'
import { Failure, type FailureDetail } from '../../failure.ts'
import type { Deployments } from '../deployed/deployments.ts'
import { valuesOfTexts } from '../slots/slot-values.ts'
import { checkSlots } from '../slots/slots.ts'
import { call, type Call, type CallAnswer, type CallParts } from './call.ts'

/** A port: whether links to the queries of a project answer. */
type OpensLinks = { origins: { opensLinks(projectId: string): boolean } }

/** A link to a deployed query, once its values would be taken by a call. */
export async function linkQuery(
  app: Parameters<typeof createQueryLink>[0] & OpensLinks & { deployments: Deployments },
  caller: Caller,
  input: NewQueryLink,
): Promise<QueryLink & { secret: string }> {
  const { projectId, environment, query: name } = input
  await requireRole(app, caller, projectId, 'owner')
  if (!app.origins.opensLinks(projectId)) {
    throw new Failure('conflict', {
      reason: 'query_links_off',
      message:
        'Links to queries are off in this project. An owner turns them on: PATCH /v1/projects/{project_id} with {"query_links": true}.',
    })
  }
  const deployment = app.deployments.find({ projectId, environment, name })
  if (deployment === undefined) {
    throw new Failure('query_not_found', { message: `No query ${name} is deployed to ${environment}.` })
  }
  const parameters = typedValues(deployment.version.slots, input.parameters)
  const checked = checkSlots(deployment.version.compiled(), parameters)
  if ('details' in checked) {
    const details = checked.details.map(({ field, message }): FailureDetail => {
      return { field: `parameters.${field}`, message }
    })
    throw new Failure('invalid_request', { reason: 'invalid_field', details })
  }
  return createQueryLink(app, caller, { ...input, parameters })
}

/** Forms and shells know texts alone: those are read as the slots have them, as in the address of a call. */
function typedValues(slots: SlotsSchema, given: Record<string, unknown>): Record<string, unknown> {
  const texts = new Map<string, string[]>()
  for (const [name, value] of Object.entries(given)) {
    const all = [value].flat()
    if (all.every((each) => typeof each === 'string')) texts.set(name, all)
  }
  return { ...given, ...valuesOfTexts(slots, texts) }
}

/** Calls the query of a link with the values of the link. */
export function callLinked(
  app: CallParts & OpensLinks,
  caller: KeyCaller,
  input: Pick<Call, 'streamAs' | 'keepFile' | 'signal'>,
): CallAnswer | Promise<CallAnswer> {
  const { permissions, fixedParameters } = caller.key
  const [reached] = permissions
  const name = reached?.queries?.[0]
  const environment = reached?.environments[0]
  if (
    reached === undefined ||
    name === undefined ||
    environment === undefined ||
    !app.origins.opensLinks(reached.projectId)
  ) {
    throw new Failure('not_found', { message: 'Links to queries are turned off in the project of this one.' })
  }
  const { projectId } = reached
  const slots = app.deployments.find({ projectId, environment, name })?.version.compiled().names
  const lost = slots && Object.keys(fixedParameters).find((slot) => !slots.has(slot))
  if (lost !== undefined) {
    throw new Failure('conflict', {
      reason: 'link_outdated',
      message: `The query of this link has no slot ${lost} any more, so the link would show other rows. Ask for a new one.`,
    })
  }
  return call(app, caller, { ...input, name, projectId, environment, parameters: {}, fresh: false })
}
