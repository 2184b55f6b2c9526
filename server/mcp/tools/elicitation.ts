import {
  CLIENT_CAPABILITIES_META_KEY,
  inputRequired,
  inputResponse,
  type ClientCapabilities,
  type ElicitRequestFormParams,
  type InputRequiredResult,
  type ServerContext,
} from '@modelcontextprotocol/server'
import type { Failure } from '../../failure.ts'
import type { JsonSchema } from '../../queries/index.ts'
import type { McpConnection } from '../session/connection.ts'

type Form = ElicitRequestFormParams['requestedSchema']
type Field = Form['properties'][string]

/** Under which the client answers. */
const formKey = 'slots'

/** Values that a person filled in when asked, or that they declined. */
export function filledIn({ mcpReq }: ServerContext): { values: Record<string, unknown>; isDeclined: boolean } {
  const response = inputResponse(mcpReq.inputResponses, formKey)
  if (response.kind !== 'elicit') return { values: {}, isDeclined: false }
  return { values: response.content ?? {}, isDeclined: response.action !== 'accept' }
}

/**
 * Asks a person for the slots that are missing, where the client can and a form can hold them; else undefined, and the
 * refusal says what is missing. `state` comes back with the answer: nothing is kept here meanwhile.
 */
export function askBack(
  connection: McpConnection,
  context: ServerContext,
  { failure, schema, state }: { failure: Failure; schema: Record<string, JsonSchema>; state?: string },
): InputRequiredResult | undefined {
  if (!connection.asksBack || failure.reason !== 'missing_slots' || !takesForms(context)) return undefined
  // A form of so many fields helps nobody.
  if (failure.more > 0) return undefined
  const missing = [...new Set((failure.details ?? []).map(({ field }) => field))]
  const fields = missing.map((name) => [name, fieldOf(schema[name] ?? {})] as const)
  if (fields.length === 0 || fields.some(([, field]) => field === undefined)) return undefined
  const requestedSchema = { type: 'object', properties: Object.fromEntries(fields), required: missing } as Form
  return inputRequired({
    inputRequests: { [formKey]: inputRequired.elicit({ message: failure.message, requestedSchema }) },
    ...(state !== undefined && { requestState: state }),
  })
}

function takesForms({ mcpReq }: ServerContext): boolean {
  const envelope: Record<string, unknown> = { ...mcpReq.envelope }
  const capabilities = envelope[CLIENT_CAPABILITIES_META_KEY] as ClientCapabilities | undefined
  const elicitation = capabilities?.elicitation
  if (elicitation === undefined) return false
  return 'form' in elicitation || Object.keys(elicitation).length === 0
}

/** A slot as a field of a form; undefined for what a form cannot hold. */
function fieldOf(schema: JsonSchema): Field | undefined {
  const { type, title, description, enum: choices, format, minimum, maximum, items } = schema
  const about = { ...(title !== undefined && { title }), ...(description !== undefined && { description }) }
  if (type === 'boolean') return { type, ...about } as Field
  if (type === 'integer' || type === 'number') {
    if (choices !== undefined) return undefined
    return {
      type,
      ...about,
      ...(minimum !== undefined && { minimum }),
      ...(maximum !== undefined && { maximum }),
    } as Field
  }
  if (type === 'string') {
    const isKnown = format === 'date' || format === 'date-time'
    return { type, ...about, ...(choices !== undefined && { enum: choices }), ...(isKnown && { format }) } as Field
  }
  const choice = items as JsonSchema | undefined
  if (type !== 'array' || choice?.['type'] !== 'string' || choice['enum'] === undefined) return undefined
  return { type, ...about, minItems: 1, items: { type: 'string', enum: choice['enum'] } } as Field
}
