import type { DatasourceDirectory, TableModels } from '../data/index.ts'
import type { Jobs } from '../jobs/index.ts'
import { readersOf } from './records.ts'

type Parts = { jobs: Pick<Jobs, 'enqueue' | 'findQueued'>; datasources: DatasourceDirectory }

/** Answers to the rooms below: who reads a table, and to build again what was built from it. */
export function openTableModels({ jobs, datasources }: Parts): TableModels {
  return {
    readersOf,
    async sourceChanged(transaction, { projectId, datasourceId }) {
      const tableName = await datasources.tableName(transaction, datasourceId)
      if (tableName === undefined) return
      for (const { datasourceId: sourceId } of await readersOf(transaction, { projectId, tableName })) {
        const rebuild = { jobType: 'rebuild_model', sourceId, input: {} }
        // One that waits finds this change, too.
        if ((await jobs.findQueued(transaction, rebuild)) !== undefined) continue
        const event = { source: 'datasource', sourceEventType: 'data_changed' }
        await jobs.enqueue(transaction, { ...rebuild, ...event, projectId })
      }
    },
  }
}
