import type { DatabaseSnapshot } from '../store/index.ts'

/** The files that rows name, as `sweepFiles` counts them, at the moment of a snapshot. */
export async function namedFiles({ client }: Pick<DatabaseSnapshot, 'client'>): Promise<Set<string>> {
  const { rows } = await client.query<{ hash: string | null }>(
    `select case when load is null then file_hash else deletions->>'hash' end as hash from data_objects
     union select file_hash from data_parts union select native_hash from data_parts`,
  )
  return new Set(rows.flatMap(({ hash }) => (hash === null ? [] : [hash])))
}
