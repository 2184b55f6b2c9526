import far from '../../../models/question-encoder/far_questions.json' with { type: 'json' }
import { link, shape, type Contexts, type Linker } from '../../language/index.ts'
import { yieldToEventLoop } from '../../flow/index.ts'
import type { Embed } from '../project/project-index.ts'
import type { Asked } from '../ranking/evidence.ts'
import { rowOf, scan, type Matrix } from '../vectors/vectors.ts'

// Each value list adds questions that name one of its values; more would only make the build longer.
const maxValued = 48
// Some project answers what is far away for all others: what lies so close to its own texts is left out.
const ownWorld = 0.6

/** Questions of other worlds as this project reads them: what a question must not be closer to than to a query. */
export async function readFarBank(
  { linker, contexts }: { linker: Linker; contexts: Contexts },
  own: Matrix,
  embed: Embed,
): Promise<Asked[]> {
  const questions = [...far.questions, ...withValues(linker.samples)]
  const clock = { now: new Date(0), timeZone: 'UTC' }
  const shaped: Array<Pick<Asked, 'linked' | 'shape'>> = []
  for (const text of questions) {
    const linked = link(linker, text, clock)
    shaped.push({ linked, shape: shape(linked, contexts) })
    await yieldToEventLoop()
  }
  const raw = await embed(questions)
  const masked = await embed(shaped.map(({ shape: { masked: text } }) => text))
  const kept: Asked[] = []
  for (const [at, each] of shaped.entries()) {
    const asked = { ...each, raw: rowOf(raw, at), masked: rowOf(masked, at) }
    if (scan(own, asked.raw).every((cosine) => cosine < ownWorld)) kept.push(asked)
    await yieldToEventLoop()
  }
  return kept
}

function withValues(samples: string[]): string[] {
  const filled = far.withValue.flatMap((question) => samples.map((value) => question.replace('{}', value)))
  const step = Math.max(1, filled.length / maxValued)
  return Array.from({ length: Math.min(filled.length, maxValued) }, (_, at) => filled[Math.floor(at * step)] ?? '')
}
