import { labelOf, recordAct, requireRole, type Caller } from '../access/index.ts'
import { openRereads } from '../flow/index.ts'
import type { Observe } from '../observe.ts'
import type { Database } from '../store/index.ts'

/** What a project records of its calls, to run them again before a release. */
export type ReplaySettings = {
  recording: boolean
  /** Most calls of one replay, and most that are kept of each query. */
  maxCalls: number
  /** How long a call is kept. */
  days: number
  /** Slots, of whatever query, whose values are never written down. */
  redactedSlots: string[]
}

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
const retryMs = 1_000

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
  const rereads = openRereads<string>({
    readAll,
    readSome: readAll,
    nameOf: (projectId) => projectId,
    maxSome: 1,
    retryMs,
    onError: (error) => observe({ kind: 'fault', where: 'replay settings', error }),
  })
  const stop = await store.listen(
    settingsChanged,
    () => rereads.note(null),
    () => rereads.note(null),
  )
  await rereads.ask(null)
  return {
    has: (projectId) => projects.has(projectId),
    async close() {
      stop()
      await rereads.close()
    },
  }
}
