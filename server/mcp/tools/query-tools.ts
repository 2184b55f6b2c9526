import type { Tool } from '@modelcontextprotocol/server'
import type { KeyCaller } from '../../access/index.ts'
import type { Config } from '../../config.ts'
import { closest, Failure } from '../../failure.ts'
import { mapInPieces } from '../../flow/index.ts'
import {
  callableQueries,
  contractsFor,
  describedBy,
  listedFor,
  type BoundParts,
  type QueryContract,
  type Deployments,
} from '../../queries/index.ts'
import { rowsSchema } from './answers.ts'
import { projectsOf, type McpConnection } from '../session/connection.ts'
import { toolName } from './tool-names.ts'

export type ToolParts = BoundParts & { deployments: Deployments; config: Pick<Config, 'limits'> } & Parameters<
    typeof listedFor
  >[0]

/** A deployed query as the client knows it. */
export type QueryTool = { tool: string; projectId: string; contract: QueryContract }

/** Nothing here changes anything, and the same call gives the same rows while the data is the same. */
export const readOnly = { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false }

/** The queries that are tools: an author may leave one out, which is then found by questions alone. */
export function toolQueries(
  app: { deployments: Deployments },
  caller: KeyCaller,
  place: { projectId: string; environment: string },
): ReturnType<typeof callableQueries> {
  return callableQueries(app, caller, place).filter(({ version }) => version.asTool !== false)
}

/** Everything that the client may call, by project and name. */
export async function queryTools(app: ToolParts, connection: McpConnection): Promise<QueryTool[]> {
  const { caller, environment } = connection
  const seesOne = connection.projectId !== undefined
  const found = projectsOf(app, connection).map(async (projectId) => {
    const shown = new Set(toolQueries(app, caller, { projectId, environment }).map(({ name }) => name))
    const all = (await contractsFor(app, caller, { projectId, environment })).filter(({ name }) => shown.has(name))
    const contracts = await listedFor(app, caller, { projectId, contracts: all })
    return contracts.map((contract) => ({ tool: toolName(contract.name, projectId, seesOne), projectId, contract }))
  })
  return (await Promise.all(found)).flat()
}

/** Whether there are more than a list of tools may hold. */
export function areTooMany(app: ToolParts, connection: McpConnection): boolean {
  const { caller, environment } = connection
  let count = 0
  for (const projectId of projectsOf(app, connection)) {
    count += toolQueries(app, caller, { projectId, environment }).length
    if (count > app.config.limits.mcpTools) return true
  }
  return false
}

/** The query behind the name of a tool. One that the key does not reach is the same as one that does not exist. */
export function findQueryTool(
  app: ToolParts,
  connection: McpConnection,
  name: string,
): { projectId: string; name: string } {
  const { caller, environment } = connection
  const seesOne = connection.projectId !== undefined
  const known: string[] = []
  for (const projectId of projectsOf(app, connection)) {
    for (const query of toolQueries(app, caller, { projectId, environment })) {
      const tool = toolName(query.name, projectId, seesOne)
      if (tool === name) return { projectId, name: query.name }
      known.push(tool)
    }
  }
  const near = closest(name, known)
  const hint = near === undefined ? 'The list of tools, or list_queries, tells which there are.' : `Perhaps ${near}.`
  throw new Failure('query_not_found', { message: `No such query is deployed to ${environment} here. ${hint}` })
}

/** As many as there may be, with others let in between. */
export async function describeTools(app: ToolParts, connection: McpConnection): Promise<Tool[]> {
  return mapInPieces(await queryTools(app, connection), describeTool)
}

function describeTool({ tool, contract }: QueryTool): Tool {
  const { title, input, output } = contract
  return {
    name: tool,
    title,
    description: toolDescription(contract),
    inputSchema: { ...input, type: 'object' } as Tool['inputSchema'],
    outputSchema: { type: 'object', ...rowsSchema(withoutFormats(output)) },
    annotations: { title, ...readOnly },
  }
}

const maxDescriptionChars = 2_000
const maxColumnsNamed = 40
const plainName = /^[\p{L}\p{M}\p{N}_.-]{1,64}$/u

/** Description that a model chooses by. */
function toolDescription(contract: QueryContract): string {
  // A name that an API has made up speaks to nobody here; the schema has them all.
  const columns = Object.keys(contract.output.properties).filter((name) => plainName.test(name))
  if (columns.length === 0) return describedBy(contract).slice(0, maxDescriptionChars)
  const named = columns.slice(0, maxColumnsNamed).join(', ')
  const rows = `Gives rows with ${named}${columns.length > maxColumnsNamed ? ', …' : ''}.`
  const about = describedBy(contract)
  return [about.slice(0, maxDescriptionChars), rows].filter((part) => part !== '').join('\n\n')
}

/**
 * Clients validate what a tool gives, and take a day of the year 12345 for no date: a whole answer would be lost for it.
 */
function withoutFormats<Schema>(schema: Schema): Schema {
  if (Array.isArray(schema)) return schema.map((each: unknown) => withoutFormats(each)) as Schema
  if (typeof schema !== 'object' || schema === null) return schema
  const { format, ...rest } = schema as Record<string, unknown>
  const supported = typeof format === 'string' ? rest : { ...rest, ...(format !== undefined && { format }) }
  return Object.fromEntries(Object.entries(supported).map(([key, value]) => [key, withoutFormats(value)])) as Schema
}
