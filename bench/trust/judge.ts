import { checkSlots } from '../../server/queries/index.ts'
import { compileSlots } from '../../server/queries/slots/slots.ts'
import type { Routing } from '../../server/router/index.ts'
import { resolveDays } from './days.ts'
import type { World, WorldQuestion } from './world.ts'

/**
 * `right`: as expected. `held`: rightly asked back or refused. `cost`: asked back or refused though answerable.
 * `flagged`: answered wrongly, and the answer says what it leaves out. `silent`: answered wrongly without a word.
 */
export const verdicts = ['right', 'held', 'cost', 'flagged', 'silent'] as const
export type Verdict = (typeof verdicts)[number]

export type Asked = {
  world: string
  class: string
  question: string
  expected: { query: string | null; parameters: unknown }
  got: { outcome: Routing['outcome']; query: string | null; parameters: Record<string, unknown> }
  /** Whether the answer says that it leaves something out. */
  isFlagged: boolean
  isExpected: boolean
  /** Whether the nearest query with the values found would have been right, also where it was refused. */
  isNearestRight: boolean
  mayRefuse: boolean
  verdict: Verdict
  explanation: Routing['explanation']
  elapsedMs: number
}

export function judge(
  world: World,
  asked: WorldQuestion,
  { routing, elapsedMs, now }: { routing: Routing; elapsedMs: number; now: Date },
): Asked {
  const { explanation } = routing
  const wanted = { query: asked.query ?? null, parameters: resolveDays(asked.parameters ?? {}, now) }
  const outcome = outcomeOf(world, routing)
  const got = {
    outcome,
    query: 'query' in routing ? routing.query : null,
    parameters: 'query' in routing ? routing.parameters : {},
  }
  const isFlagged = explanation.unused.length + explanation.unexpressed.length > 0
  const isExpected = got.query === wanted.query && agrees(world, got, wanted.parameters)
  const nearest = { outcome, query: explanation.candidates[0]?.name ?? null, parameters: explanation.parameters }
  const isNearestRight = nearest.query === wanted.query && agrees(world, nearest, wanted.parameters)
  const wrong: Verdict = isFlagged ? 'flagged' : 'silent'
  const refused: Verdict = wanted.query === null || asked.or_refuse ? 'held' : 'cost'
  const verdict = outcome !== 'answer' ? refused : isExpected ? 'right' : wrong
  return {
    world: world.name,
    class: asked.class,
    question: asked.question,
    expected: wanted,
    got,
    isFlagged,
    isExpected,
    isNearestRight,
    mayRefuse: asked.or_refuse,
    verdict,
    explanation,
    elapsedMs,
  }
}

/** Whether a query with these values is what a question must be answered with. */
export function isRightWith(
  world: World,
  asked: WorldQuestion,
  { query, parameters, now }: { query: string; parameters: Record<string, unknown>; now: Date },
): boolean {
  if (asked.query !== query) return false
  return agrees(world, { outcome: 'answer', query, parameters }, resolveDays(asked.parameters ?? {}, now))
}

/** What the schema refuses is asked back, as `ask` does. */
function outcomeOf(world: World, routing: Routing): Routing['outcome'] {
  if (routing.outcome !== 'answer') return routing.outcome
  const schema = world.slots.get(routing.query)
  if (schema === undefined) throw new TypeError(`${world.name} has no query ${routing.query}.`)
  return 'details' in checkSlots(compileSlots(schema), routing.parameters) ? 'missing_slots' : 'answer'
}

/** A slot that is not named holds its default or nothing. */
function agrees(world: World, { query, parameters }: Asked['got'], wanted: unknown): boolean {
  if (Array.isArray(wanted)) return wanted.some((each) => agrees(world, { outcome: 'answer', query, parameters }, each))
  const expected = wanted as Record<string, unknown>
  const schema = world.slots.get(query ?? '')?.properties ?? {}
  return Object.entries(schema).every(([name, slot]) => {
    const fallback = slot.default ?? null
    const value = parameters[name] ?? fallback
    return isSame(expected[name] ?? fallback, value)
  })
}

function isSame(expected: unknown, got: unknown): boolean {
  if (isChoice(expected)) return expected.any.some((each) => isSame(each, got))
  if (expected === null || got === null) return expected === got
  if (Array.isArray(expected) && Array.isArray(got)) return sorted(expected) === sorted(got)
  if (typeof expected === 'number' && typeof got === 'number') return Math.abs(expected - got) < 1e-9
  return plain(expected) === plain(got)
}

function plain(value: unknown): string {
  return (typeof value === 'string' ? value : JSON.stringify(value)).trim().toLowerCase()
}

function isChoice(value: unknown): value is { any: unknown[] } {
  return typeof value === 'object' && value !== null && 'any' in value && Array.isArray(value.any)
}

function sorted(values: unknown[]): string {
  return JSON.stringify(values.map((value) => String(value).toLowerCase()).sort())
}
