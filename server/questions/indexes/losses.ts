import type { Deployments, Regression, RoutingReport } from '../../queries/index.ts'
import type { Database } from '../../store/index.ts'
import type { QuestionPlace } from './snapshot.ts'
import { answerOf, readFirmCases } from './evaluation-cases.ts'
import type { ProjectIndex } from '../../router/index.ts'

type Parts = {
  store: Pick<Database, 'db'>
  deployments: Pick<Deployments, 'list'>
  now: () => number
  index(place: QuestionPlace): Promise<ProjectIndex>
}

/** The best-known texts come first; the rest would tell no more. */
const maxAsked = 200
const maxShown = 50

/** Re-asks the stored questions that a query answers in a place as if it were no longer deployed there. */
export async function findLosses(
  parts: Parts,
  { name, ...where }: { projectId: string; environment: string; name: string },
): Promise<Pick<RoutingReport, 'checked' | 'regressions'>> {
  const live = parts.deployments.list(where.projectId, where.environment)
  const own = live.find((each) => each.name === name)
  if (own === undefined) return { checked: 0, regressions: [] }
  const others = live.map((each) => each.name).filter((each) => each !== name)
  const questions = await questionsOf(parts.store, where.projectId, { name, examples: own.version.examples })
  const before = await parts.index({ ...where, only: null })
  const after = others.length === 0 ? null : await parts.index({ ...where, only: others })
  const regressions: Regression[] = []
  for (const [question, source] of questions) {
    const today = await answerOf(before, question, parts.now())
    // One that it does not answer today is not lost with it.
    if (today.query !== name || (today.outcome !== 'answered' && today.outcome !== 'missing_slots')) continue
    const then = await answerOf(after, question, parts.now())
    regressions.push({ question, query: name, takenBy: then.outcome === 'answered' ? then.query : null, source })
  }
  return { checked: questions.size, regressions: regressions.slice(0, maxShown) }
}

async function questionsOf(
  store: Pick<Database, 'db'>,
  projectId: string,
  { name, examples }: { name: string; examples: Array<{ question: string }> },
): Promise<Map<string, Regression['source']>> {
  const cases = (await readFirmCases(store, projectId)).filter(({ expectedQuery }) => expectedQuery === name)
  const found = [
    ...examples.map(({ question }) => [question, 'example'] as const),
    ...cases.map(({ question, source }) => [question, source === 'confirmed' ? 'confirmed' : 'evaluation'] as const),
  ]
  const asked = new Map<string, Regression['source']>()
  for (const [question, source] of found.slice(0, maxAsked)) if (!asked.has(question)) asked.set(question, source)
  return asked
}
