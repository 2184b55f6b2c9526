import type { ProjectIndex } from '../../server/router/index.ts'
import { objectionTo } from '../../server/router/decision/objections.ts'
import { fill } from '../../server/router/filling/fill.ts'
import { plain, read } from '../../server/router/route.ts'
import { spell } from '../../server/router/spell.ts'
import { isRightWith, type Asked } from './judge.ts'
import type { World, WorldQuestion } from './world.ts'

/** The first thing by which a question that must be answered was lost, on the way of the query that answers it. */
export type Loss = { to: string; detail: string }

/**
 * Values that were not found come first: with them no reader and no limit would have answered rightly. Then gaps and
 * objections of the right query, then the choice of another one, then the verdict on the right one.
 */
export async function lossOf(
  index: ProjectIndex,
  { world, question, asked, now }: { world: World; question: WorldQuestion; asked: Asked; now: Date },
): Promise<Loss> {
  const clock = { now, timeZone: 'UTC' }
  const at = index.queries.findIndex(({ query }) => query.name === question.query)
  const query = index.queries[at]
  if (query === undefined) return { to: 'no such query', detail: '' }
  const { text } = spell(index, plain(question.question), clock)
  const evidence = await read(index, text, clock)
  const filled = fill(index, evidence.asked, query, clock)
  const { parameters, gaps, missing } = filled
  if (!isRightWith(world, question, { query: query.query.name, parameters, now })) {
    const wanted = JSON.stringify(asked.expected.parameters)
    return { to: 'value', detail: `${wanted} found ${JSON.stringify(parameters)}` }
  }
  const [gap] = gaps
  if (gap !== undefined) return { to: `gap: ${gap.rule}`, detail: gap.message }
  if (missing.length > 0) return { to: 'missing', detail: missing.join(' ') }
  const objection = objectionTo(index, evidence.asked, query, filled)
  if (objection !== null) return { to: 'objection', detail: objection }
  const { candidates, match, confidence, verdict } = asked.explanation
  const [first] = candidates
  const signs = `${first?.name ?? ''} at ${confidence?.toFixed(2) ?? '-'} match ${match?.toFixed(1) ?? '-'}`
  if (first?.name !== query.query.name) {
    const rank = candidates.findIndex(({ name }) => name === query.query.name)
    const place = rank < 0 ? 'far' : rank === 1 ? 'second' : 'third or later'
    return { to: `choice (${place}), ${verdict}`, detail: signs }
  }
  return { to: `verdict: ${verdict}`, detail: signs }
}

export function printLosses(losses: Loss[]): void {
  const groups = [...Map.groupBy(losses, ({ to }) => to)].sort(([, a], [, b]) => b.length - a.length)
  console.log(`\nright answers lost: ${losses.length}`)
  for (const [to, { length }] of groups) console.log(`${String(length).padStart(5)}  ${to}`)
}
