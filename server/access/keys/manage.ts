import type { Transaction, Updateable } from 'kysely'
import { changeApiKey, rotateApiKey } from '../../../api/keys.ts'
import { toWire } from '../../../api/wire-codec.ts'
import { Failure, invalidField } from '../../failure.ts'
import { newId } from '../../ids.ts'
import { countOf, lockProjectForQuota, refuseFull, type Tables, type Database } from '../../store/index.ts'
import { recordAct } from '../people/audit.ts'
import { personOf, type Caller } from '../people/caller.ts'
import { newCredential } from '../credentials/credential.ts'
import type { ProjectDirectory } from '../people/project-directory.ts'
import { keysChannel, type Keys } from './feed.ts'
import { findKey, listedKeys, readKey, type ApiKey } from './find.ts'
import { requireGrantable, requireGrantableChange } from './grantable.ts'
import { kindFor, type Permission } from './permissions.ts'
import type { KeyRow } from './record.ts'
import { writePermissions } from './rows.ts'
import { namedProjects, requireScope } from './scope.ts'
import type { Clock } from '../../clock.ts'
import type { KeyUses } from './uses.ts'
import type { Plans } from '../limits/policies.ts'
import type { Config } from '../../config.ts'

export type KeyParts = Parts

type Parts = {
  store: Database
  projects: ProjectDirectory
  now: Clock
  keys: Keys
  keyUses: KeyUses
  plans: Plans
  config: Config
}

/** Settings of a key when it is made and changed. Null takes an override or the expiry away. */
export type KeyInput = {
  name: string
  permissions: readonly Permission[]
  plan: string
  rate: { perMinute: number; burst: number } | null
  perDay: number | null
  fixedParameters: Record<string, unknown>
  expiresAt: Date | null
  tags: string[]
}

type Changes = { [Name in keyof KeyInput]?: KeyInput[Name] | undefined }

export async function createKey(app: Parts, caller: Caller, input: NewKey): Promise<ApiKey & { secret: string }> {
  return makeKey(app, caller, { kind: 'key', input })
}

type NewKey = Changes & Pick<KeyInput, 'name' | 'permissions'>

const acts = {
  key: { made: 'api_key.created', revoked: 'api_key.revoked' },
  link: { made: 'query_link.created', revoked: 'query_link.revoked' },
}

/** A key, or a link to a query, which is one that an address carries. */
export async function makeKey(
  app: Parts,
  caller: Caller,
  { kind, input }: { kind: KeyRow['kind']; input: NewKey },
): Promise<ApiKey & { secret: string }> {
  requireSensible(app, input)
  await requireScope(app, caller, input.permissions)
  requireGrantable(app.config, caller, {
    plan: input.plan ?? app.config.defaultPlan,
    rate: input.rate ?? null,
    perDay: input.perDay ?? null,
  })
  const { secret, hash, start, last4 } = newCredential(kind === 'link' ? 'share' : kindFor(input.permissions))
  const id = newId(kind === 'link' ? 'queryLink' : 'key')
  await app.store.db.transaction().execute(async (transaction) => {
    await requireRoom(app.config, transaction, namedProjects(input.permissions))
    await transaction
      .insertInto('apiKeys')
      .values({
        id,
        kind,
        name: input.name,
        plan: input.plan ?? app.config.defaultPlan,
        fixedParameters: JSON.stringify(input.fixedParameters ?? {}),
        expiresAt: input.expiresAt ?? null,
        tags: input.tags ?? [],
        ...overridesOf(input),
        secretHash: hash,
        start,
        last4,
        createdBy: personOf(caller),
      })
      .execute()
    await writePermissions(transaction, id, input.permissions)
    await announce(app, transaction, caller, {
      action: acts[kind].made,
      key: { id, permissions: input.permissions },
      details: detailsOf(input),
    })
  })
  await app.keys.refresh(id)
  const [key] = await listedKeys(app, (keys) => keys.where('id', '=', id))
  if (key === undefined) throw new Failure('internal_error')
  return { ...key, secret }
}

export async function updateKey(
  app: Parts,
  caller: Caller,
  { keyId, ...changes }: Changes & { keyId: string },
): Promise<ApiKey> {
  if (Object.values(changes).every((change) => change === undefined)) return findKey(app, caller, keyId)
  requireSensible(app, changes)
  if (changes.permissions !== undefined) await requireScope(app, caller, changes.permissions)
  await changeKey(app, caller, keyId, async (transaction, key) => {
    const { name, plan, permissions, fixedParameters, expiresAt, tags } = changes
    requireGrantableChange(app.config, caller, { key, changes })
    if (permissions !== undefined) {
      refuseNewKind(key, permissions)
      const reached = namedProjects(key.permissions)
      const added = namedProjects(permissions).filter((projectId) => !reached.includes(projectId))
      await requireRoom(app.config, transaction, added)
      await writePermissions(transaction, keyId, permissions)
    }
    return {
      action: 'api_key.updated',
      details: detailsOf(changes),
      ...(permissions !== undefined && { permissions }),
      columns: {
        ...(name !== undefined && { name }),
        ...(plan !== undefined && { plan }),
        ...(fixedParameters !== undefined && { fixedParameters: JSON.stringify(fixedParameters) }),
        ...(expiresAt !== undefined && { expiresAt }),
        ...(tags !== undefined && { tags }),
        ...overridesOf(changes),
      },
    }
  })
  return findKey(app, caller, keyId)
}

