import type { Value } from '../../api/wire-codec.ts'
import type { replaySettings } from '../../api/replays.ts'
import { labelOf, recordAct, requireRole, type Caller } from '../access/index.ts'
import type { Observe } from '../observe.ts'
import { openMemoryCopy, type Database } from '../store/index.ts'

/** Recording settings of a project: calls that are run again before a release. */
export type ReplaySettings = Value<typeof replaySettings>

const off: ReplaySettings = { recording: false, maxCalls: 1_000, days: 7, redactedSlots: [] }

export async function findReplaySettings(
  app: { store: Database },
  caller: Caller,
  projectId: string,
): Promise<ReplaySettings> {
  await requireRole(app, caller, projectId, 'viewer')
  return readReplaySettings(app.store, projectId)
}

export async function readReplaySettings({ db }: Pick<Database, 'db'>, projectId: string): Promise<ReplaySettings> {
  const row = await db
    .selectFrom('replaySettings')
    .select(['recording', 'maxCalls', 'days', 'redactedSlots'])
    .where('projectId', '=', projectId)
    .executeTakeFirst()
  return row ?? off
}

/**
 * Switching off deletes what is recorded, and so does keeping one more slot out: no value stays that is not wanted. Who
 * writes calls down holds this row and reads it then, so none comes in behind the change.
 */
export async function changeReplaySettings(
  app: { store: Database },
  caller: Caller,
  { projectId, ...settings }: { projectId: string } & ReplaySettings,
): Promise<ReplaySettings> {
  await requireRole(app, caller, projectId, 'owner')
  const values = { ...settings, updatedAt: new Date(), updatedBy: labelOf(caller) }
  await app.store.db.transaction().execute(async (transaction) => {
    const before = await transaction
      .selectFrom('replaySettings')
      .select('redactedSlots')
      .where('projectId', '=', projectId)
      .forUpdate()
      .executeTakeFirst()
    await transaction
      .insertInto('replaySettings')
      .values({ projectId, ...values })
      .onConflict((conflict) => conflict.column('projectId').doUpdateSet(values))
      .execute()
    const isMoreRedacted = settings.redactedSlots.some((slot) => before?.redactedSlots.includes(slot) === false)
    if (!settings.recording || isMoreRedacted) {
      await transaction.deleteFrom('recordedCalls').where('projectId', '=', projectId).execute()
      await transaction
        .deleteFrom('replayCalls')
        .where('replayId', 'in', transaction.selectFrom('replays').select('id').where('projectId', '=', projectId))
        .execute()
    }
    await recordAct(transaction, caller, {
      action: 'replay.settings_changed',
      target: projectId,
      projectId,
      details: {
        recording: settings.recording,
        max_calls: settings.maxCalls,
        days: settings.days,
        redacted_slots: settings.redactedSlots,
      },
    })
  })
  return settings
}

/** Which projects record, in memory: every call asks. */
export type RecordingProjects = {
  has(projectId: string): boolean
  close(): Promise<void>
}

/** Said by a trigger on the table. */
const settingsChanged = 'replay_settings_changed'

export async function openRecordingProjects(
  store: Pick<Database, 'db' | 'listen'>,
  { observe, onChange }: { observe: Observe; onChange: (isAny: boolean) => void },
): Promise<RecordingProjects> {
  let projects = new Set<string>()
  const readAll = async (): Promise<void> => {
    const rows = await store.db.selectFrom('replaySettings').select('projectId').where('recording', '=', true).execute()
    projects = new Set(rows.map(({ projectId }) => projectId))
    onChange(projects.size > 0)
  }
  const copy = await openMemoryCopy(store, {
    channel: settingsChanged,
    readAll,
    observe,
    where: 'replay settings',
  })
  return { has: (projectId) => projects.has(projectId), close: () => copy.close() }
}
