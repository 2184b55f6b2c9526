import type { RowTest } from '../../api/row-tests.ts'
import { Failure } from '../failure.ts'
import { modelsUnder, type ModelTests } from '../models/index.ts'
import { readQueriesToTest, type Deployments, type QueryToTest, type TestGate } from '../queries/index.ts'
import { runAll, type TestResult } from './judge-test.ts'
import { openStage, type TestParts } from './run.ts'
import { readTests } from './tests.ts'

/** For releases and for changes of models: what their authors' own tests say is wrong is refused. */
export function openTestGate(app: TestParts & { deployments: Pick<Deployments, 'list'> }): TestGate & ModelTests {
  return {
    async refuseFailing({ projectId, environment, queries, removed }) {
      const all = await readTests(app, projectId)
      if (all.length === 0) return
      const isGone = new Set(removed)
      const live = app.deployments.list(projectId, environment).filter(({ name }) => !isGone.has(name))
      const answering = new Map<string, QueryToTest>(live.map(({ name, version }) => [name, { ...version, name }]))
      for (const query of queries) answering.set(query.name, query)
      const own = new Set(queries.map(({ name }) => name))
      const models = await modelsUnder(
        app.store,
        projectId,
        queries.flatMap(({ tables }) => tables),
      )
      // Whatever is released may take a question from another query.
      const tests = all.filter(({ query, model, question }) => {
        if (model !== undefined) return models.has(model)
        return own.has(query ?? '') || (question !== undefined && (query === undefined || answering.has(query)))
      })
      const stage = await openStage(app, { projectId, environment, queries: answering, models: [], removed })
      refuse(await runAll(app, stage, tests), 'Deploy with force to do it.')
    },
    async refuseFailingModel(projectId, model) {
      const tests = (await readTests(app, projectId)).filter((each) => each.model === model.name)
      if (tests.length === 0) return
      const stage = await openStage(app, { ...noQueries, projectId, models: [model] })
      refuse(await runAll(app, stage, tests), 'Save it with force to do it.')
    },
  }
}

const noQueries = { environment: null, queries: new Map<string, QueryToTest>(), removed: [] }

/** Tests that would not pass, of the saved queries and models that are named, or that are named themselves. */
export async function failingTests(
  app: TestParts,
  projectId: string,
  isMeant: (test: RowTest) => boolean,
): Promise<TestResult[]> {
  const tests = (await readTests(app, projectId)).filter(isMeant)
  if (tests.length === 0) return []
  const drafts = new Map((await readQueriesToTest(app.store, projectId)).map((each) => [each.name, each]))
  const stage = await openStage(app, { ...noQueries, projectId, queries: drafts, models: [] })
  return (await runAll(app, stage, tests)).filter(({ passed }) => !passed)
}

export function testFailed(failing: TestResult[], hint: string): Failure {
  const ran = failing.filter(({ isReached }) => isReached)
  const unreached = failing.filter(({ isReached }) => !isReached)
  return new Failure('conflict', {
    reason: 'test_failed',
    message: [...failedWords(ran), ...unreachedWords(unreached), hint].join(' '),
    details: [...ran, ...unreached].map(({ name, message }) => ({ field: name, message: message ?? '' })),
  })
}

function failedWords([first, ...others]: TestResult[]): string[] {
  if (first === undefined) return []
  const of = first.query ?? first.model
  const more = others.length > 0 ? ` (and ${others.length} more)` : ''
  return [`The test ${first.name}${of === null ? '' : ` of ${of}`} does not pass${more}: ${first.message ?? ''}`]
}

function unreachedWords([first, ...others]: TestResult[]): string[] {
  if (first === undefined) return []
  const more = others.length > 0 ? ` and ${others.length} more were` : ' was'
  return [`The test ${first.name}${more} not reached: the tests before took too long together.`]
}

function refuse(results: TestResult[], hint: string): void {
  const failing = results.filter(({ passed }) => !passed)
  if (failing.length > 0) throw testFailed(failing, hint)
}
