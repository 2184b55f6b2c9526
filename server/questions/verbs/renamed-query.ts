import type { Transaction } from 'kysely'
import type { Tables } from '../../store/index.ts'

type Names = { projectId: string; from: string; to: string }

/** Expected queries are stored by name: they follow a query that is renamed. */
export async function renameExpected(transaction: Transaction<Tables>, { projectId, from, to }: Names): Promise<void> {
  await transaction
    .updateTable('evaluationCases')
    .set({ expectedQuery: to })
    .where('projectId', '=', projectId)
    .where('expectedQuery', '=', from)
    .execute()
  for (const column of ['meantQuery', 'notQuery'] as const) {
    await transaction
      .updateTable('counterExamples')
      .set({ [column]: to })
      .where('projectId', '=', projectId)
      .where(column, '=', from)
      .execute()
  }
}
