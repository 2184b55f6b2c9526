import type { Transaction } from 'kysely'
import type { Tables } from '../store/index.ts'

/** A port: what data is fetched for. `server/connections`, which stands on this room, fills it. */
export type DatasourceDirectory = {
  /**
   * The datasources of a project by their ids, each with the table that its data is served as and the keys of the
   * columns that its author hides.
   */
  ofProject(projectId: string): Promise<Map<string, { name: string; tableName: string; hiddenKeys: string[] }>>
  /** How many versions of its data one keeps; undefined where it is gone. */
  keepVersions(transaction: Transaction<Tables>, datasourceId: string): Promise<number | undefined>
  /** Table that SQL reads its data as; undefined where it is gone. */
  tableName(transaction: Transaction<Tables>, datasourceId: string): Promise<string | undefined>
}
