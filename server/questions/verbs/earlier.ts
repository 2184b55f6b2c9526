import { isDeepStrictEqual } from 'node:util'
import type { KeyCaller } from '../../access/index.ts'
import { Failure } from '../../failure.ts'
import type { Earlier } from '../../router/index.ts'
import type { Database } from '../../store/index.ts'
import type { QuestionLog } from './log.ts'

/**
 * What an earlier question of the same key in the same place was answered with. The log of questions is all that is
 * remembered: what it does not keep, nobody can go on from.
 */
export async function findEarlier(
  app: { store: Database; questionLog: QuestionLog },
  { key }: KeyCaller,
  { place, requestId }: { place: { projectId: string; environment: string }; requestId: string },
): Promise<Earlier> {
  await app.questionLog.flush()
  const row = await app.store.db
    .selectFrom('questions')
    .select(['query', 'parameters'])
    .where('projectId', '=', place.projectId)
    .where('environment', '=', place.environment)
    .where('requestId', '=', requestId)
    .where('keyId', '=', key.id)
    .where('outcome', '=', 'answered')
    .executeTakeFirst()
  if (row === undefined || row.query === null || row.parameters === null || !isOwn(key, row.parameters)) {
    throw new Failure('not_found', {
      message:
        'There is no answered question of this key with that request id that can be gone on from. Ask the whole question.',
    })
  }
  return { query: row.query, parameters: row.parameters }
}

/** Visitors of a page share its key, each with values that are fixed for them: what another asked is not theirs. */
function isOwn({ fixedParameters }: KeyCaller['key'], asked: Record<string, unknown>): boolean {
  return Object.entries(fixedParameters).every(
    ([name, value]) => !Object.hasOwn(asked, name) || isDeepStrictEqual(asked[name], value),
  )
}
