import { fixedLimits } from '../../../api/limits.ts'
import type { Clock } from '../../clock.ts'
import { invalidField } from '../../failure.ts'
import { pageAfter, type Database, type Page } from '../../store/index.ts'
import type { Caller } from '../people/caller.ts'
import { requireRole } from '../people/roles.ts'
import { listedKeys, readKey, type ApiKey } from '../keys/find.ts'
import { makeKey, revokeWithin, type KeyInput, type KeyParts } from '../keys/manage.ts'
import type { KeyUses } from '../keys/uses.ts'

/** A key that opens one query with given values, by its address alone. */
export type QueryLink = Pick<ApiKey, 'id' | 'name' | 'rate' | 'perDay' | 'last4' | 'createdBy' | 'createdAt'> & {
  query: string
  environment: string
  parameters: Record<string, unknown>
  status: 'active' | 'expired' | 'revoked'
  expiresAt: Date
  lastUsedAt: Date | null
  calls: number
}

export type NewQueryLink = Pick<KeyInput, 'rate' | 'perDay'> & {
  projectId: string
  environment: string
  query: string
  name?: string | undefined
  parameters: Record<string, unknown>
  expiresAt: Date
}

type Parts = { store: Database; keyUses: KeyUses; now: Clock }

const dayMs = 86_400_000

/** For owners. That the query can be called with the values is for its room to see first. */
export async function createQueryLink(
  app: KeyParts,
  caller: Caller,
  { projectId, environment, query, name = query, parameters, ...rest }: NewQueryLink,
): Promise<QueryLink & { secret: string }> {
  await requireRole(app, caller, projectId, 'owner')
  const most = fixedLimits.queryLinkDays.value
  if (rest.expiresAt.getTime() > app.now() + most * dayMs) {
    throw invalidField('expires_at', `must be at most ${most} days from now`)
  }
  const permissions = [{ projectId, environments: [environment], queries: [query] }]
  const { secret, ...key } = await makeKey(app, caller, {
    kind: 'link',
    input: { ...rest, name, permissions, fixedParameters: parameters },
  })
  return { ...asLink(key), secret }
}

/** The links of a project, newest first. */
export async function listQueryLinks(
  app: Parts,
  caller: Caller,
  { projectId, query, ...page }: { projectId: string; query?: string | undefined; limit: number; cursor?: string },
): Promise<Page<QueryLink>> {
  await requireRole(app, caller, projectId, 'owner')
  const found = await pageAfter(
    (after, limit) =>
      listedKeys(app, (keys) =>
        keys
          .where('kind', '=', 'link')
          .where('id', 'in', (rows) =>
            rows
              .selectFrom('apiKeyPermissions')
              .select('keyId')
              .where('projectId', '=', projectId)
              .$if(query !== undefined, (narrowed) =>
                narrowed.where((is) => is(is.val(query ?? ''), '=', is.fn.any('apiKeyPermissions.queries'))),
              ),
          )
          .$if(after !== undefined, (narrowed) => narrowed.where('id', '<', after ?? ''))
          .orderBy('id', 'desc')
          .limit(limit),
      ),
    page,
    (key) => key.id,
  )
  return { ...found, items: found.items.map(asLink) }
}

/** For ever, and at once. Its record stays, with its count. */
export async function revokeQueryLink(
  app: KeyParts,
  caller: Caller,
  { projectId, linkId }: { projectId: string; linkId: string },
): Promise<void> {
  await requireRole(app, caller, projectId, 'owner')
  const { revokedAt } = await readKey(app.store.db, caller, linkId, 'link')
  if (revokedAt !== null) return
  await app.store.db
    .transaction()
    .execute(async (transaction) => revokeWithin(app, transaction, { caller, keyId: linkId, kind: 'link' }))
  await app.keys.refresh(linkId)
}

function asLink({ permissions, fixedParameters, expiresAt, status, ...key }: ApiKey): QueryLink {
  const [reached] = permissions
  const { id, name, rate, perDay, last4, createdBy, createdAt, lastUsedAt, calls } = key
  return {
    id,
    name,
    rate,
    perDay,
    last4,
    createdBy,
    createdAt,
    lastUsedAt,
    calls,
    query: reached?.queries?.[0] ?? '',
    environment: reached?.environments === '*' ? '' : (reached?.environments[0] ?? ''),
    parameters: fixedParameters,
    status: status === 'disabled' ? 'revoked' : status,
    expiresAt: expiresAt ?? createdAt,
  }
}
