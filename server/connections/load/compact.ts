import type { Config } from '../../config.ts'
import { compactTable, type Catalogs } from '../../data/index.ts'
import { type Files } from '../../files/index.ts'
import { type TableBuilder } from '../../engine/index.ts'
import type { JobContext, Jobs } from '../../jobs/index.ts'
import type { Database } from '../../store/index.ts'
import { takeTurn } from './load-turns.ts'

type Parts = { store: Database; files: Files; builder: TableBuilder; catalogs: Catalogs; jobs: Jobs; config: Config }

/**
 * The work of a `compact_table` job: fewer files for the same rows. In the turn of the datasource, so that the next load
 * builds on what it leaves.
 */
export async function runCompaction(app: Parts, { job, signal, progress }: JobContext): Promise<void> {
  const { projectId, sourceId: datasourceId } = job
  await using turn = await takeTurn(app, { projectId, datasourceId }, signal)
  progress(0.1)
  const maxParts = app.config.limits.versionParts
  const done = await compactTable(app, { projectId, datasourceId, maxParts, signal: turn.signal })
  // All of it was written anew, so all of it can be described anew.
  if (done?.isWhole !== true) return
  const { dataObjectId } = done
  await app.store.db.transaction().execute((transaction) =>
    app.jobs.enqueue(transaction, {
      projectId,
      jobType: 'build_dataline_from_connected_resource',
      source: 'datasource',
      sourceId: datasourceId,
      sourceEventType: job.sourceEventType,
      input: { data_object_id: dataObjectId },
    }),
  )
}
