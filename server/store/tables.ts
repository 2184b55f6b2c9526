import { CamelCasePlugin, Kysely, PostgresDialect } from 'kysely'
import type { Pool } from 'pg'
import type { PeopleTables } from './tables/people.ts'
import type { KeysTables } from './tables/keys.ts'
import type { DataTables } from './tables/data.ts'
import type { QueriesTables } from './tables/queries.ts'
import type { UsageTables } from './tables/usage.ts'
import type { QuestionsTables } from './tables/questions.ts'
import type { RolloutTables } from './tables/rollout.ts'

/**
 * The tables as the code names them; `openTables` turns the names into the database's own. `test/api/tables.test.ts`
 * compares `server/store/tables` with the migrated database, column by column.
 */
export type Tables = PeopleTables &
  KeysTables &
  DataTables &
  QueriesTables &
  UsageTables &
  QuestionsTables &
  RolloutTables

/** JSON columns keep the names inside them: users wrote them, or see them as they are. */
export function openTables(pool: Pool): Kysely<Tables> {
  const names = new CamelCasePlugin({ maintainNestedObjectKeys: true })
  return new Kysely<Tables>({ dialect: new PostgresDialect({ pool }), plugins: [names] })
}
