import type { FastifyRequest } from 'fastify'
import { fixedLimits } from '../../../api/limits.ts'
import type { Config } from '../../config.ts'
import { Failure } from '../../failure.ts'
import { brokenBound, type JsonBounds } from '../../json-depth.ts'
import type { Http } from './http.ts'
import { parseInPieces, type PieceReading } from './json-pieces.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /**
     * The size of a body beyond the usual. `authored`: maps of any size, as people write them. `called`: lists of
     * values, which no schema looks into. `defined`: long lists, of whose items each is bounded like a body that is
     * authored; `checkedItems` looks at them one by one.
     */
    body?: 'authored' | 'called' | 'defined'
  }
}

const usual = { members: fixedLimits.bodyMembers.value, values: fixedLimits.bodyValues.value }
const depth = fixedLimits.bodyDepth.value
const bounds = {
  usual: { ...usual, depth },
  authored: { ...usual, depth, members: usual.values },
  called: { ...usual, depth, values: Infinity },
}

/**
 * Bodies are JSON, flat enough that whatever walks them afterwards cannot run out of stack, and with so few members that
 * whatever checks them holds up nobody. Without a credential they are short.
 */
export function acceptJsonOnly(http: Http, { bodyBytes }: Config['limits']): void {
  http.addHook('onRoute', (route) => {
    if (route.config?.door === 'open') route.bodyLimit = Math.min(bodyBytes, fixedLimits.openBodyBytes.value)
  })
  http.removeAllContentTypeParsers()
  const parseJson = http.getDefaultJsonParser('error', 'error')
  http.addContentTypeParser(
    'application/json',
    { parseAs: 'string' },
    async (request: FastifyRequest, body: string | Buffer): Promise<unknown> => {
      const text = body as string
      // A call that needs no body may still say it is JSON.
      if (text === '') return undefined
      const parse = (piece: string): unknown => parsed(parseJson, request, piece)
      const { body: size = 'usual' } = request.routeOptions.config
      if (size === 'defined') return parseInPieces(text, { parse, limits: limitsOfDefined(request) })
      assertWithin(request, text, bounds[size])
      return parseInPieces(text, { parse })
    },
  )
}

/** The value of a text, which the parser tells at once by calling back. */
function parsed(parse: ReturnType<Http['getDefaultJsonParser']>, request: FastifyRequest, text: string): unknown {
  let found: { error: Error | null; value?: unknown } = { error: new Error('not parsed') }
  void parse(request, text, (error, value) => void (found = { error, value }))
  if (found.error !== null) throw found.error
  return found.value
}

function limitsOfDefined(request: FastifyRequest): NonNullable<PieceReading['limits']> {
  const mostChars = fixedLimits.definedChars.value
  const mostValues = fixedLimits.definitionValues.value
  return {
    part(text) {
      const message = `The body has a member or an item of more than ${mostChars} characters.`
      if (text.length > mostChars) throw new Failure('payload_too_large', { message })
      assertWithin(request, text, bounds.authored, 'in one item')
    },
    whole({ parts, values }) {
      if (parts > usual.values) throw tooManyMembers(request, `${usual.values} in one list or object`)
      if (values > mostValues) throw tooManyMembers(request, `${mostValues} in all`)
    },
  }
}

/** Throws for a text that breaks a bound. */
function assertWithin(request: FastifyRequest, text: string, most: JsonBounds, where = 'in all'): void {
  const broken = brokenBound(text, most)
  if (broken === undefined) return
  if (broken !== 'depth') {
    throw tooManyMembers(request, `${most[broken]} ${broken === 'members' ? 'in one object' : where}`)
  }
  const message = `The body nests lists and objects deeper than ${most.depth} levels.`
  throw new Failure(codeFor(request), { reason: 'too_deep', message })
}

function tooManyMembers(request: FastifyRequest, most: string): Failure {
  const message = `The body has too many members: more than ${most}.`
  return new Failure(codeFor(request), { reason: 'too_many_members', message })
}

function codeFor({ routeOptions }: FastifyRequest): 'invalid_query' | 'invalid_request' {
  return routeOptions.config.door === 'query' ? 'invalid_query' : 'invalid_request'
}
