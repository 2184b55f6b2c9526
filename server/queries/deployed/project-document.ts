import { z } from 'zod'
import { errorEnvelope } from '../../../api/envelope.ts'
import { answer } from '../../../api/queries.ts'
import {
  permittedQueries,
  requireRole,
  resolveScope,
  type Caller,
  type KeyCaller,
  type ProjectDirectory,
} from '../../access/index.ts'
import type { Catalogs } from '../../data/index.ts'
import { closest, Failure } from '../../failure.ts'
import { mapInPieces } from '../../flow/index.ts'
import type { Database } from '../../store/index.ts'
import type { JsonSchema } from '../slots/column-schema.ts'
import { withListedValues } from './listed-values.ts'
import { contractOf, withBounds, withoutSlots, type QueryContract } from './contract.ts'
import { boundsOfAll, type BoundParts } from '../slots/read-bounds.ts'
import { versionFor, type Deployment } from './deployment-index.ts'
import type { Deployments } from './deployments.ts'
import { slotParameter } from '../slots/slot-values.ts'

type Parts = BoundParts & {
  store: Database
  projects: ProjectDirectory
  deployments: Deployments
  catalogs: Catalogs
}

/** The queries that a key may call in an environment of a project, by name. */
export function callableQueries(
  app: { deployments: Deployments },
  { key }: Pick<KeyCaller, 'key'>,
  place: { projectId: string; environment: string },
): Deployment[] {
  const names = permittedQueries(key.permissions, place)
  const all = app.deployments.list(place.projectId, place.environment)
  const reached = names === null ? all : all.filter(({ name }) => names.includes(name))
  return reached.toSorted((one, other) => (one.name < other.name ? -1 : 1))
}

/** The contracts of what answers a key, without the slots that it fixes. */
export async function contractsFor(
  app: BoundParts & { deployments: Deployments },
  caller: Pick<KeyCaller, 'key'>,
  place: { projectId: string; environment: string },
): Promise<QueryContract[]> {
  const fixed = new Set(Object.keys(caller.key.fixedParameters))
  const called = callableQueries(app, caller, place).map((deployment) => {
    return { name: deployment.name, version: versionFor(deployment, caller.key.id) }
  })
  const contracts = await boundedContracts(app, place.projectId, called)
  return mapInPieces(contracts, (contract) => withoutSlots(contract, fixed))
}

async function boundedContracts(
  app: BoundParts,
  projectId: string,
  deployed: Array<Pick<Deployment, 'name' | 'version'>>,
): Promise<QueryContract[]> {
  const read = await boundsOfAll(
    app,
    projectId,
    deployed.map(({ version }) => version),
  )
  const numbered = deployed.map((each, at) => ({ each, bounds: read[at]?.bounds ?? [] }))
  return mapInPieces(numbered, ({ each, bounds }) => withBounds(contractOf(each), bounds))
}

type Wanted = { projectId: string; environment?: string | undefined; serverUrl: string }

/** The OpenAPI document of what is deployed to an environment: all of it for a member, what it reaches for a key. */
export async function describeProject(
  app: Parts,
  caller: Caller | KeyCaller,
  { projectId, environment: wanted, serverUrl }: Wanted,
): Promise<JsonSchema> {
  if (caller.kind === 'key') {
    const { environment } = resolveScope(caller.key, { projectId, environment: wanted })
    const all = await contractsFor(app, caller, { projectId, environment })
    const contracts = await listedFor(app, caller, { projectId, contracts: all })
    return writeDocument(await placeOf(app, { projectId, environment }), { contracts, serverUrl })
  }
  await requireRole(app, caller, projectId, 'viewer')
  const environment = wanted ?? 'production'
  const place = await placeOf(app, { projectId, environment })
  const contracts = await boundedContracts(app, projectId, app.deployments.list(projectId, environment))
  contracts.sort((one, other) => (one.name < other.name ? -1 : 1))
  // A link that is shared shows no data.
  const isMember = caller.kind !== 'system'
  const shown = isMember ? await withListedValues(app, projectId, contracts) : contracts
  return writeDocument(place, { contracts: shown, serverUrl })
}

/** Contracts with the values of their slots; without, for a key with fixed values: other callers' rows are not its own. */
export async function listedFor(
  app: { catalogs: Catalogs },
  { key }: Pick<KeyCaller, 'key'>,
  { projectId, contracts }: { projectId: string; contracts: QueryContract[] },
): Promise<QueryContract[]> {
  return Object.keys(key.fixedParameters).length > 0 ? contracts : withListedValues(app, projectId, contracts)
}

type NamedPlace = { projectId: string; projectName: string; environment: string }

async function placeOf(
  { projects }: Pick<Parts, 'projects'>,
  { projectId, environment }: { projectId: string; environment: string },
): Promise<NamedPlace> {
  const [project] = await projects.list({ among: [projectId], limit: 1 })
  const environments = (await projects.environmentsOf([projectId])).map(({ name }) => name)
  if (project === undefined) throw new Failure('not_found', { message: 'There is no such project.' })
  if (!environments.includes(environment)) {
    const near = closest(environment, environments)
    const hint = near === undefined ? `It has ${environments.join(', ')}.` : `Perhaps you meant ${near}.`
    throw new Failure('not_found', { message: `The project has no such environment. ${hint}` })
  }
  return { projectId, projectName: project.name, environment }
}

