import type { alertPreviewInput } from '../../../api/alerts.ts'
import type { Value } from '../../../api/wire-codec.ts'
import { personOf, recordAct, requireRole, type Caller, type Vault } from '../../access/index.ts'
import type { Transaction } from 'kysely'
import { Failure } from '../../failure.ts'
import { newId } from '../../ids.ts'
import type { Config } from '../../config.ts'
import {
  countOf,
  lockProjectForQuota,
  pageOf,
  refuseFull,
  type Page,
  type Role,
  type Tables,
  type Database,
} from '../../store/index.ts'
import type { Alert, Channel } from './measure/alert.ts'
import {
  readAlertChannels,
  readChannels,
  withNewSecret,
  writeChannels,
  type ChannelInput,
  type ChannelRow,
} from './channels.ts'
import { announce, dropDeleted } from './send/notify.ts'
import { checkRules } from './rules.ts'
import type { Post } from './send/post.ts'
import type { Alerts } from './open-alerts.ts'
import type { Clock } from '../../clock.ts'

export type AlertRecord = Alert & { channels: Channel[] }

/** Rules that decide when an alert fires. */
export type AlertRules = Omit<Value<typeof alertPreviewInput>, 'days'>

export type AlertInput = AlertRules & Pick<Alert, 'name' | 'enabled'> & { channels: ChannelInput[] }

type Parts = { store: Database; vault: Vault; post: Post; alerts: Alerts; now: Clock }
type MakingParts = Parts & { config: Pick<Config, 'limits'> }
type AlertKey = { projectId: string; alertId: string }

type Held = Pick<Alert, 'state' | 'value' | 'startedAt' | 'unannounced'>

export async function createAlert(
  app: MakingParts,
  caller: Caller,
  { projectId, channels: given, ...input }: AlertInput & { projectId: string },
): Promise<AlertRecord> {
  await requireRole(app, caller, projectId, 'editor')
  await checkRules(app, projectId, input)
  const channels = await readChannels(app, projectId, given)
  const id = newId('alert', app.now())
  await app.store.db.transaction().execute(async (transaction) => {
    await lockProjectForQuota(transaction, projectId)
    const count = await countOf(
      transaction.selectFrom('alerts').where('projectId', '=', projectId).where('deletedAt', 'is', null),
    )
    const most = app.config.limits.alertsPerProject
    refuseFull({ count, most, what: 'Alerts of a project are' })
    await transaction
      .insertInto('alerts')
      .values({ ...input, id, projectId, createdBy: personOf(caller) })
      .execute()
    await writeChannels(transaction, { alertId: id }, channels)
    const details = { name: input.name, type: input.type }
    await recordAct(transaction, caller, { action: 'alert.created', target: id, projectId, details })
  })
  return withSecrets(await readAlert(app, { projectId, alertId: id }), channels)
}

export async function findAlert(app: { store: Database }, caller: Caller, place: AlertKey): Promise<AlertRecord> {
  await requireRole(app, caller, place.projectId, 'viewer')
  return readAlert(app, place)
}

export async function listAlerts(
  app: { store: Database },
  caller: Caller,
  input: { projectId: string; limit: number; cursor?: string | undefined },
): Promise<Page<AlertRecord>> {
  await requireRole(app, caller, input.projectId, 'viewer')
  const alerts = app.store.db
    .selectFrom('alerts')
    .selectAll()
    .where('projectId', '=', input.projectId)
    .where('deletedAt', 'is', null)
  const page = await pageOf(alerts, input, 'id')
  const channels = await channelsOf(
    app,
    page.items.map(({ id }) => id),
  )
  return { ...page, items: page.items.map((alert) => Object.assign(alert, { channels: channels.get(alert.id) ?? [] })) }
}

/**
 * Changes the given fields. An alert that is switched off, or watches something else, starts over; if it fired, its
 * receivers are notified that it is resolved.
 */
