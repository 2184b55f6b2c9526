import { routing as routingSchema } from '../../../api/questions.ts'
import type { SlotsSchema } from '../../../api/slots.ts'
import { toWire } from '../../../api/wire-codec.ts'
import { Failure } from '../../failure.ts'
import type { Decision } from './decide.ts'
import type { Explanation } from '../../router/index.ts'

type Refused = Exclude<Decision['routing'], { outcome: 'answer' }>

/**
 * Says why a question is not answered, and what would get it through. `hidesValues` for a key that is held to its own
 * rows: the values that there are come from those of others, too.
 */
export function refusalOf(
  decision: Decision,
  { slots, explain, hidesValues = false }: { slots: SlotsSchema | null; explain: boolean; hidesValues?: boolean },
): Failure {
  const routing = decision.routing as Refused
  const candidates = candidatesOf(routing.explanation, decision.isRedacted)
  const fields = { candidates, ...(explain && { routing: wireRouting(decision) }) }
  if (routing.outcome === 'no_match') {
    return new Failure('unanswerable', { reason: 'no_match', message: noMatch(routing, candidates), fields })
  }
  if (routing.outcome === 'ambiguous') {
    const { minMargin } = routing.explanation
    const best = candidates[0]?.score ?? 0
    const close = candidates.filter(({ score }, at) => at < 2 || best - score < minMargin)
    return new Failure('unanswerable', {
      reason: 'ambiguous',
      message: `Several queries could answer this: ${close.map(({ name }) => name).join(', ')}. Ask more exactly, or add query_name to say which.`,
      fields: { ...fields, candidates: close },
    })
  }
  if (routing.outcome === 'unexpressed') return unexpressedRefusal(routing, fields)
  if (routing.outcome === 'period_end') return periodRefusal(routing, fields)
  if (routing.outcome === 'unsure') return unsureRefusal(routing, fields)
  const { query, missing, parameters, gaps } = routing
  const details = missing.map((field) => {
    const gap = gaps.find(({ slot }) => slot === field)
    return { field, message: (hidesValues ? gap?.unlisted : undefined) ?? gap?.message ?? 'is required' }
  })
  const unsaid = missing.filter((field) => !gaps.some(({ slot }) => slot === field))
  const lacks = [
    ...(unsaid.length === 0 ? [] : [`the question does not say ${unsaid.join(', ')}`]),
    ...details.filter(({ field }) => !unsaid.includes(field)).map(({ field, message }) => `${field} ${message}`),
  ]
  const optional = missing.filter((field) => isOptional(slots, field))
  const hint = optional.length === 0 ? '' : ` Null leaves out ${optional.join(', ')}.`
  return new Failure('unanswerable', {
    reason: 'missing_slots',
    message: `${query} would answer this, but ${lacks.join('; ')}. Repeat the call with parameters and query_name.${hint}`,
    details,
    fields: {
      query_used: query,
      parameters,
      schema: schemaOf(slots, missing),
      ...fields,
    },
  })
}

/** The nearest query leaves something out: the words, and what to do about them. */
function unexpressedRefusal(
  { query, parameters, explanation: { unexpressed } }: Extract<Refused, { outcome: 'unexpressed' }>,
  fields: Record<string, unknown>,
): Failure {
  const quoted = unexpressed.map(({ text }) => `“${text}”`).join(', ')
  return new Failure('unanswerable', {
    reason: 'unexpressed',
    message: `${query} comes nearest, but does not express ${quoted}. Ask without it, or repeat the call with "partial": true for an answer that leaves it out.`,
    fields: { query_used: query, parameters, unexpressed, ...fields },
  })
}

