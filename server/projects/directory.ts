import type { Transaction } from 'kysely'
import type { ProjectDirectory } from '../access/index.ts'
import type { Connection, Database, Dialect, Tables } from '../store/index.ts'
import type { Place } from '../ids.ts'

type Store = Pick<Database, 'db'>

/** For the room below, which decides who reaches what and must know what there is. */
export function openProjectDirectory(store: Store): ProjectDirectory {
  return {
    list: ({ among, after, limit }) =>
      store.db
        .selectFrom('projects')
        .select(['id', 'name'])
        .$if(among !== null, (query) => query.where('id', 'in', among ?? []))
        .$if(after !== undefined, (query) => query.where('id', '<', after ?? ''))
        .orderBy('id', 'desc')
        .limit(limit)
        .execute(),
    environmentsOf: (projectIds) => environmentsOf(store, projectIds),
  }
}

/** The engine that answers the queries of a project; DuckDB for one that is gone. */
export async function engineOf(
  { db }: { db: Pick<Transaction<Tables>, 'selectFrom'> },
  projectId: string,
): Promise<Dialect> {
  const row = await db.selectFrom('projects').select('engine').where('id', '=', projectId).executeTakeFirst()
  return row?.engine ?? 'duckdb'
}

/** Whether it was on `from` until now. Waits for whoever adds to the project, and they for the end of the transaction. */
export async function switchEngine(
  transaction: Transaction<Tables>,
  { projectId, from, to }: { projectId: string; from: Dialect; to: Dialect },
): Promise<boolean> {
  const changed = await transaction
    .updateTable('projects')
    .set({ engine: to })
    .where('id', '=', projectId)
    .where('engine', '=', from)
    .executeTakeFirst()
  return changed.numUpdatedRows === 1n
}

export async function allProjectIds({ db }: Store): Promise<string[]> {
  return (await db.selectFrom('projects').select('id').execute()).map(({ id }) => id)
}

/** Environments of each project, in the order in which they were added. */
export async function environmentsOf(
  { db }: Store,
  projectIds: readonly string[],
): Promise<Array<{ projectId: string; name: string }>> {
  if (projectIds.length === 0) return []
  return db
    .selectFrom('environments')
    .select(['projectId', 'name'])
    .where('projectId', '=', (is) => is.fn.any(is.val([...projectIds])))
    .orderBy('position')
    .execute()
}

export async function hasEnvironment({ db }: Store, { projectId, environment }: Place): Promise<boolean> {
  const found = await db
    .selectFrom('environments')
    .select('name')
    .where('projectId', '=', projectId)
    .where('name', '=', environment)
    .executeTakeFirst()
  return found !== undefined
}

/** One at a time until the transaction ends; those who only refer to the environment go on. */
export async function lockEnvironment(
  transaction: Transaction<Tables>,
  { projectId, environment }: Place,
): Promise<void> {
  await transaction
    .selectFrom('environments')
    .select('name')
    .where('projectId', '=', projectId)
    .where('name', '=', environment)
    .forNoKeyUpdate()
    .execute()
}

/** Alone until the transaction ends: whoever holds the project is waited for. */
export async function lockProject(transaction: Transaction<Tables>, projectId: string): Promise<void> {
  await transaction.selectFrom('projects').select('id').where('id', '=', projectId).forUpdate().execute()
}

/** Those of the projects that exist. None of them is deleted or locked before the transaction ends. */
export async function holdProjects(
  transaction: Transaction<Tables>,
  projectIds: readonly string[],
): Promise<Set<string>> {
  const rows = await transaction
    .selectFrom('projects')
    .select('id')
    .where('id', 'in', projectIds)
    .orderBy('id')
    .forKeyShare()
    .execute()
  return new Set(rows.map(({ id }) => id))
}

/** The same without waiting: one that is locked is left out. */
export async function holdFreeProjects(connection: Connection, projectIds: readonly string[]): Promise<Set<string>> {
  const { rows } = await connection.query<{ id: string }>(
    'select id from projects where id = any($1) for key share skip locked',
    [projectIds],
  )
  return new Set(rows.map(({ id }) => id))
}
