import { keyNames, requireRole, type Caller } from '../../access/index.ts'
import { Failure } from '../../failure.ts'
import { timeOfId } from '../../ids.ts'
import type { Database } from '../../store/index.ts'
import type { Usage } from '../record/record.ts'
import { entryColumns, type RequestEntry } from './requests.ts'

type FoundRequest = RequestEntry & { keyName: string | null }

const secondMs = 1_000
/**
 * A call is written when it ends, and its id says when it began: most end within a minute, and none runs longer than the
 * longest query. The clocks of processes may differ a little.
 */
const spans = [
  { beforeMs: 5 * secondMs, afterMs: 60 * secondMs },
  { beforeMs: 600 * secondMs, afterMs: 7_200 * secondMs },
]

const findText = `select ${entryColumns}
  from requests where project_id = $1 and id = $2 and start >= $3 and start < $4 limit 1`

/** One call of the log, by the id that its answer carried. */
export async function findRequest(
  app: { store: Database; usage: Usage },
  caller: Caller,
  { projectId, requestId }: { projectId: string; requestId: string },
): Promise<FoundRequest> {
  await requireRole(app, caller, projectId, 'viewer')
  const begunMs = timeOfId('request', requestId)
  if (begunMs === null) throw noRequest(requestId)
  await app.usage.flush()
  for (const { beforeMs, afterMs } of spans) {
    const span = [new Date(begunMs - beforeMs), new Date(begunMs + afterMs)]
    const { rows } = await app.store.pool.query<RequestEntry>(findText, [projectId, requestId, ...span])
    const [found] = rows
    if (found === undefined) continue
    const names = await keyNames(app.store, found.keyId === null ? [] : [found.keyId])
    return { ...found, keyName: found.keyId === null ? null : (names.get(found.keyId) ?? null) }
  }
  throw noRequest(requestId)
}

function noRequest(requestId: string): Failure {
  return new Failure('not_found', {
    message: `The log of this project has no call ${requestId}. Calls are retained for some days, and appear after a second.`,
  })
}
