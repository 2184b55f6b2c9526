import type { SlotsSchema } from '../../../api/slots.ts'
import { Failure } from '../../failure.ts'
import type { Database } from '../../store/index.ts'

/** SQL with its slots, saved or not. */
export type StatementToTest = { name: string; sql: string; slots: SlotsSchema | undefined }

/** A port: the tests with rows of queries that would not pass if these statements answered. */
export type TestGate = {
  failing(
    projectId: string,
    queries: StatementToTest[],
  ): Promise<Array<{ test: string; query: string; message: string }>>
}

/** Refuses what its authors' own tests say is wrong. */
export async function refuseFailing(
  { testGate }: { testGate: TestGate },
  { projectId, queries }: { projectId: string; queries: StatementToTest[] },
): Promise<void> {
  const failing = await testGate.failing(projectId, queries)
  const [first] = failing
  if (first === undefined) return
  const more = failing.length > 1 ? ` (and ${failing.length - 1} more)` : ''
  throw new Failure('conflict', {
    reason: 'test_failed',
    message: `The test ${first.test} of ${first.query} does not pass${more}: ${first.message} Deploy with force to do it.`,
    details: failing.map(({ test, message }) => ({ field: test, message })),
  })
}

/** Every draft of a project, as it would answer. */
export async function readStatements({ db }: Pick<Database, 'db'>, projectId: string): Promise<StatementToTest[]> {
  const rows = await db
    .selectFrom('queries')
    .select(['name', 'sql', 'slots'])
    .where('projectId', '=', projectId)
    .execute()
  // Written from the same schema that reads it.
  return rows.map(({ slots, ...row }) => ({ ...row, slots: slots as SlotsSchema }))
}
