import { fixedLimits } from '../../api/limits.ts'
import type { RowTest } from '../../api/row-tests.ts'
import { recordAct, requireRole, type Caller } from '../access/index.ts'
import { Failure } from '../failure.ts'
import { countOf, lockProjectForQuota, refuseFull, withinBytes, type Database } from '../store/index.ts'

type Parts = { store: Pick<Database, 'db'> }
type Named = { projectId: string; name: string }

const weights = { rowTests: 'octet_length(content::text)' }

/** By name. */
export async function readTests({ store }: Parts, projectId: string): Promise<RowTest[]> {
  const rows = await store.db
    .selectFrom('rowTests')
    .select('content')
    .where('projectId', '=', projectId)
    .orderBy('name')
    .execute()
  return rows.map(({ content }) => content)
}

export async function listTests(
  app: Parts & { store: Database },
  caller: Caller,
  { projectId, query, model }: { projectId: string; query?: string | undefined; model?: string | undefined },
): Promise<RowTest[]> {
  await requireRole(app, caller, projectId, 'viewer')
  const tests = await readTests(app, projectId)
  return tests.filter(
    (test) => (query === undefined || test.query === query) && (model === undefined || test.model === model),
  )
}

/** Makes a test, or changes the one of its name. */
export async function putTest(
  app: { store: Database },
  caller: Caller,
  { projectId, test }: { projectId: string; test: RowTest },
): Promise<RowTest> {
  await requireRole(app, caller, projectId, 'editor')
  const { name } = test
  await app.store.db.transaction().execute(async (transaction) => {
    await lockProjectForQuota(transaction, projectId)
    const others = transaction.selectFrom('rowTests').where('projectId', '=', projectId).where('name', '<>', name)
    refuseFull({ count: await countOf(others), most: fixedLimits.rowTests.value, what: 'Tests of a project are' })
    const content = JSON.stringify(test)
    const room = { weights, most: fixedLimits.rowTestBytes.value, what: 'Tests of a project' }
    await withinBytes(transaction, { ...room, projectId, table: 'rowTests', key: 'name', value: name }, () =>
      transaction
        .insertInto('rowTests')
        .values({ projectId, name, content })
        .onConflict((on) => on.columns(['projectId', 'name']).doUpdateSet({ content, updatedAt: new Date() }))
        .execute(),
    )
    await recordAct(transaction, caller, { action: 'test.saved', target: name, projectId })
  })
  return test
}

export async function deleteTest(app: { store: Database }, caller: Caller, { projectId, name }: Named): Promise<void> {
  await requireRole(app, caller, projectId, 'editor')
  await app.store.db.transaction().execute(async (transaction) => {
    const gone = await transaction
      .deleteFrom('rowTests')
      .where('projectId', '=', projectId)
      .where('name', '=', name)
      .returning('name')
      .executeTakeFirst()
    if (gone === undefined) throw new Failure('not_found', { message: `The project has no test ${name}.` })
    await recordAct(transaction, caller, { action: 'test.deleted', target: name, projectId })
  })
}