/** A new secret; the old one is good for `graceSeconds` more. One that was in its grace already ends now. */
export async function rotateKey(
  app: Parts,
  caller: Caller,
  { keyId, graceSeconds }: { keyId: string; graceSeconds: number },
): Promise<ApiKey & { secret: string }> {
  const secret = await replaceSecret(app, caller, {
    keyId,
    graceSeconds,
    change: { action: 'api_key.rotated', details: toWire(rotateApiKey, { graceSeconds }), columns: {} },
  })
  return { ...(await findKey(app, caller, keyId)), secret }
}

/** A new secret with a life of its own, for a program that asks for one again and again. */
export async function renewKey(
  app: Parts,
  caller: Caller,
  { keyId, expiresAt, graceSeconds }: { keyId: string; expiresAt: Date; graceSeconds: number },
): Promise<{ secret: string }> {
  const secret = await replaceSecret(app, caller, {
    keyId,
    graceSeconds,
    change: { action: 'api_key.renewed', details: toWire(keyChanges, { expiresAt }), columns: { expiresAt } },
  })
  return { secret }
}

async function replaceSecret(
  app: Parts,
  caller: Caller,
  { keyId, graceSeconds, change }: { keyId: string; graceSeconds: number; change: NonNullable<Change> },
): Promise<string> {
  let shown = ''
  await changeKey(app, caller, keyId, async (_transaction, key) => {
    const { secret, hash, start, last4 } = newCredential(kindFor(key.permissions))
    shown = secret
    const previousUntil = new Date(app.now() + graceSeconds * 1000)
    const columns = { ...change.columns, secretHash: hash, start, last4, previousHash: key.secretHash, previousUntil }
    return { ...change, columns }
  })
  return shown
}

export async function disableKey(app: Parts, caller: Caller, keyId: string): Promise<ApiKey> {
  await changeKey(app, caller, keyId, async (_transaction, key) =>
    key.disabledAt === null ? { action: 'api_key.disabled', columns: { disabledAt: new Date(app.now()) } } : undefined,
  )
  return findKey(app, caller, keyId)
}

export async function enableKey(app: Parts, caller: Caller, keyId: string): Promise<ApiKey> {
  await changeKey(app, caller, keyId, async (_transaction, key) =>
    key.disabledAt === null ? undefined : { action: 'api_key.enabled', columns: { disabledAt: null } },
  )
  return findKey(app, caller, keyId)
}

/** For ever. The record stays, so that whoever still calls with the key is told why it is refused. */
export async function revokeKey(app: Parts, caller: Caller, keyId: string): Promise<void> {
  const { revokedAt: before } = await readKey(app.store.db, caller, keyId)
  if (before !== null) return
  await changeKey(app, caller, keyId, async () => ({
    action: 'api_key.revoked',
    columns: { revokedAt: new Date(app.now()) },
  }))
}

/** Part of another act; afterwards the keys of this process are read again by the caller. */
export async function revokeKeyWithin(
  app: Pick<Parts, 'store' | 'now'>,
  transaction: Transaction<Tables>,
  caller: Caller,
  keyId: string,
): Promise<void> {
  const { revokedAt: before } = await readKey(transaction, caller, keyId)
  if (before !== null) return
  await revokeWithin(app, transaction, { caller, keyId, kind: 'key' })
}

export async function revokeWithin(
  app: Pick<Parts, 'store' | 'now'>,
  transaction: Transaction<Tables>,
  { kind, ...which }: { caller: Caller; keyId: string; kind: KeyRow['kind'] },
): Promise<void> {
  await changeKeyWithin(app, transaction, { ...which, kind }, async () => ({
    action: acts[kind].revoked,
    columns: { revokedAt: new Date(app.now()) },
  }))
}

/** Part of deleting a project: what keys reached of it is taken from them, in the same transaction. */
export async function dropProjectFromKeys(
  app: { store: Database },
  transaction: Transaction<Tables>,
  projectId: string,
): Promise<void> {
  const touched = transaction.selectFrom('apiKeyPermissions').select('keyId').where('projectId', '=', projectId)
  await transaction
    .updateTable('apiKeys')
    .set(({ fn }) => ({ changedAt: fn<Date>('clock_timestamp', []) }))
    .where('id', 'in', touched)
    .execute()
  await transaction.deleteFrom('apiKeyPermissions').where('projectId', '=', projectId).execute()
  await app.store.notify(transaction, keysChannel, '')
}

type Columns = Omit<Updateable<Tables['apiKeys']>, 'id'>
type Change =
  | { action: string; columns: Columns; details?: Record<string, unknown>; permissions?: readonly Permission[] }
  /** Nothing to do: it is so already. */
  | undefined

