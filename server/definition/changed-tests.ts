import { failingTests, testFailed } from '../row-tests/index.ts'
import { refusedBy, type PlanEntry } from './plan-entry.ts'
import type { Doing } from './steps.ts'

/**
 * Runs the tests with rows of what a definition changes, with all of it in place. What cannot be looked at before its
 * tables have data is tested by its release.
 */
export async function runChangedTests(
  { app, projectId, results }: Doing,
  { plan, check, force }: { plan: PlanEntry[]; check: boolean; force: boolean },
): Promise<void> {
  const saved = plan.filter(({ action, refused }) => ['create', 'update'].includes(action) && refused === null)
  const named = (kind: PlanEntry['kind']) =>
    new Map(saved.flatMap((each) => (each.kind === kind ? [[each.name, each]] : [])))
  const [models, queries, tests] = [named('model'), named('query'), named('test')]
  if (force || models.size + queries.size + tests.size === 0) return
  const failing = await failingTests(app, projectId, ({ name, model = '', query = '' }) => {
    const isMeant = tests.has(name) || models.has(model) || queries.has(query)
    return isMeant && !results.unexamined.has(query) && !results.unexamined.has(model)
  })
  if (failing.length === 0) return
  if (!check) throw testFailed(failing, 'Nothing was applied; --force, or force=true, does it.')
  for (const each of failing) {
    const entry = models.get(each.model ?? '') ?? queries.get(each.query ?? '') ?? tests.get(each.name)
    const own = failing.filter(({ query, model }) => query === each.query && model === each.model)
    if (entry !== undefined) entry.refused ??= refusedBy(testFailed(own, 'Release with force to do it.'))
  }
}