/** The query would answer, more likely wrongly than the project accepts. */
function unsureRefusal(
  { query, parameters, explanation }: Extract<Refused, { outcome: 'unsure' }>,
  fields: Record<string, unknown>,
): Failure {
  const { unexpressed, confidence, threshold } = explanation
  const share = (value: number): string => `${Math.round(value * 100)} %`
  const quoted = unexpressed.map(({ text }) => `“${text}”`).join(', ')
  const words = quoted === '' ? '' : ` In doubt is ${quoted}.`
  return new Failure('unanswerable', {
    reason: 'unsure',
    message: `${query} may answer this, with a confidence of ${share(confidence ?? 0)}; this project answers from ${share(threshold)} on.${words} Ask more exactly, add query_name, or repeat the call with "partial": true.`,
    fields: { query_used: query, parameters, confidence: roundShare(confidence), unexpressed, ...fields },
  })
}

/** The rows would not be those of the period; what mends it is for the author, whose SQL nobody else sees. */
function periodRefusal(
  { query, parameters, slot, loses }: Extract<Refused, { outcome: 'period_end' }>,
  fields: Record<string, unknown>,
): Failure {
  return new Failure('unanswerable', {
    reason: 'period_end',
    message: `${query} would answer this, but its SQL cannot give just this period. ${loses} Its author can fix the SQL or set “x-bound” of ${slot}. Values in parameters stand as given.`,
    details: [{ field: slot, message: loses }],
    fields: { query_used: query, parameters, ...fields },
  })
}

function isOptional(slots: SlotsSchema | null, name: string): boolean {
  const schema = slots?.properties[name]
  return schema !== undefined && (!slots?.required.includes(name) || (schema.default ?? null) !== null)
}

/** Only what is missing, so that a form can be drawn of it. */
export function schemaOf(slots: SlotsSchema | null, missing: string[]): Record<string, unknown> {
  const properties = missing.flatMap((name) => {
    const schema = slots?.properties[name]
    return schema === undefined ? [] : [[name, schema] as const]
  })
  return { type: 'object', properties: Object.fromEntries(properties), required: missing, additionalProperties: false }
}

function noMatch(routing: Extract<Refused, { outcome: 'no_match' }>, candidates: Array<{ name: string }>): string {
  if (routing.because === 'empty') return 'There is no question in the text.'
  if (routing.because === 'too_long') return 'The question is too long.'
  if (routing.because === 'nothing_deployed') return 'No query that this caller may use is deployed there.'
  if (routing.because === 'other_language') {
    return 'No deployed query answers this question. Questions are best asked in English; in another language those are understood that are close to an example of a query.'
  }
  if (routing.because === 'opposed') return `No deployed query answers this question. ${routing.objection}`
  const names = candidates.slice(0, 3).map(({ name }) => name)
  return `No deployed query answers this question.${names.length === 0 ? '' : ` The nearest are ${names.join(', ')}.`}`
}

export function candidatesOf({ candidates }: Explanation, isRedacted = false) {
  return candidates.map(({ name, description, score, confidence, example }) => ({
    name,
    description,
    score: round(score),
    confidence: isRedacted ? null : roundShare(confidence),
    example,
  }))
}

const redacted = {
  confidence: null,
  parameters: {},
  sources: {},
  period: null,
  unused: [],
  unexpressed: [],
  verdict: null,
}

/** Why a question was routed as it was, as the wire has it. */
export function wireRouting({ routing: { explanation: known }, decidedBy, elapsedMs, isRedacted }: Decision) {
  const explanation = isRedacted === true ? { ...known, ...redacted } : known
  return toWire(routingSchema, {
    ...explanation,
    candidates: candidatesOf(explanation, isRedacted),
    confidence: roundShare(explanation.confidence),
    threshold: roundShare(explanation.threshold),
    margin: round(explanation.margin),
    leastMargin: explanation.minMargin,
    decidedBy,
    routingTimeMs: round(elapsedMs),
  })
}

/** More digits would say more than is known. */
export function roundShare<Value extends number | null>(share: Value): Value {
  return (share === null ? share : Math.round(share * 1_000) / 1_000) as Value
}

function round<Value extends number | null>(value: Value): Value {
  return (value === null ? value : Math.round(value * 10_000) / 10_000) as Value
}
