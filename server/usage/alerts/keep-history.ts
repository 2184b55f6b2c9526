import type { Database } from '../../store/index.ts'

/** Ends what was told before `before`, with its deliveries. */
export async function dropAlertHistory({ pool }: Pick<Database, 'pool'>, before: Date): Promise<void> {
  await pool.query('delete from alert_events where at < $1', [before])
}
