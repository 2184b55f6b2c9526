import type { z } from 'zod'
import { overAllRows } from '../../api/new-rows.ts'
import type { runTests as runTestsSchema } from '../../api/row-tests.ts'
import { requireRole, type Caller } from '../access/index.ts'
import { invalidField } from '../failure.ts'
import { readModelStatements } from '../models/index.ts'
import { examine, readQueriesToTest, type ChangedQuery, type QueryToTest } from '../queries/index.ts'
import type { Database } from '../store/index.ts'
import {
  runAll,
  type JudgeParts,
  type OpenReading,
  type QuestionReading,
  type Stage,
  type TestResult,
} from './judge-test.ts'
import { readTests } from './tests.ts'

export type TestParts = JudgeParts & { store: Database; openReading: OpenReading }
type Asked = Partial<z.output<typeof runTestsSchema>>

/** Runs tests on the engine: those that are saved or those that are sent, of what is saved or of what is sent. */
export async function runTests(
  app: TestParts,
  caller: Caller,
  {
    projectId,
    names,
    tests: given,
    queries = [],
    models = [],
    signal,
  }: Asked & { projectId: string; signal?: AbortSignal },
): Promise<{ passed: number; failed: number; results: TestResult[] }> {
  await requireRole(app, caller, projectId, 'editor')
  const saved = given ?? (await readTests(app, projectId))
  const tests = saved.filter(({ name }) => names === undefined || names.includes(name))
  const missing = names?.find((name) => !tests.some((test) => test.name === name))
  if (missing !== undefined) throw invalidField('names', `names ${missing}, which is no test of the project`)
  const drafts = new Map((await readQueriesToTest(app.store, projectId)).map((each) => [each.name, each]))
  for (const { name, sql, slots, description, examples } of queries) {
    const known = drafts.get(name)
    drafts.set(name, {
      name,
      sql,
      slots: slots ?? (known?.sql === sql ? known.slots : undefined),
      description: description ?? known?.description ?? '',
      examples: examples ?? known?.examples ?? [],
    })
  }
  const stage = await openStage(app, { projectId, environment: null, queries: drafts, models, removed: [] })
  const results = await runAll(app, stage, tests, signal)
  const passed = results.filter((each) => each.passed).length
  return { passed, failed: results.length - passed, results }
}

type Staged = {
  projectId: string
  environment: string | null
  queries: ReadonlyMap<string, QueryToTest>
  /** Those whose SQL is not the saved one. */
  models: Array<{ name: string; sql: string }>
  removed: string[]
}

export async function openStage(
  app: TestParts,
  { projectId, environment, queries, models, removed }: Staged,
): Promise<Stage> {
  const { tables } = await app.catalogs.get(projectId)
  const built = await readModelStatements(app.store, projectId)
  let reading: Promise<QuestionReading> | undefined
  const openReading = async (): Promise<QuestionReading> =>
    app.openReading({
      projectId,
      environment,
      changed: await Promise.all([...queries.values()].map((query) => withSlots(app, projectId, query))),
      removed,
    })
  return {
    projectId,
    queries,
    models: new Map([...built, ...models].map(({ name, sql }) => [name, overAllRows(sql)])),
    // The columns of every table as SQL sees them; of a model without data those of its statement.
    contracts: new Map([...built, ...tables].map(({ name, columns }) => [name, columns])),
    reading: () => (reading ??= openReading()),
  }
}

async function withSlots(app: TestParts, projectId: string, query: QueryToTest): Promise<ChangedQuery> {
  return { ...query, slots: query.slots ?? (await examine(app, projectId, query)).slots }
}
