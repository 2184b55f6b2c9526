import type { Connection } from '../../store/index.ts'

/** Records up to when something is counted, in the transaction that counted it. */
export async function noteProgress(connection: Connection, name: string, until: number): Promise<void> {
  await connection.query(
    `insert into usage_progress values ($1, $2)
       on conflict (grain) do update set until = greatest(usage_progress.until, excluded.until)`,
    [name, new Date(until)],
  )
}
