import type { Transaction } from 'kysely'
import type { Caller } from '../../access/index.ts'
import { nextRun, type Jobs } from '../../jobs/index.ts'
import type { Observe } from '../../observe.ts'
import type { Database, Tables } from '../../store/index.ts'
import type { Clock } from '../../clock.ts'
import { jobOf, queueRefresh } from './refresh.ts'

const maxPerTick = 100

/**
 * Enqueues a refresh for each datasource that is due, and moves its next time on. Rows are locked while that happens,
 * so replicas share the work; times missed meanwhile count as one; one that still runs is not joined by another.
 */
export async function runDueSchedules(app: {
  store: Pick<Database, 'db'>
  jobs: Pick<Jobs, 'enqueue' | 'isUnfinished'>
  now: Clock
  observe: Observe
}): Promise<void> {
  const at = new Date(app.now())
  await app.store.db.transaction().execute(async (transaction) => {
    const due = await transaction
      .selectFrom('datasources')
      .select(['id', 'kind', 'projectId', 'schedule', 'scheduleTimeZone'])
      .where('nextRefreshAt', '<=', at)
      .orderBy('nextRefreshAt')
      .limit(maxPerTick)
      .forUpdate()
      .skipLocked()
      .execute()
    for (const { id, kind, projectId, schedule, scheduleTimeZone: timeZone } of due) {
      const next = schedule === null ? null : nextOrNone(schedule, timeZone, at, app.observe)
      await transaction.updateTable('datasources').set({ nextRefreshAt: next }).where('id', '=', id).execute()
      const refresh = { jobType: jobOf(kind), sourceId: id }
      if (next === null || (await app.jobs.isUnfinished(transaction, refresh))) continue
      await app.jobs.enqueue(transaction, { ...refresh, projectId, source: 'datasource', sourceEventType: 'schedule' })
    }
  })
}

/** A stored schedule that newer rules refuse must not hold up the others. */
function nextOrNone(schedule: string, timeZone: string, after: Date, observe: Observe): Date | null {
  try {
    return nextRun(schedule, timeZone, after)
  } catch (error) {
    observe({ kind: 'fault', where: 'schedules', error })
    return null
  }
}

/** First loads of the tables that ask for each row of one, once that one has data. */
export async function loadWaiting(
  app: { jobs: Jobs },
  transaction: Transaction<Tables>,
  caller: Caller,
  { projectId, tableName }: { projectId: string; tableName: string },
): Promise<void> {
  const waiting = await transaction
    .selectFrom('datasources')
    .select(['id', 'forEach'])
    .where('projectId', '=', projectId)
    .where('forEach', 'is not', null)
    .where('refreshedAt', 'is', null)
    .where('sealedSecrets', 'is not', null)
    .orderBy('id')
    .execute()
  for (const { id, forEach } of waiting) {
    if (forEach?.['table'] !== tableName) continue
    await queueRefresh(app, transaction, caller, { projectId, datasourceId: id })
  }
}
