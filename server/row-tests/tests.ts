import { fixedLimits } from '../../api/limits.ts'
import type { RowTest } from '../../api/row-tests.ts'
import { recordAct, requireRole, type Caller } from '../access/index.ts'
import { Failure } from '../failure.ts'
import { countOf, lockProjectForQuota, refuseFull, jsonBytesOf, type Database } from '../store/index.ts'

type Parts = { store: Pick<Database, 'db'> }
type Named = { projectId: string; name: string }

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
    // All of them are read at once, for a release as for a list.
    const bytes = (await jsonBytesOf(others, 'content')) + Buffer.byteLength(content)
    if (bytes > fixedLimits.rowTestBytes.value) throw tooMuch()
    await transaction
      .insertInto('rowTests')
      .values({ projectId, name, content })
      .onConflict((conflict) => conflict.columns(['projectId', 'name']).doUpdateSet({ content, updatedAt: new Date() }))
      .execute()
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

function tooMuch(): Failure {
  return new Failure('conflict', {
    reason: 'quota_exceeded',
    message: `Tests of a project hold at most ${fixedLimits.rowTestBytes.value} bytes together. Give this one fewer rows, or delete another.`,
  })
}
