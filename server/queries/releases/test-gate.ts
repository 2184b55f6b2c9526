import type { QueryContent } from '../drafts/content.ts'
import { withContent } from '../drafts/content.ts'
import type { Database } from '../../store/index.ts'
import type { Examined } from './examine.ts'
import type { ReleaseTarget } from './targets.ts'

/** A query as it would answer, saved or not, with what questions find it by. */
export type QueryToTest = Pick<QueryContent, 'sql' | 'description' | 'examples'> & {
  name: string
  /** Those of its SQL, where nobody has said more. */
  slots: QueryContent['slots'] | undefined
}

type Tested = {
  projectId: string
  environment: string
  queries: Array<QueryToTest & { tables: string[] }>
  removed: string[]
}

/** A port: refuses what would not pass tests with rows, of these queries and of the models that they read. */
export type TestGate = { refuseFailing(tested: Tested): Promise<void> }

/** The queries of a release as they would answer. */
export function asTested({
  projectId,
  environment,
  targets,
  examined,
}: {
  projectId: string
  environment: string
  targets: ReleaseTarget[]
  examined: Examined
}): Tested {
  const removed = targets.flatMap(({ draft, isRemoved }) => (isRemoved ? [draft.name] : []))
  const queries = targets.flatMap(({ draft, frozen, isRemoved }) => {
    const { sql, slots, description, examples } = frozen ?? draft
    const tables = Object.keys(examined.get(draft.id)?.tables ?? {})
    return isRemoved ? [] : [{ name: draft.name, sql, slots, description, examples, tables }]
  })
  return { projectId, environment, queries, removed }
}

/** Every draft of a project, as it would answer. */
export async function readQueriesToTest({ db }: Pick<Database, 'db'>, projectId: string): Promise<QueryToTest[]> {
  const rows = await db.selectFrom('queries').selectAll().where('projectId', '=', projectId).execute()
  return rows.map((row) => {
    const { name, sql, slots, description, examples } = withContent(row)
    return { name, sql, slots, description, examples }
  })
}
