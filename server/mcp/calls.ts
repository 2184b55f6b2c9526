import type {
  CallToolRequestParams,
  CallToolResult,
  InputRequiredResult,
  ListToolsResult,
  ServerContext,
} from '@modelcontextprotocol/server'
import { Failure } from '../failure.ts'
import { call, contractOf, tellRefusal, versionFor, type CallAnswer, type RunAnswer } from '../queries/index.ts'
import { ask, completenessOf, roundShare, type Decision } from '../questions/index.ts'
import { answeredResult, partOf } from './tools/answers.ts'
import type { McpConnection } from './session/connection.ts'
import { askBack, filledIn } from './tools/elicitation.ts'
import { askedQuestion, askTool, calledQuery, searchQueries, searchTools } from './tools/own-tools.ts'
import { tellProgress } from './session/progress.ts'
import { areTooMany, describeTools, findQueryTool, queryTools, type ToolParts } from './tools/query-tools.ts'
import { mcpFailure, refusedResult } from './refusals.ts'

export type ToolCallParts = Parameters<typeof ask>[0] & ToolParts

/** One call of a tool: what is called, and what stops it. */
export type ToolCall = { params: CallToolRequestParams; context: ServerContext; signal: AbortSignal }

type Outcome = CallToolResult | InputRequiredResult

export async function listTools(app: ToolCallParts, connection: McpConnection): Promise<ListToolsResult> {
  const tools = areTooMany(app, connection) ? searchTools() : await describeTools(app, connection)
  return { tools: [askTool(connection), ...tools] }
}

/** Calls a tool. Whatever is wrong with the call is in its answer, where the model that made it can read it. */
export async function callTool(app: ToolCallParts, connection: McpConnection, toolCall: ToolCall): Promise<Outcome> {
  const stopTelling = tellProgress(toolCall)
  try {
    if (connection.refusal !== null) throw connection.refusal
    return await callNamed(app, connection, toolCall)
  } catch (error) {
    const failure = mcpFailure(app, error)
    // A refusal that a verb has recorded is not recorded again.
    tellRefusal(app, connection.caller, { ...connection, entry: 'tool', name: null, error: failure })
    return refusedResult(failure, connection, toolCall.params.name)
  } finally {
    stopTelling()
  }
}

function callNamed(app: ToolCallParts, connection: McpConnection, toolCall: ToolCall): Promise<Outcome> {
  const { name, arguments: given = {} } = toolCall.params
  if (name === 'ask') return callAsk(app, connection, { ...toolCall, given })
  if (name === 'list_queries') return listQueries(app, connection, given)
  if (name === 'call_query') {
    const { name: query, parameters } = calledQuery(given)
    return callQuery(app, connection, { ...toolCall, tool: query, given: parameters })
  }
  return callQuery(app, connection, { ...toolCall, tool: name, given })
}

type Given = ToolCall & { given: Record<string, unknown> }

async function listQueries(
  app: ToolCallParts,
  connection: McpConnection,
  given: Record<string, unknown>,
): Promise<Outcome> {
  const found = searchQueries(await queryTools(app, connection), given)
  // No query is called: there is nothing to record.
  connection.caller.isRecorded = true
  return { content: [{ type: 'text', text: JSON.stringify(found) }], structuredContent: found }
}

async function callQuery(
  app: ToolCallParts,
  connection: McpConnection,
  input: Given & { tool: string },
): Promise<Outcome> {
  const { caller, environment } = connection
  const place = findQueryTool(app, connection, input.tool)
  const filled = filledIn(input.context)
  try {
    const answered = await call(app, caller, {
      ...place,
      environment,
      entry: 'tool',
      parameters: { ...input.given, ...filled.values },
      fresh: false,
      signal: () => input.signal,
    })
    return answeredResult({ ...(await partOf(app, connection, { answered: whole(answered), from: 0 })) })
  } catch (error) {
    return await askForMissing(app, connection, { ...input, error, query: place, isDeclined: filled.isDeclined })
  }
}