export async function updateAlert(
  app: Parts,
  caller: Caller,
  { projectId, alertId, channels: given, ...changes }: Partial<AlertInput> & AlertKey,
): Promise<AlertRecord> {
  await requireRole(app, caller, projectId, 'editor')
  const { channels: _channels, ...before } = await readAlert(app, { projectId, alertId })
  const known: typeof changes = Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined))
  const after: Alert = { ...before, ...known }
  await checkRules(app, projectId, after)
  const channels = given === undefined ? undefined : await readChannels(app, projectId, given)
  await app.store.db.transaction().execute(async (transaction) => {
    const now = await holdAlert(transaction, alertId)
    const at = new Date(app.now())
    const beginsAnew = watchesElse(before, after)
    const ends = beginsAnew && now.state === 'firing'
    if (ends) await tellEnd(transaction, { alert: before, now, at })
    const fresh = {
      state: 'ok' as const,
      value: null,
      pendingSince: null,
      startedAt: null,
      notifiedAt: null,
      unannounced: false,
    }
    await transaction
      .updateTable('alerts')
      .set({ name: after.name, ...known, ...(beginsAnew && fresh) })
      .where('id', '=', alertId)
      .execute()
    if (channels !== undefined) await writeChannels(transaction, { alertId, lastWordAt: ends ? at : null }, channels)
    const details = { changed: [...Object.keys(known), ...(given === undefined ? [] : ['channels'])] }
    await recordAct(transaction, caller, { action: 'alert.updated', target: alertId, projectId, details })
  })
  return withSecrets(await readAlert(app, { projectId, alertId }), channels ?? [])
}

/** Locks the alert for the transaction: it may have fired, or been deleted, since it was read. */
export async function holdAlert(transaction: Transaction<Tables>, alertId: string): Promise<Held> {
  const held = await transaction
    .selectFrom('alerts')
    .select(['state', 'value', 'startedAt', 'unannounced'])
    .where('id', '=', alertId)
    .where('deletedAt', 'is', null)
    .forUpdate()
    .executeTakeFirst()
  return held ?? missing(alertId)
}

/** Through the channels it has until now. */
async function tellEnd(
  transaction: Transaction<Tables>,
  { alert, now: { value, startedAt, unannounced }, at }: { alert: Alert; now: Held; at: Date },
): Promise<void> {
  await announce(transaction, {
    alert,
    verdict: { state: 'ok', startedAt },
    kind: 'resolved',
    value,
    at,
    silenced: unannounced,
  })
}

function watchesElse(before: Alert, after: Alert): boolean {
  const names = ['type', 'threshold', 'resolveThreshold', 'windowMinutes', 'environment', 'query'] as const
  return !after.enabled || names.some((name) => before[name] !== after[name])
}

/**
 * Deletes an alert for every reader at once. If it fired, its receivers are notified that it is resolved: its channels
 * stay, hidden, until that is delivered.
 */
export async function deleteAlert(
  app: { store: Database; now: Clock },
  caller: Caller,
  { projectId, alertId }: AlertKey,
): Promise<void> {
  await requireRole(app, caller, projectId, 'editor')
  const { channels: _channels, ...alert } = await readAlert(app, { projectId, alertId })
  const { name } = alert
  const at = new Date(app.now())
  await app.store.db.transaction().execute(async (transaction) => {
    const now = await holdAlert(transaction, alertId)
    if (now.state === 'firing') await tellEnd(transaction, { alert, now, at })
    await transaction
      .updateTable('alerts')
      .set({ enabled: false, state: 'ok', deletedAt: at })
      .where('id', '=', alertId)
      .execute()
    await dropDeleted(transaction, alertId)
    await recordAct(transaction, caller, { action: 'alert.deleted', target: alertId, projectId, details: { name } })
  })
}

