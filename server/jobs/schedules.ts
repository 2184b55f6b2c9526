import { Cron } from 'croner'
import { type Failure, invalidField } from '../failure.ts'

/** Five fields or a name: neither can say more than once a minute. */
const shape = /^(@(hourly|daily|midnight|weekly|monthly|yearly|annually)|\S+(\s+\S+){4})$/

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

function invalid(field: string, message: string, cause?: unknown): Failure {
  return invalidField(field, message, { cause })
}
