import { isSecretName } from '../../api/secret-names.ts'
import { requireRole, type Caller, type Vault } from '../access/index.ts'
import { timeOfId } from '../ids.ts'
import type { Database } from '../store/index.ts'
import type { CallRecorder } from './recorder.ts'
import { readReplaySettings } from './settings.ts'

/** Around the moment that the id of a request tells: a call is written when it ends. */
const [beforeMs, afterMs] = [60_000, 7_200_000]
const hiddenValue = '***'

/**
 * The values of one call of the log, where its project records them and it was among those that are; for its editors. What goes by the
 * name of a secret is not told.
 */
export async function findCallValues(
  app: { store: Database; vault: Vault; recorder: CallRecorder },
  caller: Caller,
  { projectId, requestId }: { projectId: string; requestId: string },
): Promise<{ recording: boolean; parameters: Record<string, unknown> | null }> {
  const role = await requireRole(app, caller, projectId, 'viewer')
  const { recording } = await readReplaySettings(app.store, projectId)
  const begunMs = timeOfId('request', requestId)
  // As with replays: values of callers are for those who change what answers them.
  if (begunMs === null || role === 'viewer') return { recording, parameters: null }
  if (recording) await app.recorder.flush()
  const { rows } = await app.store.pool.query<{ sealed: Buffer }>(
    `select sealed_parameters as sealed from recorded_calls
      where project_id = $1 and at >= $2 and at <= $3 and request_ids @> array[$4] limit 1`,
    [projectId, new Date(begunMs - beforeMs), new Date(begunMs + afterMs), requestId],
  )
  const [found] = rows
  if (found === undefined) return { recording, parameters: null }
  const values = app.vault.open(found.sealed) as Record<string, unknown>
  const shown = Object.entries(values).map(([name, value]) => [name, isSecretName(name) ? hiddenValue : value])
  return { recording, parameters: Object.fromEntries(shown) as Record<string, unknown> }
}