/** Sends a message of the type `alert.test` through every channel; its state stays as it is. */
export async function testAlert(app: Parts, caller: Caller, place: AlertKey): Promise<{ deliveryIds: string[] }> {
  await requireRole(app, caller, place.projectId, 'editor')
  const { channels: _channels, ...alert } = await readAlert(app, place)
  const at = new Date(app.now())
  const deliveryIds = await app.store.db.transaction().execute(async (transaction) => {
    const { projectId, alertId: target } = place
    await holdAlert(transaction, target)
    await recordAct(transaction, caller, { action: 'alert.tested', target, projectId, details: { name: alert.name } })
    return announce(transaction, { alert, verdict: alert, kind: 'test', value: alert.value, at })
  })
  return { deliveryIds }
}

/** A new secret for a webhook. For the time of grace messages carry the signatures of both. */
export async function rotateAlertSecret(
  app: Parts,
  caller: Caller,
  { projectId, alertId, channelId, graceSeconds }: AlertKey & { channelId: string; graceSeconds: number },
): Promise<Channel> {
  await requireRole(app, caller, projectId, 'editor')
  const { name } = await readAlert(app, { projectId, alertId })
  return app.store.db.transaction().execute(async (transaction) => {
    const row = await transaction
      .selectFrom('alertChannels')
      .select(['id', 'type', 'target', 'sealedSecrets'])
      .where('alertId', '=', alertId)
      .where('id', '=', channelId)
      .where('type', '=', 'webhook')
      .where('removedAt', 'is', null)
      .forUpdate()
      .executeTakeFirst()
    if (row === undefined || row.sealedSecrets === null) {
      throw new Failure('not_found', { message: `The alert has no webhook ${channelId}.` })
    }
    const { secret, sealed } = withNewSecret(app, row.sealedSecrets, graceSeconds)
    await transaction.updateTable('alertChannels').set({ sealedSecrets: sealed }).where('id', '=', channelId).execute()
    const details = { name, channel_id: channelId }
    await recordAct(transaction, caller, { action: 'alert.secret_rotated', target: alertId, projectId, details })
    return { id: row.id, type: row.type, target: row.target, secret, shared: null }
  })
}

/** Alerts that watch one query go on watching it when it is called otherwise. */
export async function renameWatched(
  transaction: Transaction<Tables>,
  { projectId, from, to }: { projectId: string; from: string; to: string },
): Promise<void> {
  await transaction
    .updateTable('alerts')
    .set({ query: to })
    .where('projectId', '=', projectId)
    .where('query', '=', from)
    .execute()
}

/** An alert of another project is as missing as one that does not exist. */
export async function requireAlert(
  app: { store: Database },
  caller: Caller,
  { projectId, alertId, least }: AlertKey & { least: Role },
): Promise<void> {
  await requireRole(app, caller, projectId, least)
  await readAlert(app, { projectId, alertId })
}

export async function readAlert(app: { store: Database }, { projectId, alertId }: AlertKey): Promise<AlertRecord> {
  const alert = await app.store.db
    .selectFrom('alerts')
    .selectAll()
    .where('id', '=', alertId)
    .where('projectId', '=', projectId)
    .where('deletedAt', 'is', null)
    .executeTakeFirst()
  if (alert === undefined) return missing(alertId)
  return { ...alert, channels: (await channelsOf(app, [alertId])).get(alertId) ?? [] }
}

function missing(alertId: string): never {
  throw new Failure('not_found', { message: `There is no alert ${alertId}.` })
}

async function channelsOf({ store }: { store: Database }, alertIds: string[]): Promise<Map<string, Channel[]>> {
  const found = await readAlertChannels(store, alertIds)
  return new Map(Array.from(found, ([id, rows]) => [id, rows.map(shownOf)]))
}

function shownOf({ sealedSecrets: _sealed, ...channel }: ChannelRow): Channel {
  return channel
}

function withSecrets(record: AlertRecord, made: Array<{ id: string; secret?: string }>): AlertRecord {
  const secrets = new Map(made.map(({ id, secret }) => [id, secret]))
  const channels = record.channels.map((channel) => {
    const secret = secrets.get(channel.id)
    return secret === undefined ? channel : Object.assign(channel, { secret })
  })
  return { ...record, channels }
}
