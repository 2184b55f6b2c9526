import { ProtocolError, ProtocolErrorCode, type CallToolResult } from '@modelcontextprotocol/server'
import { asDiskFailure } from '../process/index.ts'
import { envelopeOf, Failure } from '../failure.ts'
import type { Observe } from '../observe.ts'
import { asStoreFailure } from '../store/index.ts'
import type { McpConnection } from './session/connection.ts'
import { withoutHidden } from './tools/answers.ts'

/** Failure that the caller sees for an error. An unexpected one goes to the log alone. */
export function mcpFailure(app: { observe: Observe }, error: unknown): Failure {
  if (error instanceof Failure) return error
  if (error instanceof Error && error.name === 'AbortError') {
    return new Failure('cancelled', { message: 'The call was cancelled and the query stopped.' })
  }
  const known = asDiskFailure(error) ?? asStoreFailure(error)
  if (known !== undefined) return known
  app.observe({ kind: 'fault', where: 'mcp', error })
  return new Failure('internal_error', { cause: error })
}

/**
 * A refusal as a tool's answer: a sentence for the model, and the envelope of every other call for programs. Structured
 * content must be what the schema of the tool says: only `ask` has room for a refusal there.
 */
export function refusedResult(
  failure: Failure,
  { caller }: Pick<McpConnection, 'caller'>,
  tool: string,
): CallToolResult {
  const envelope = envelopeOf(failure, caller.requestId)
  return {
    ...(tool === 'ask' && { structuredContent: envelope }),
    isError: true,
    content: [
      { type: 'text', text: withoutHidden(sentenceOf(failure)) },
      { type: 'text', text: withoutHidden(JSON.stringify(envelope)) },
    ],
  }
}

function sentenceOf({ message, retryAfterSeconds }: Failure): string {
  if (retryAfterSeconds === undefined || message.includes(`${retryAfterSeconds} s`)) return message
  return `${message} Try again in ${retryAfterSeconds} s.`
}

/** Where the protocol has no room for a refusal but its own error. */
export function protocolError(failure: Failure, { caller }: Pick<McpConnection, 'caller'>): ProtocolError {
  const isOurs = failure.code === 'internal_error'
  const code = isOurs ? ProtocolErrorCode.InternalError : ProtocolErrorCode.InvalidParams
  return new ProtocolError(code, failure.message, envelopeOf(failure, caller.requestId))
}
