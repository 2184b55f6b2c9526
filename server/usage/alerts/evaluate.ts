import type { Observe } from '../../observe.ts'
import { takeLease, type Database } from '../../store/index.ts'
import type { Alert, Verdict } from './measure/alert.ts'
import { measureNow } from './measure/alert-types.ts'
import { judgeAlert, tellingOf } from './measure/judge-alert.ts'
import { announce } from './send/notify.ts'
import type { AlertSources } from './measure/sources.ts'

type Parts = { store: Pick<Database, 'db' | 'pool'>; sources: AlertSources; observe: Observe }

/**
 * Looks at every alert once. One replica at a time does it, and none when another has within the interval: false then.
 * An alert that cannot be judged is said and left as it is; the others are judged all the same.
 */
export async function evaluateAlerts(
  { store, sources, observe }: Parts,
  { at, intervalMs }: { at: Date; intervalMs: number },
): Promise<boolean> {
  await using lease = await takeLease(store, 'alerts')
  if (lease === undefined || !(await isDue(store, at, intervalMs))) return false
  const alerts = await store.db.selectFrom('alerts').selectAll().where('enabled', '=', true).execute()
  for (const alert of alerts) {
    try {
      const measured = await measureNow({ store, sources }, alert, at)
      const verdict = judgeAlert(alert, measured, at)
      await keep(store, { alert, verdict, value: measured.value, at })
      const { state } = verdict
      if (state !== alert.state) {
        observe({ kind: 'alert-changed', alertId: alert.id, projectId: alert.projectId, state })
      }
    } catch (error) {
      observe({ kind: 'fault', where: 'alerts', error })
    }
  }
  return true
}

async function isDue({ db }: Pick<Database, 'db'>, at: Date, intervalMs: number): Promise<boolean> {
  const last = await db.selectFrom('alertRounds').select('evaluatedAt').executeTakeFirst()
  // A little early is no matter: timers of replicas are not in step. A clock that went back is no reason to stop.
  if (last !== undefined && Math.abs(at.getTime() - last.evaluatedAt.getTime()) < intervalMs * 0.9) return false
  await db
    .insertInto('alertRounds')
    .values({ evaluatedAt: at })
    .onConflict((conflict) => conflict.column('onlyRow').doUpdateSet({ evaluatedAt: at }))
    .execute()
  return true
}

type Judged = { alert: Alert; verdict: Verdict; value: number; at: Date }

/** The new state and what it gives to tell commit together: nothing is told twice or not at all. */
async function keep({ db }: Pick<Database, 'db'>, { alert, verdict, value, at }: Judged): Promise<void> {
  const { state, pendingSince, startedAt } = verdict
  const { event, silenced, unannounced, notifiedAt } = tellingOf(alert, verdict, at)
  await db.transaction().execute(async (transaction) => {
    const changed = await transaction
      .updateTable('alerts')
      .set({
        state,
        value,
        pendingSince,
        startedAt,
        notifiedAt,
        unannounced,
        evaluatedAt: at,
      })
      .where('id', '=', alert.id)
      // One that was switched off or reset meanwhile is not spoken for.
      .where('enabled', '=', true)
      .where('state', '=', alert.state)
      .returning('id')
      .executeTakeFirst()
    if (changed === undefined || event === null) return
    await announce(transaction, { alert, verdict, kind: event, value, at, silenced })
  })
}
