import type { Outcome } from './calls.ts'
import type { Routing, SlotsSchema, Unexpressed } from '../shared/wire.ts'

/** What is asked beside the question itself, after a refusal that said what it lacks. */
export type More = { partial?: true; query_name?: string; parameters?: Record<string, unknown> }

/** What an answer, a refusal and a trial tell of a question, under the names they share. */
export type Told = {
  outcome: 'answered' | 'no_match' | 'ambiguous' | 'missing_slots' | 'unexpressed'
  message: string | null
  query: string | null
  parameters: Record<string, unknown>
  confidence: number | null
  unexpressed: Unexpressed
  /** The slots that it changed of the question before; null where it stands on its own. */
  changed: string[] | null
  /** What a repeated call must give, where something is missing. */
  missing: SlotsSchema | null
  routing: Routing
}

type Body = {
  outcome?: Told['outcome']
  reason?: Told['outcome']
  message?: string | null
  query_used?: string | null
  query?: string
  parameters?: Record<string, unknown>
  unexpressed?: Unexpressed
  follows?: { changed: string[] }
  schema?: Partial<SlotsSchema> | null
  routing?: Routing
}

/** Null for what is no word about a question, such as a key that is refused. */
export function toldBy({ body }: Outcome): Told | null {
  const told = (typeof body === 'object' && body !== null ? body : {}) as Body
  const { routing, schema } = told
  if (routing === undefined) return null
  return {
    outcome: told.outcome ?? told.reason ?? 'answered',
    message: told.message ?? null,
    query: told.query_used ?? told.query ?? null,
    parameters: told.parameters ?? routing.parameters,
    confidence: routing.confidence,
    unexpressed: told.unexpressed ?? routing.unexpressed,
    changed: told.follows?.changed ?? null,
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
