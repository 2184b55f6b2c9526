import type { Observe } from '../observe.ts'
import { openMemoryCopy, type Database } from '../store/index.ts'

/** Which web pages may read the answers of which project, and whether links may. In memory: every call of a browser asks. */
export type Origins = {
  /** Whether pages of this origin may read what this project answers. */
  allows(projectId: string, origin: string): boolean
  /** Whether any project allows it: all that can be said before a credential is there. */
  isKnown(origin: string): boolean
  /** Whether links to its queries answer. */
  opensLinks(projectId: string): boolean
  /** For the process that made a change. */
  refresh(): Promise<void>
  close(): Promise<void>
}

/** Said within the transaction that changes who may read the answers of a project. */
export const originsChanged = 'origins_changed'

export async function openOrigins(store: Pick<Database, 'db' | 'listen'>, observe: Observe): Promise<Origins> {
  let byProject = new Map<string, Set<string>>()
  let linked = new Set<string>()
  const readAll = async (): Promise<void> => {
    const rows = await store.db
      .selectFrom('projects')
      .select(['id', 'allowedOrigins', 'queryLinks'])
      .where((where) =>
        where.or([where('queryLinks', '=', true), where(where.fn<number>('cardinality', ['allowedOrigins']), '>', 0)]),
      )
      .execute()
    linked = new Set(rows.filter(({ queryLinks }) => queryLinks).map(({ id }) => id))
    byProject = new Map(rows.map((row) => [row.id, new Set(row.allowedOrigins)]))
  }
  const copy = await openMemoryCopy(store, { channel: originsChanged, readAll, observe, where: 'origins' })
  return {
    allows: (projectId, origin) => byProject.get(projectId)?.has(origin) === true,
    isKnown: (origin) => [...byProject.values()].some((origins) => origins.has(origin)),
    opensLinks: (projectId) => linked.has(projectId),
    refresh: () => copy.refresh(null),
    close: () => copy.close(),
  }
}
