import type { Value } from '../../../api/wire-codec.ts'
import type { timeline } from '../../../api/usage.ts'
import { requireRole, type Caller } from '../../access/index.ts'
import type { Database } from '../../store/index.ts'

/** Starts and ends of firings, as marks on a time line. */
export type AlertMark = Value<typeof timeline>['data'][number]

type Asked = { projectId: string; environment?: string | undefined; from: Date; to: Date; limit: number }

/** The newest first. An alert of no environment in particular is about every one. */
export async function alertMarks(
  app: { store: Database },
  caller: Caller,
  { projectId, environment, from, to, limit }: Asked,
): Promise<AlertMark[]> {
  await requireRole(app, caller, projectId, 'viewer')
  const rows = await app.store.db
    .selectFrom('alertEvents')
    .innerJoin('alerts', 'alerts.id', 'alertEvents.alertId')
    .select(['alertEvents.at', 'alertEvents.kind', 'alerts.id', 'alerts.name as title', 'alerts.environment'])
    .where('alerts.projectId', '=', projectId)
    .where('alerts.deletedAt', 'is', null)
    .where('alertEvents.kind', 'in', ['firing', 'resolved'])
    .where('alertEvents.at', '>=', from)
    .where('alertEvents.at', '<', to)
    .$if(environment !== undefined, (query) =>
      query.where((row) => row.or([row('environment', 'is', null), row('environment', '=', environment ?? '')])),
    )
    .orderBy('alertEvents.at', 'desc')
    .limit(limit)
    .execute()
  return rows.map(({ kind, ...mark }) => ({ ...mark, kind: kind === 'firing' ? 'alert_firing' : 'alert_resolved' }))
}
