import type { Transaction } from 'kysely'
import { recordAct, type Caller } from '../../access/index.ts'
import type { Tables } from '../../store/index.ts'

type SourceAct = {
  action: `datasource.${string}`
  projectId: string
  datasourceId: string
  details?: Record<string, unknown>
}

/** An act on a connection, under the name that it has: an id tells nobody anything once it is gone. */
export async function recordSourceAct(
  transaction: Transaction<Tables>,
  caller: Caller,
  { action, projectId, datasourceId, details }: SourceAct,
): Promise<void> {
  const source = await transaction
    .selectFrom('datasources')
    .select('name')
    .where('id', '=', datasourceId)
    .executeTakeFirst()
  const named = { ...(source !== undefined && { name: source.name }), ...details }
  await recordAct(transaction, caller, { action, target: datasourceId, projectId, details: named })
}
