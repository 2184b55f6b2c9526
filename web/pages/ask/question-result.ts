import type { Outcome } from '../query/call/calls.ts'
import type { Routing, SlotsSchema, Unexpressed } from '../deploy/shared/wire.ts'

/** Fields sent beside the question itself, after a refusal that named them. */
export type More = { partial?: true; query_name?: string; parameters?: Record<string, unknown> }

/** Facts about a question in an answer, a refusal and a trial, under the names they share. */
export type QuestionResult = {
  outcome: 'answered' | 'no_match' | 'ambiguous' | 'missing_slots' | 'unexpressed' | 'period_end' | 'unsure'
  message: string | null
  query: string | null
  parameters: Record<string, unknown>
  confidence: number | null
  unexpressed: Unexpressed
  /** The slots that it changed of the question before; null where it stands on its own. */
  changed: string[] | null
  /** A question before it was named, and it stood on its own anyway. */
  standsAlone: boolean
  /** The fields that a repeated call must give, where something is missing. */
  missing: SlotsSchema | null
  routing: Routing
}

type Body = {
  outcome?: QuestionResult['outcome']
  reason?: QuestionResult['outcome']
  message?: string | null
  query_used?: string | null
  query?: string
  parameters?: Record<string, unknown>
  unexpressed?: Unexpressed
  follows?: { changed: string[] | null }
  schema?: Partial<SlotsSchema> | null
  routing?: Routing
}

/** Null for what is no word about a question, such as a key that is refused. */
export function resultOf({ body }: Outcome): QuestionResult | null {
  const fields = (typeof body === 'object' && body !== null ? body : {}) as Body
  const { routing, schema } = fields
  if (routing === undefined) return null
  return {
    outcome: fields.outcome ?? fields.reason ?? 'answered',
    message: fields.message ?? null,
    query: fields.query_used ?? fields.query ?? null,
    parameters: fields.parameters ?? routing.parameters,
    confidence: routing.confidence,
    unexpressed: fields.unexpressed ?? routing.unexpressed,
    changed: fields.follows?.changed ?? null,
    standsAlone: fields.follows?.changed === null,
    missing:
      schema?.properties === undefined
        ? null
        : {
            type: 'object',
            properties: schema.properties,
            required: schema.required ?? [],
            additionalProperties: false,
          },
    routing,
  }
}

export function requestIdOf({ headers }: Outcome): string | null {
  return headers.find(([name]) => name === 'x-request-id')?.[1] ?? null
}