async function writeDocument(
  { projectId, projectName, environment }: NamedPlace,
  { contracts, serverUrl }: { contracts: QueryContract[]; serverUrl: string },
): Promise<JsonSchema> {
  const schemas = (await mapInPieces(contracts, (contract) => Object.entries(schemasOf(contract)))).flat()
  const place = { projectId, environment }
  const paths = await mapInPieces(contracts, (contract) => [`/v1/queries/${contract.name}`, pathOf(contract, place)])
  return {
    openapi: '3.1.0',
    info: {
      title: `${projectName}, ${environment}`,
      version: '1',
      description:
        'The queries that are deployed there. Each can be called by POST with its slots as a JSON object, or by GET with its slots in the address.',
    },
    servers: [{ url: serverUrl }],
    security: [{ api_key: [] }],
    paths: Object.fromEntries(paths),
    components: {
      securitySchemes: {
        api_key: { type: 'http', scheme: 'bearer', description: 'An API key: slc_live_… or slc_test_…' },
      },
      schemas: Object.fromEntries([...schemas, ['Error', errorSchema]]),
    },
  }
}

/** Under its own name here, so without the one that it has in the document of the service. */
const { $schema: _draft, ...errorSchema } = z.toJSONSchema(z.looseObject(errorEnvelope.shape))
const { $schema: _version, ...answerSchema } = z.toJSONSchema(z.looseObject(answer.omit({ meta: true }).shape))

const ref = (name: string): JsonSchema => ({ $ref: `#/components/schemas/${name}` })

/** Names of queries cannot end in two of these words at once, so no two schemas share a name. */
function schemasOf({ name, input, output }: QueryContract): Record<string, JsonSchema> {
  return {
    [`${name}_slots`]: input,
    [`${name}_row`]: output,
    [`${name}_answer`]: {
      ...answerSchema,
      properties: { ...answerSchema.properties, data: { type: 'array', items: ref(`${name}_row`) } },
    },
  }
}

const refusals: Record<number, string> = {
  400: 'Malformed, or slots are missing, unknown or not as expected.',
  401: 'The API key is missing or not good.',
  403: 'The API key does not reach this.',
  404: 'No query of that name is deployed there.',
  409: 'Several projects have a query of that name.',
  413: 'The body or the result is too large.',
  429: 'Too many calls; `retry_after` says how long to wait.',
  500: 'A failure of the service.',
  503: 'Busy or starting; try again.',
  504: 'The query ran past its limit.',
}

function pathOf(contract: QueryContract, place: { projectId: string; environment: string }): JsonSchema {
  const { name, title, description, input, examples } = contract
  const about = { summary: title, description: describedBy(contract), tags: ['queries'] }
  const responses = {
    200: { description: 'The rows.', content: { 'application/json': { schema: ref(`${name}_answer`) } } },
    ...Object.fromEntries(
      Object.entries(refusals).map(([status, meaning]) => [
        status,
        { description: meaning, content: { 'application/json': { schema: ref('Error') } } },
      ]),
    ),
  }
  const shown = examples.slice(0, maxExamples).map(({ question, parameters }, at) => {
    return [`example_${at + 1}`, { summary: question, value: parameters }]
  })
  const body = { schema: ref(`${name}_slots`), ...(shown.length > 0 && { examples: Object.fromEntries(shown) }) }
  return {
    ...(description === '' ? {} : { description }),
    post: {
      operationId: `call_${name}`,
      ...about,
      parameters: addressOf(place),
      requestBody: { required: input.required.length > 0, content: { 'application/json': body } },
      responses,
    },
    get: {
      operationId: `read_${name}`,
      ...about,
      parameters: [...addressOf(place), ...slotParameters(contract)],
      responses,
    },
  }
}

const maxExamples = 10

/** A key that reaches several places is told by these which one is meant: a client sends them without being asked. */
function addressOf({ projectId, environment }: { projectId: string; environment: string }): JsonSchema[] {
  return [
    { name: 'project_id', in: 'query', schema: { type: 'string', default: projectId } },
    { name: 'environment', in: 'query', schema: { type: 'string', default: environment } },
  ]
}

/** A slot that is called like a word of the address is sent as `slot.<name>`. */
function slotParameters({ input, examples }: QueryContract): JsonSchema[] {
  const [first] = examples
  return Object.entries(input.properties).map(([name, schema]) => {
    const example = first?.parameters[name]
    return {
      name: slotParameter(name),
      in: 'query',
      required: input.required.includes(name),
      ...(typeof schema['description'] === 'string' && { description: schema['description'] }),
      schema,
      ...(example !== undefined && example !== null && { example }),
    }
  })
}

/** The description with a few of the questions that the query answers. */
export function describedBy({ description, examples }: QueryContract): string {
  const questions = examples.slice(0, 3).map(({ question }) => `“${question}”`)
  const answers = questions.length === 0 ? '' : `Answers questions such as ${questions.join(', ')}.`
  return [description, answers].filter((part) => part !== '').join('\n\n')
}
