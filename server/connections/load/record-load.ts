import type { Transaction } from 'kysely'
import type { Caller } from '../../access/index.ts'
import {
  compactedFrom,
  dataChanged,
  insertVersion,
  noteUnchanged,
  type FetchedVersion,
  type LoadedParts,
} from '../../data/index.ts'
import { Failure } from '../../failure.ts'
import { lockProjectForQuota, type Tables } from '../../store/index.ts'
import { loadWaiting } from '../sources/schedules.ts'
import { recordSourceAct } from '../sources/source-acts.ts'
import type { Ingested, IngestApp, LoadInput, LoadOutcome, Unchanged } from './loading.ts'
import type { LoadPlan } from './plan-load.ts'
import { refuseTooMuch } from './stored-bytes.ts'

type Recording = { input: LoadInput; plan: LoadPlan; stored: LoadOutcome }

/** In one transaction: the version or that nothing is new, the job behind it, and the audit entry. */
export async function recordLoad(
  app: IngestApp,
  transaction: Transaction<Tables>,
  caller: Caller,
  { input, plan, stored }: Recording,
): Promise<Ingested> {
  // First, as whoever deletes the project takes it first.
  await lockProjectForQuota(transaction, input.projectId)
  await input.turn.keep(transaction)
  await input.before?.(transaction)
  const { projectId, datasourceId } = input
  const at = new Date(app.now())
  const isHeld = 'rows' in stored && stored.heldBecause !== null
  // The datasource's row is the lock under which versions are counted.
  await transaction
    .updateTable('datasources')
    .set({ ...(!isHeld && { refreshedAt: at }), lastError: null })
    .where('id', '=', datasourceId)
    .executeTakeFirstOrThrow()
  const ingested =
    'rows' in stored
      ? await recordVersion(app, transaction, caller, { input, stored, at })
      : await recordUnchanged(transaction, caller, { input, plan, stored, at })
  // Models above a model are built from its tables, too.
  const isMoved = 'rows' in stored ? !isHeld : stored.builtFrom !== undefined
  if (isMoved) await app.models.sourceChanged(transaction, { projectId, datasourceId })
  if ('rows' in stored && !isHeld && plan.live === null) {
    await loadWaiting(app, transaction, caller, { projectId, tableName: plan.tableName })
  }
  await app.store.notify(transaction, dataChanged, projectId)
  await input.after?.(transaction, ingested)
  return ingested
}

async function recordVersion(
  app: IngestApp,
  transaction: Transaction<Tables>,
  caller: Caller,
  { input, stored, at }: { input: LoadInput; stored: FetchedVersion; at: Date },
): Promise<Ingested> {
  const { projectId, datasourceId } = input
  const { dataObjectId, version, drift } = await insertVersion(transaction, { projectId, datasourceId, at }, stored)
  await refuseTooMuch(transaction, app.config.limits, { ...input, version })
  const work = { projectId, source: 'datasource', sourceId: datasourceId, sourceEventType: input.eventType }
  const job = await app.jobs.enqueue(transaction, {
    ...work,
    jobType: 'build_dataline_from_connected_resource',
    input: { data_object_id: dataObjectId },
  })
  const { parted, heldBecause, truncated, rowCount, newRows } = stored
  if (parted !== null && heldBecause === null && hasManyParts(app, parted)) {
    await app.jobs.enqueue(transaction, { ...work, jobType: 'compact_table' })
  }
  await recordSourceAct(transaction, caller, {
    action: heldBecause === null ? 'datasource.refreshed' : 'datasource.version_held',
    projectId,
    datasourceId,
    details: {
      data_object_id: dataObjectId,
      version,
      row_count: rowCount,
      ...(parted !== null && { new_rows: newRows }),
      ...(input.from.kind === 'file' && { file: input.from.filename ?? null, file_bytes: input.from.sizeBytes }),
      ...(heldBecause !== null && { reason: heldBecause.reason }),
      // Also where nothing changed: versions are let go, and then this alone tells.
      drift,
    },
  })
  return { jobs: [job], dataObjectId, truncated, heldBecause, warnings: stored.warnings }
}

function hasManyParts({ config }: IngestApp, { base, part, deletions }: LoadedParts): boolean {
  const parts = part === null ? base : [...base, part]
  return compactedFrom({ parts, deletions }, config.limits.versionParts) !== null
}

async function recordUnchanged(
  transaction: Transaction<Tables>,
  caller: Caller,
  { input, plan, stored, at }: { input: LoadInput; plan: LoadPlan; stored: Unchanged; at: Date },
): Promise<Ingested> {
  const { projectId, datasourceId } = input
  if (plan.live === null) throw new Failure('internal_error', { message: 'Nothing is unchanged where nothing was.' })
  const { dataObjectId, version, truncated } = plan.live
  await noteUnchanged(transaction, dataObjectId, { at, ...stored })
  await recordSourceAct(transaction, caller, {
    action: 'datasource.refreshed',
    projectId,
    datasourceId,
    details: { data_object_id: dataObjectId, version, unchanged: true },
  })
  return { jobs: [], dataObjectId, truncated, heldBecause: null, warnings: stored.warnings }
}