async function callAsk(app: ToolCallParts, connection: McpConnection, input: Given): Promise<Outcome> {
  const { caller, environment } = connection
  const asked = askedQuestion(connection, input.given)
  const filled = filledIn(input.context)
  const parameters = { ...asked.parameters, ...filled.values }
  try {
    const { decision, answer } = await ask(app, caller, {
      question: asked.query,
      projectId: asked.project_id,
      environment,
      queryName: asked.query_name ?? queryAskedBackFor(input.context),
      parameters,
      timeZone: asked.time_zone,
      explain: false,
      completeness: completenessOf({ ...asked, parameters }),
      follows: asked.follows,
      fresh: false,
      signal: () => input.signal,
    })
    const answered = whole(answer)
    const part = await partOf(app, connection, { answered, from: 0 })
    return answeredResult({ ...understood(connection, decision, answered), ...part }, caveatOf(decision))
  } catch (error) {
    const query = { projectId: asked.project_id, name: usedIn(error) }
    return await askForMissing(app, connection, { ...input, error, query, isDeclined: filled.isDeclined })
  }
}

/** Reading of the question, and the words that were left aside. */
function understood({ caller }: McpConnection, decision: Decision, { name, parameters }: RunAnswer) {
  const { confidence, unused, unexpressed } = decision.routing.explanation
  const { changed } = decision
  return {
    query_used: name,
    parameters,
    confidence: roundShare(confidence),
    ...(changed !== undefined && { follows: { changed } }),
    ...(unexpressed.length > 0 && { unexpressed }),
    ...(unused.length > 0 && { unused: unused.map(({ text }) => text) }),
    request_id: caller.requestId,
  }
}

/** The first line of an answer that may leave something out: a model reads it before the rows. */
function caveatOf({ routing: { explanation } }: Decision): string | null {
  const left = [...new Set([...explanation.unexpressed, ...explanation.unused].map(({ text }) => `“${text}”`))]
  return left.length === 0 ? null : `This answer may leave out ${left.join(', ')}. Say so when you use it.`
}

type Missing = ToolCall & {
  error: unknown
  query: { projectId: string; name: string | undefined }
  isDeclined: boolean
}

/** Where slots are missing and the client can ask for them, it is asked to; everything else stays the refusal it is. */
async function askForMissing(app: ToolCallParts, connection: McpConnection, missing: Missing): Promise<Outcome> {
  const { error, context, query, isDeclined } = missing
  const failure = mcpFailure(app, error)
  const { projectId, name } = query
  const { environment } = connection
  const deployment = name === undefined ? undefined : app.deployments.find({ projectId, environment, name })
  if (deployment === undefined) throw failure
  if (isDeclined) {
    const message = `${failure.message} Whoever was asked for it declined.`
    const { reason, details } = failure
    throw reason === 'missing_slots'
      ? new Failure('invalid_query', { reason: 'missing_slots', message, ...(details !== undefined && { details }) })
      : failure
  }
  const version = versionFor(deployment, connection.caller.key.id)
  const schema = contractOf({ name: deployment.name, version }).input.properties
  const asked = askBack(connection, context, { failure, schema, state: deployment.name })
  if (asked === undefined) throw failure
  return asked
}

/** The client brings back which query was meant. It says no more than `query_name` could, so nothing guards it. */
function queryAskedBackFor({ mcpReq }: ServerContext): string | undefined {
  const state = mcpReq.requestState()
  return typeof state === 'string' && state !== '' ? state : undefined
}

function usedIn(error: unknown): string | undefined {
  const name = error instanceof Failure ? error.fields?.['query_used'] : undefined
  return typeof name === 'string' ? name : undefined
}

/** Without a format to stream in, a call answers in one piece. */
export function whole(answer: CallAnswer): RunAnswer {
  if ('chunks' in answer || 'file' in answer) throw new Failure('internal_error')
  return answer
}
