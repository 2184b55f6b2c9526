import { fixedLimits } from '../../../api/limits.ts'
import type { CallToolResult } from '@modelcontextprotocol/server'
import type { Config } from '../../config.ts'
import { slotParameter, type JsonSchema, type RunAnswer } from '../../queries/index.ts'
import type { McpConnection } from '../session/connection.ts'
import { rowsUri } from './resource-uris.ts'
import { sliceRows } from './row-slices.ts'

type Parts = { config: Pick<Config, 'limits'> }

/** The rows of a result from one on, and what a reader must know of them. */
export type RowsPart = {
  data: unknown[]
  row_count: number
  truncated: boolean
  version: number
  as_of: string | null
  execution_time_ms: number
  /** The resource that holds the rows after these. */
  rest?: string
  /** Where all of it can be read, in other formats too. */
  read_all?: string
  truncated_source?: true
} & Partial<NonNullable<RunAnswer['unknown']>>

/** Schema of a result, whatever its rows are. */
export function rowsSchema(row: JsonSchema): { properties: Record<string, JsonSchema>; required: string[] } {
  return {
    properties: {
      data: { type: 'array', items: row },
      row_count: { type: 'integer', description: 'Rows of the whole result.' },
      truncated: { type: 'boolean', description: 'Whether rows are missing here.' },
      version: { type: 'integer', description: 'Of the query.' },
      as_of: { type: ['string', 'null'], description: 'When the oldest data that was read was fetched.' },
      execution_time_ms: { type: 'integer' },
      rest: { type: 'string', description: 'The resource that holds the rows after these.' },
      read_all: { type: 'string', description: 'Where all rows can be read by GET, with the same API key.' },
      truncated_source: {
        type: 'boolean',
        description: 'A table that was read was itself not loaded whole.',
      },
      warnings: {
        type: 'array',
        items: { type: 'object' },
        description: 'Values that no row has, with the nearest ones: there are no rows for that reason.',
      },
      more_warnings: { type: 'integer', description: 'How many there are beside those in warnings.' },
    },
    required: ['data', 'row_count', 'truncated', 'version', 'as_of', 'execution_time_ms'],
  }
}

/** As many rows from `from` on as an answer to a client may hold; what is left out is named. */
export async function partOf(
  { config: { limits } }: Parts,
  connection: McpConnection,
  { answered, from }: { answered: RunAnswer; from: number },
): Promise<RowsPart> {
  const { answer, unknown } = answered
  const { rows, count } = await sliceRows(answer.rows, {
    from,
    maxRows: limits.mcpAnswerRows,
    maxBytes: fixedLimits.mcpAnswerBytes.value,
  })
  const next = from + count
  const isCut = next < answer.rowCount
  const parameters = ownParameters(connection, answered)
  return {
    data: rows,
    row_count: answer.rowCount,
    truncated: isCut || answer.truncated,
    version: answer.version,
    as_of: answer.asOf?.toISOString() ?? null,
    execution_time_ms: answer.elapsedMs,
    // Where not even one row fits, the resource would not hold it either.
    ...(isCut && count > 0 && { rest: rowsUri(placeOf(connection, answered), { from: next, parameters }) }),
    ...((isCut || answer.truncated) && { read_all: addressOf(connection, answered, parameters) }),
    ...(answer.source !== null && { truncated_source: true as const }),
    ...unknown,
  }
}

/** A result as a tool gives it: for programs, as text for models, and with a link to what is left out. */
export function answeredResult(
  structured: RowsPart & Record<string, unknown>,
  caveat: string | null = null,
): CallToolResult {
  const { rest, read_all: readAll, data, row_count: rowCount } = structured
  const content: CallToolResult['content'] = caveat === null ? [] : [{ type: 'text', text: caveat }]
  content.push({ type: 'text', text: withoutHidden(JSON.stringify(structured)) })
  if (structured.truncated) {
    const more = rest === undefined ? '' : ' The resource that follows holds the next ones.'
    const text = `These are ${data.length} of ${rowCount} rows or more.${more} All of them: GET ${readAll} with the same API key (format=csv, ndjson, parquet or arrow).`
    content.push({ type: 'text', text })
  }
  if (rest !== undefined) {
    content.push({
      type: 'resource_link',
      uri: rest,
      name: `rows from ${data.length}`,
      description: `The rows of this result from row ${data.length} on.`,
      mimeType: 'application/json',
    })
  }
  return { content, structuredContent: structured }
}

/**
 * JSON in which every character can be seen: rows of an API may hold text that only a model would read, or that turns
 * what a person reads around. Whoever parses it has the same values.
 */
export function withoutHidden(json: string): string {
  return json.replaceAll(hidden, (found) =>
    Array.from({ length: found.length }, (_, at) => `\\u${found.charCodeAt(at).toString(16).padStart(4, '0')}`).join(
      '',
    ),
  )
}

/** Control characters of C1, directions, joiners, spaces without width, notes, and the letters of tags. */
const hidden =
  /[\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e0fff}]/gu

function placeOf({ environment }: McpConnection, { projectId, name, answer }: RunAnswer) {
  return { projectId, environment, name, version: answer.version }
}

/** Values that the key fixes are not the caller's to send again. */
function ownParameters({ caller }: McpConnection, { parameters }: RunAnswer): Record<string, unknown> {
  const { fixedParameters } = caller.key
  return Object.fromEntries(
    Object.entries(parameters).filter(([name, value]) => value !== null && !Object.hasOwn(fixedParameters, name)),
  )
}

function addressOf(
  { baseUrl, environment }: McpConnection,
  { projectId, name }: RunAnswer,
  parameters: Record<string, unknown>,
): string {
  const url = new URL(`/v1/queries/${name}`, baseUrl)
  url.searchParams.set('project_id', projectId)
  url.searchParams.set('environment', environment)
  for (const [slot, value] of Object.entries(parameters)) {
    for (const item of [value].flat()) url.searchParams.append(slotParameter(slot), String(item))
  }
  return url.href
}
