import { bareWording, type Told } from './counter-examples.ts'
import { explain, explainRead } from './explain.ts'
import { fill, type Filled } from './fill.ts'
import type { Doubt } from './gaps/gap.ts'
import { objectionTo } from './objections.ts'
import type { IndexedQuery, ProjectIndex } from './project-index.ts'
import type { Ranked } from './ranking/confidence.ts'
import type { Asked } from './ranking/evidence.ts'
import { readQuestionWhole } from './reader/read-whole.ts'
import type { Unexpressed } from './reader/unexpressed.ts'
import { conclude, type Explanation, type RouteOptions, type Routing } from './routing.ts'

type Answered = Extract<Routing, { outcome: 'answer' }>

/**
 * Reads once more whether the chosen query answers the whole question. What it surely leaves out makes it no answer;
 * what it likely leaves out is said beside the answer.
 */
export async function checkWhole(
  index: ProjectIndex,
  asked: Asked & { doubts: Doubt[]; options: RouteOptions; told?: Told },
  routing: Answered,
): Promise<Routing> {
  const { encoder, reading, queries, texts } = index
  const { reader } = encoder
  const at = queries.findIndex(({ query }) => query.name === routing.query)
  const [query, card] = [queries[at], reading?.cards[at]]
  if (reader === null || reading === null || query === undefined || card === undefined || card.isBare) return routing
  const isMeant = asked.told?.meantQuery === routing.query
  const isOwn =
    isMeant || (routing.explanation.unused.length === 0 && isOwnWording(asked, texts.slice(query.from, query.to)))
  // Its share is that of what the reader is surest of.
  if (isOwn) return { ...routing, explanation: { ...explainRead(index, routing.explanation, Infinity), match: null } }
  const read = await readQuestionWhole(reader, card, { text: asked.linked.text, sources: routing.explanation.sources })
  const { match } = read
  const explanation = explainRead(index, routing.explanation, match)
  const doubted = doubtedIn(asked, read.unexpressed)
  if (doubted !== null && !index.rulesOff.has('doubted value'))
    return askBack(routing, doubted, { ...explanation, unexpressed: read.unexpressed() })
  if (match >= reading.flagBelow) return { ...routing, explanation }
  const told = { ...explanation, unexpressed: read.unexpressed() }
  const { completeness } = asked.options
  const isRefused = completeness === 'strict' || (completeness !== 'partial' && match < reading.refuseBelow)
  return { ...routing, outcome: isRefused ? 'unexpressed' : 'answer', explanation: told }
}

/** A value that no slot has, where the reader too finds nothing that expresses it. */
function doubtedIn(
  { doubts, options: { completeness, given = {} } }: { doubts: Doubt[]; options: RouteOptions },
  unexpressed: () => Unexpressed[],
): Doubt | null {
  const open = doubts.filter(({ slot }) => given[slot] === undefined)
  if (open.length === 0 || completeness === 'partial') return null
  const left = unexpressed()
  return open.find(({ start, end }) => left.some((each) => each.start < end && start < each.end)) ?? null
}

function askBack({ query, parameters }: Answered, { slot, message }: Doubt, explanation: Explanation): Routing {
  const { [slot]: _, ...rest } = parameters
  return { outcome: 'missing_slots', query, parameters: rest, missing: [slot], gaps: [{ slot, message }], explanation }
}

/** One of the query's own examples but for its values: its author has said that it is answered, and nothing is left out. */
function isOwnWording({ shape }: Asked, texts: Array<{ kind: string; shape: { masked: string } }>): boolean {
  const said = bareWording(shape.masked)
  return texts.some(({ kind, shape: own }) => kind === 'example' && bareWording(own.masked) === said)
}

type Ready = { query: IndexedQuery; filled: Filled; each: Ranked }

/**
 * A question that the router would refuse, answered by one of its best queries after all where the reader is sure that
 * it answers the whole of it; null where it is not.
 */
export async function rescue(
  index: ProjectIndex,
  asked: Asked & { ranked: Ranked[]; options: RouteOptions; told: Told },
  { explanation }: Routing,
): Promise<Routing | null> {
  const { encoder, reading } = index
  const { reader } = encoder
  if (reader === null || reading === null) return null
  const { rescue_candidates: count, rescue_from: least } = reader.constants
  const read = asked.ranked.slice(0, count).map(async (each): Promise<Ready & { match: number }> => {
    const [query, card] = [index.queries[each.candidate.query], reading.cards[each.candidate.query]]
    if (query === undefined || card === undefined) throw new TypeError('A ranked query is not in the index.')
    const filled = fill(index, asked, query, asked.options)
    const { match } = await readQuestionWhole(reader, card, { text: asked.linked.text, sources: filled.sources })
    return { query, filled, each, match }
  })
  const [best] = (await Promise.all(read)).sort((a, b) => b.match - a.match)
  if (best === undefined || best.match < least || !isReady(index, asked, best)) return null
  if (asked.told.notQueries.has(best.query.query.name)) return null
  const ranked = [best.each, ...asked.ranked.filter((other) => other !== best.each)]
  const { lead, margin } = explanation
  const told = explain(index, ranked, best.filled, { lead, margin, match: best.match })
  const routing = conclude(best.query, best.filled, { explanation: told, given: asked.options.given })
  return routing.outcome === 'answer' ? routing : null
}

function isReady(index: ProjectIndex, asked: Asked, { query, filled }: Ready): boolean {
  return filled.gaps.length === 0 && objectionTo(index, asked, query, filled) === null
}
