import type { Database } from '../../store/index.ts'

export type PastAct = { at: Date; action: string; target: string; details: Record<string, unknown> }

type Asked = { projectId: string; actions: string[]; from: Date; to: Date; most: number }

/**
 * Acts of some kinds in a project over a span of time, the oldest first: at most so many, of which the newest count.
 * The log is kept for good, so it knows more of the past than what the acts left.
 */
export async function actsBetween({ db }: Pick<Database, 'db'>, asked: Asked): Promise<PastAct[]> {
  const { projectId, actions, from, to, most } = asked
  const newest = await db
    .selectFrom('auditLog')
    .select(['at', 'action', 'target', 'details'])
    .where('projectId', '=', projectId)
    .where('action', 'in', actions)
    .where('at', '>', from)
    .where('at', '<=', to)
    .orderBy('id', 'desc')
    .limit(most)
    .execute()
  return newest.toReversed()
}

/** The last act of each of these kinds on each thing before a moment, the oldest first. */
export function lastActsBefore(
  { db }: Pick<Database, 'db'>,
  { projectId, actions, before }: { projectId: string; actions: string[]; before: Date },
): Promise<PastAct[]> {
  return db
    .selectFrom((log) =>
      log
        .selectFrom('auditLog')
        .distinctOn(['target', 'action'])
        .select(['id', 'at', 'action', 'target', 'details'])
        .where('projectId', '=', projectId)
        .where('action', 'in', actions)
        .where('at', '<=', before)
        .orderBy('target')
        .orderBy('action')
        .orderBy('id', 'desc')
        .as('last'),
    )
    .select(['at', 'action', 'target', 'details'])
    .orderBy('id')
    .execute()
}
