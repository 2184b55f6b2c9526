import {
  ResourceNotFoundError,
  type ListResourcesResult,
  type ListResourceTemplatesResult,
  type ReadResourceResult,
  type Resource,
} from '@modelcontextprotocol/server'
import type { ProjectDirectory } from '../access/index.ts'
import type { Catalogs } from '../data/index.ts'
import { Failure } from '../failure.ts'
import { jsonInPieces } from '../flow/index.ts'
import { call, callableQueries, describeProject } from '../queries/index.ts'
import { partOf, withoutHidden } from './tools/answers.ts'
import { whole, type ToolCallParts } from './calls.ts'
import { projectsOf, type McpConnection } from './session/connection.ts'
import {
  freshnessUri,
  openapiUri,
  parseUri,
  rowsTemplate,
  rowsUri,
  tableUri,
  type ResourceUri,
} from './tools/resource-uris.ts'

export type ResourceParts = ToolCallParts & { catalogs: Catalogs; projects: ProjectDirectory }

const json = 'application/json'
const pageItems = 100

/** The OpenAPI document of each project, and the tables that its queries read. */
export function listResources(
  app: ResourceParts,
  connection: McpConnection,
  cursor: string | undefined,
): ListResourcesResult {
  const { environment } = connection
  const from = cursor === undefined ? 0 : pageStart(cursor)
  const all = projectsOf(app, connection).flatMap((projectId): Resource[] => {
    const place = { projectId, environment }
    const document = {
      uri: openapiUri(place),
      name: 'openapi.json',
      title: `OpenAPI of ${environment}`,
      description: 'The deployed queries as an OpenAPI document.',
      mimeType: json,
    }
    const tables = [...tablesRead(app, connection, projectId).keys()].sort().map((table) => ({
      uri: tableUri(place, table),
      name: table,
      title: `Table ${table}`,
      description: 'Its columns that the queries read, and when its data was fetched.',
      mimeType: json,
    }))
    const freshness = {
      uri: freshnessUri(place),
      name: 'freshness',
      title: `Freshness of ${environment}`,
      description: 'When the data of each table was fetched, and whether a load was cut short.',
      mimeType: json,
    }
    return [document, freshness, ...tables]
  })
  const page = all.slice(from, from + pageItems)
  return { resources: page, ...(from + pageItems < all.length && { nextCursor: String(from + pageItems) }) }
}

export function listTemplates(): ListResourceTemplatesResult {
  return {
    resourceTemplates: [
      {
        uriTemplate: rowsTemplate,
        name: 'rows',
        title: 'Rows of a result',
        description: 'The rows of a query from one on, where a tool had to leave some out. Its answer has the address.',
        mimeType: json,
      },
    ],
  }
}

export async function readResource(
  app: ResourceParts,
  connection: McpConnection,
  { uri, signal }: { uri: string; signal: AbortSignal },
): Promise<ReadResourceResult> {
  const found = parseUri(uri)
  if (found === undefined || !isInScope(app, connection, found)) throw new ResourceNotFoundError(uri.slice(0, 1_000))
  const value = await valueOf(app, connection, { found, signal })
  if (value === undefined) throw new ResourceNotFoundError(uri.slice(0, 1_000))
  return { contents: [{ uri, mimeType: json, text: withoutHidden(await jsonInPieces(value)) }] }
}

/** A resource outside the client's reach looks like one that does not exist. */
function isInScope(app: ResourceParts, connection: McpConnection, { projectId, environment }: ResourceUri): boolean {
  return environment === connection.environment && projectsOf(app, connection).includes(projectId)
}

function valueOf(
  app: ResourceParts,
  connection: McpConnection,
  { found, signal }: { found: ResourceUri; signal: AbortSignal },
): Promise<unknown> {
  const { caller, baseUrl } = connection
  if (found.kind === 'openapi') return describeProject(app, caller, { ...found, serverUrl: baseUrl })
  if (found.kind === 'table') return describeTable(app, connection, found)
  if (found.kind === 'freshness') return describeFreshness(app, connection, found)
  return readRows(app, connection, { found, signal })
}

/** Columns of each table that the queries within reach read: a key shows no more than its answers could. */
function tablesRead(
  app: ResourceParts,
  { caller, environment }: McpConnection,
  projectId: string,
): Map<string, ReadonlySet<string>> {
  const tables = new Map<string, Set<string>>()
  for (const { version } of callableQueries(app, caller, { projectId, environment })) {
    for (const [table, columns] of Object.entries(version.tables)) {
      const known = tables.get(table) ?? new Set()
      tables.set(table, known)
      for (const column of columns) known.add(column)
    }
  }
  return tables
}

async function describeTable(
  app: ResourceParts,
  connection: McpConnection,
  { projectId, table: name }: Extract<ResourceUri, { kind: 'table' }>,
): Promise<unknown> {
  const read = tablesRead(app, connection, projectId).get(name)
  if (read === undefined) return undefined
  const catalog = await app.catalogs.get(projectId)
  const columns = catalog.tables.find((table) => table.name === name)?.columns ?? []
  return {
    table: name,
    columns: columns
      .filter((column) => read.has(column.name))
      .map((column) => ({ name: column.name, type: column.type })),
    as_of: catalog.asOf.get(name)?.toISOString() ?? null,
    truncated: catalog.truncated.has(name),
  }
}

/** All tables at once, the oldest first: for a model that is about to speak of “today”. */
async function describeFreshness(
  app: ResourceParts,
  connection: McpConnection,
  { projectId }: Extract<ResourceUri, { kind: 'freshness' }>,
): Promise<unknown> {
  const catalog = await app.catalogs.get(projectId)
  const nowMs = app.now()
  const tables = [...tablesRead(app, connection, projectId).keys()].map((table) => {
    const asOf = catalog.asOf.get(table)
    return {
      table,
      as_of: asOf?.toISOString() ?? null,
      age_seconds: asOf === undefined ? null : Math.max(0, Math.round((nowMs - asOf.getTime()) / 1000)),
      truncated: catalog.truncated.has(table),
    }
  })
  return {
    now: new Date(nowMs).toISOString(),
    tables: tables.toSorted((one, other) => (other.age_seconds ?? Infinity) - (one.age_seconds ?? Infinity)),
  }
}

async function readRows(
  app: ResourceParts,
  connection: McpConnection,
  { found, signal }: { found: Extract<ResourceUri, { kind: 'rows' }>; signal: AbortSignal },
): Promise<unknown> {
  const { projectId, environment, name, version, parameters, from } = found
  const answered = await call(app, connection.caller, {
    projectId,
    environment,
    name,
    version,
    entry: 'tool',
    parameters,
    fresh: false,
    signal: () => signal,
  })
  const part = await partOf(app, connection, { answered: whole(answered), from })
  return { uri: rowsUri(found, { from, parameters }), from, ...part }
}

function pageStart(cursor: string): number {
  if (/^\d{1,9}$/.test(cursor)) return Number(cursor)
  throw new Failure('invalid_query', {
    reason: 'invalid_field',
    message: 'cursor is the nextCursor of the page before.',
  })
}
