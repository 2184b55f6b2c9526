import { Cron } from 'croner'
import { Failure } from '../failure.ts'
import type { Observe } from '../observe.ts'
import type { Database } from '../store/index.ts'
import type { JobRecord, JobTransaction, NewJob } from './job.ts'

/** Five fields or a name: neither can say more than once a minute. */
const shape = /^(@(hourly|daily|midnight|weekly|monthly|yearly|annually)|\S+(\s+\S+){4})$/
const mostPerTick = 100

/** The first time after `after` at which a schedule is due. Refuses what is no schedule, or would never be due. */
export function nextRun(cron: string, timeZone: string, after: Date): Date {
  try {
    void new Intl.DateTimeFormat('en', { timeZone })
  } catch (error) {
    throw invalid('schedule_time_zone', 'must be a time zone, for example Europe/Berlin', error)
  }
  if (!shape.test(cron.trim())) {
    throw invalid('schedule', 'must have five fields (minute hour day month weekday), at most once a minute')
  }
  let next: Date | null
  try {
    next = new Cron(cron.trim(), { mode: '5-part', timezone: timeZone, paused: true }).nextRun(after)
  } catch (error) {
    throw invalid('schedule', 'must be a cron expression, for example 0 6 * * 1-5', error)
  }
  if (next === null) throw invalid('schedule', 'must name a time that comes')
  return next
}

/**
 * Enqueues a refresh for each datasource that is due, and moves its next time on. Rows are locked while that happens,
 * so replicas share the work; times missed meanwhile count as one; one that still runs is not joined by another.
 */
export async function runDueSchedules({
  store,
  enqueue,
  now,
  observe,
}: {
  store: Pick<Database, 'db'>
  enqueue: (transaction: JobTransaction, job: NewJob) => Promise<JobRecord>
  now: () => number
  observe: Observe
}): Promise<void> {
  const at = new Date(now())
  await store.db.transaction().execute(async (transaction) => {
    const due = await transaction
      .selectFrom('datasources')
      .select(['id', 'project_id', 'schedule', 'schedule_time_zone'])
      .where('next_refresh_at', '<=', at)
      .orderBy('next_refresh_at')
      .limit(mostPerTick)
      .forUpdate()
      .skipLocked()
      .execute()
    for (const { id, project_id: projectId, schedule, schedule_time_zone: timeZone } of due) {
      const next = schedule === null ? null : nextOrNone(schedule, timeZone, at, observe)
      await transaction.updateTable('datasources').set({ next_refresh_at: next }).where('id', '=', id).execute()
      if (next === null || (await isRefreshing(transaction, id))) continue
      const source = { source: 'datasource', sourceId: id, sourceEventType: 'schedule' }
      await enqueue(transaction, { projectId, jobType: 'refresh_datasource', ...source })
    }
  })
}

async function isRefreshing(transaction: JobTransaction, datasourceId: string): Promise<boolean> {
  const job = await transaction
    .selectFrom('jobs')
    .select('id')
    .where('status', 'in', ['queued', 'running'])
    .where('job_type', '=', 'refresh_datasource')
    .where('source_id', '=', datasourceId)
    .executeTakeFirst()
  return job !== undefined
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

function invalid(field: string, message: string, cause?: unknown): Failure {
  return new Failure('invalid_request', {
    reason: 'invalid_field',
    message: `${field} ${message}.`,
    details: [{ field, message }],
    cause,
  })
}
