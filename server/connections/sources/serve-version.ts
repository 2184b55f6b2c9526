import type { Caller } from '../../access/index.ts'
import type { Clock } from '../../clock.ts'
import { activateVersion, type Catalogs, type DataVersion, type TableModels } from '../../data/index.ts'
import type { Jobs } from '../../jobs/index.ts'
import type { Database } from '../../store/index.ts'

/** Makes a version of a table serve, and has questions learn its values. */
export function serveVersion(
  app: { store: Database; catalogs: Catalogs; models: TableModels; jobs: Jobs; now: Clock },
  caller: Caller,
  input: { projectId: string; datasourceId: string; version: number; served: boolean },
): Promise<DataVersion> {
  const { store, catalogs, models, now } = app
  return activateVersion(
    {
      store,
      catalogs,
      models,
      now,
      prepare: (transaction, { projectId, datasourceId, dataObjectId }) =>
        app.jobs.enqueue(transaction, {
          projectId,
          jobType: 'build_dataline_from_connected_resource',
          source: 'datasource',
          sourceId: datasourceId,
          sourceEventType: 'http_api',
          input: { data_object_id: dataObjectId },
        }),
    },
    caller,
    input,
  )
}