/**
 * One act on a key that the caller may manage: checked and changed under its lock, written into the audit log, told to
 * every process, and in force in this one when it returns.
 */
async function changeKey(
  app: Parts,
  caller: Caller,
  keyId: string,
  act: (transaction: Transaction<Tables>, key: KeyRow) => Promise<Change>,
): Promise<void> {
  await app.store.db
    .transaction()
    .execute(async (transaction) => changeKeyWithin(app, transaction, { caller, keyId }, act))
  await app.keys.refresh(keyId)
}

async function changeKeyWithin(
  app: Pick<Parts, 'store'>,
  transaction: Transaction<Tables>,
  { caller, keyId, kind = 'key' }: { caller: Caller; keyId: string; kind?: KeyRow['kind'] },
  act: (transaction: Transaction<Tables>, key: KeyRow) => Promise<Change>,
): Promise<void> {
  await transaction.selectFrom('apiKeys').select('id').where('id', '=', keyId).forUpdate().execute()
  const key = await readKey(transaction, caller, keyId, kind)
  if (key.revokedAt !== null) {
    const message = 'This API key was revoked and stays so. Make another one.'
    throw new Failure('conflict', { reason: 'revoked', message })
  }
  const change = await act(transaction, key)
  if (change === undefined) return
  await transaction
    .updateTable('apiKeys')
    .set(({ fn }) => ({ ...change.columns, changedAt: fn<Date>('clock_timestamp', []) }))
    .where('id', '=', keyId)
    .execute()
  const { action, details, permissions = [] } = change
  await announce(app, transaction, caller, {
    action,
    // By the name it has from now on: an id tells nobody which key it was.
    details: { name: change.columns.name ?? key.name, ...details },
    key: { id: keyId, permissions: [...key.permissions, ...permissions] },
  })
}

/** Owners read the log by project, so a key of several projects is in the log of each. */
async function announce(
  app: { store: Database },
  transaction: Transaction<Tables>,
  caller: Caller,
  act: { action: string; key: { id: string; permissions: readonly Permission[] }; details: Record<string, unknown> },
): Promise<void> {
  const { action, key, details } = act
  const projectIds = namedProjects(key.permissions)
  if (projectIds.length === 0) await recordAct(transaction, caller, { action, target: key.id, details })
  for (const projectId of projectIds) {
    await recordAct(transaction, caller, { action, target: key.id, projectId, details })
  }
  await app.store.notify(transaction, keysChannel, key.id)
}

function overridesOf({ rate, perDay }: Changes): Pick<Columns, 'perMinute' | 'burst' | 'perDay'> {
  return {
    ...(rate !== undefined && { perMinute: rate?.perMinute ?? null, burst: rate?.burst ?? null }),
    ...(perDay !== undefined && { perDay }),
  }
}

/** A change as the audit log has it: as the wire does, but for values of slots, of which only the names are recorded. */
function detailsOf({ rate: rateLimit, perDay: dailyQuota, permissions, fixedParameters, ...others }: Changes) {
  const reach = permissions?.map(({ queries, ...each }) => ({ ...each, queries: queries ?? undefined }))
  return {
    ...toWire(keyChanges, { ...others, permissions: reach, rateLimit, dailyQuota }),
    ...(fixedParameters !== undefined && { fixed_parameters: Object.keys(fixedParameters) }),
  }
}

const keyChanges = changeApiKey.omit({ fixed_parameters: true })

function requireSensible(app: { now: Clock; plans: Plans; config: Config }, { plan, expiresAt }: Changes): void {
  const details = []
  if (plan !== undefined && !app.plans.isKnown(plan)) {
    const names = app.config.plans.map(({ name }) => name)
    details.push({ field: 'plan', message: `must be one of ${names.join(', ')}` })
  }
  if (expiresAt !== undefined && expiresAt !== null && expiresAt.getTime() <= app.now()) {
    details.push({ field: 'expires_at', message: 'must be in the future' })
  }
  if (details.length > 0) throw new Failure('invalid_request', { reason: 'invalid_field', details })
}

/** Each project bounds the keys that reach it. In the order of their names, so that two makers never wait for each other. */
async function requireRoom(
  { limits }: Pick<Config, 'limits'>,
  transaction: Transaction<Tables>,
  projectIds: string[],
): Promise<void> {
  for (const projectId of projectIds.toSorted()) {
    await lockProjectForQuota(transaction, projectId)
    const count = await countOf(
      transaction
        .selectFrom('apiKeys')
        .where('revokedAt', 'is', null)
        .where('id', 'in', (row) =>
          row.selectFrom('apiKeyPermissions').select('keyId').where('projectId', '=', projectId),
        ),
    )
    const most = limits.keysPerProject
    refuseFull({ count, most, what: 'API keys that reach a project are' })
  }
}

/** The kind is part of the secret: people and scanners believe that `slc_test_…` opens no production. */
function refuseNewKind({ start }: KeyRow, permissions: readonly Permission[]): void {
  if (start.startsWith('slc_live_') || kindFor(permissions) === 'test') return
  const message = 'would let a key that begins with slc_test_ reach production; make another key'
  throw invalidField('permissions', message)
}
