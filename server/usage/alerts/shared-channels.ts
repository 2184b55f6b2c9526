import type { Value } from '../../../api/wire-codec.ts'
import type { notificationChannel } from '../../../api/alerts.ts'
import { fixedLimits } from '../../../api/limits.ts'
import { labelOf, recordAct, requireRole, type Caller, type Vault } from '../../access/index.ts'
import type { Clock } from '../../clock.ts'
import type { Config } from '../../config.ts'
import { Failure } from '../../failure.ts'
import { newId } from '../../ids.ts'
import { refuseTaken, requireRoomInProject, type Database } from '../../store/index.ts'
import { readAddress, withNewSecret, type AddressInput } from './channels.ts'
import type { Alerts } from './open-alerts.ts'
import type { Post } from './send/post.ts'
import type { ChannelSecrets } from './send/send.ts'

/** A way to tell people that a project has once, for any number of its alerts. */
export type SharedChannel = Value<typeof notificationChannel>

type Parts = { store: Database; vault: Vault; post: Post; alerts: Alerts; now: Clock }
type ChannelKey = { projectId: string; sharedChannelId: string }

const columns = ['id', 'name', 'type', 'target', 'testedAt', 'testError', 'createdAt', 'createdBy'] as const

/** Channels by name, each with the alerts that use it. */
export async function listSharedChannels(
  app: { store: Database },
  caller: Caller,
  projectId: string,
): Promise<SharedChannel[]> {
  await requireRole(app, caller, projectId, 'viewer')
  return readAll(app, projectId)
}

export async function createSharedChannel(
  app: Parts & { config: Pick<Config, 'limits'> },
  caller: Caller,
  { projectId, name, channel }: { projectId: string; name: string; channel: AddressInput },
): Promise<SharedChannel> {
  await requireRole(app, caller, projectId, 'editor')
  const { type, target, sealed, secret } = await readAddress(app, channel, 'channel')
  const id = newId('notificationChannel')
  const made = app.store.db.transaction().execute(async (transaction) => {
    const most = fixedLimits.channelsPerProject.value
    const what = 'Channels of a project are'
    await requireRoomInProject(transaction, { projectId, table: 'notificationChannels', most, what })
    await transaction
      .insertInto('notificationChannels')
      .values({ id, projectId, name, type, target, sealedSecrets: sealed, createdBy: labelOf(caller) })
      .execute()
    await recordAct(transaction, caller, {
      action: 'alert_channel.created',
      target: id,
      projectId,
      details: { name, type },
    })
  })
  await refuseTakenName(made, name)
  return withSecret(await read(app, { projectId, sharedChannelId: id }), secret)
}

/** Another address holds for every alert that uses the channel, from the next message on. */
export async function updateSharedChannel(
  app: Parts,
  caller: Caller,
  input: ChannelKey & { name?: string | undefined; channel?: AddressInput | undefined },
): Promise<SharedChannel> {
  const { name, channel, ...place } = input
  await requireRole(app, caller, place.projectId, 'editor')
  const before = await read(app, place)
  const address = channel === undefined ? undefined : await readAddress(app, channel, 'channel')
  const changed = app.store.db.transaction().execute(async (transaction) => {
    const fresh = address && { type: address.type, target: address.target }
    await transaction
      .updateTable('notificationChannels')
      .set({
        name: name ?? before.name,
        ...(address && { ...fresh, sealedSecrets: address.sealed, testedAt: null, testError: null }),
      })
      .where('id', '=', place.sharedChannelId)
      .execute()
    if (fresh !== undefined) {
      await transaction.updateTable('alertChannels').set(fresh).where('sharedId', '=', place.sharedChannelId).execute()
    }
    const details = { name: name ?? before.name, changed: [...(name ? ['name'] : []), ...(channel ? ['address'] : [])] }
    const { projectId, sharedChannelId: target } = place
    await recordAct(transaction, caller, { action: 'alert_channel.updated', target, projectId, details })
  })
  await refuseTakenName(changed, name ?? before.name)
  return withSecret(await read(app, place), address?.secret)
}

/** One that alerts use stays: they would fall silent without a word. */
export async function deleteSharedChannel(app: Parts, caller: Caller, place: ChannelKey): Promise<void> {
  await requireRole(app, caller, place.projectId, 'editor')
  await app.store.db.transaction().execute(async (transaction) => {
    await transaction
      .selectFrom('notificationChannels')
      .select('id')
      .where('id', '=', place.sharedChannelId)
      .forUpdate()
      .execute()
    const { name, alerts } = await read({ store: { ...app.store, db: transaction } }, place)
    if (alerts.length > 0) {
      const used = alerts.map((alert) => alert.name).join(', ')
      throw new Failure('conflict', {
        reason: 'in_use',
        message: `${name} is used by ${used}. Take it out of them first.`,
      })
    }
    await transaction.deleteFrom('notificationChannels').where('id', '=', place.sharedChannelId).execute()
    const { projectId, sharedChannelId: target } = place
    await recordAct(transaction, caller, { action: 'alert_channel.deleted', target, projectId, details: { name } })
  })
}

/** Sends a test now, waits for what becomes of it and keeps that. */
export async function testSharedChannel(app: Parts, caller: Caller, place: ChannelKey): Promise<SharedChannel> {
  await requireRole(app, caller, place.projectId, 'editor')
  const { name, type, target } = await read(app, place)
  const sealed = await sealedOf(app, place)
  const at = new Date(app.now())
  const sent = await app.alerts.send({
    id: newId('delivery', at.getTime()),
    type,
    target,
    secrets: sealed === null ? {} : (app.vault.open(sealed) as ChannelSecrets),
    message: {
      type: 'alert.test',
      timestamp: at.toISOString(),
      data: {
        alert_id: null,
        name: `Channel ${name}`,
        state: 'ok',
        value: null,
        threshold: null,
        project_id: place.projectId,
        environment: null,
        query: null,
        started_at: null,
        alert_type: null,
      },
    },
  })
  await app.store.db.transaction().execute(async (transaction) => {
    await transaction
      .updateTable('notificationChannels')
      .set({ testedAt: at, testError: sent.ok ? null : sent.error.slice(0, 500) })
      .where('id', '=', place.sharedChannelId)
      .execute()
    const { projectId, sharedChannelId } = place
    const details = { name, delivered: sent.ok }
    await recordAct(transaction, caller, {
      action: 'alert_channel.tested',
      target: sharedChannelId,
      projectId,
      details,
    })
  })
  return read(app, place)
}

/** A new secret for a webhook. For the time of grace messages carry the signatures of both. */
export async function rotateSharedChannel(
  app: Parts,
  caller: Caller,
  { graceSeconds, ...place }: ChannelKey & { graceSeconds: number },
): Promise<SharedChannel> {
  await requireRole(app, caller, place.projectId, 'editor')
  const { name, type } = await read(app, place)
  const before = await sealedOf(app, place)
  if (type !== 'webhook' || before === null) {
    throw new Failure('invalid_request', { message: `${name} is no webhook: only those have a secret to renew.` })
  }
  const { secret, sealed } = withNewSecret(app, before, graceSeconds)
  await app.store.db.transaction().execute(async (transaction) => {
    await transaction
      .updateTable('notificationChannels')
      .set({ sealedSecrets: sealed })
      .where('id', '=', place.sharedChannelId)
      .execute()
    const { projectId, sharedChannelId } = place
    await recordAct(transaction, caller, {
      action: 'alert_channel.secret_rotated',
      target: sharedChannelId,
      projectId,
      details: { name },
    })
  })
  return withSecret(await read(app, place), secret)
}

async function sealedOf({ store }: Parts, { projectId, sharedChannelId }: ChannelKey): Promise<Buffer | null> {
  const row = await store.db
    .selectFrom('notificationChannels')
    .select('sealedSecrets')
    .where('projectId', '=', projectId)
    .where('id', '=', sharedChannelId)
    .executeTakeFirst()
  return row?.sealedSecrets ?? null
}

async function read(
  app: { store: Pick<Database, 'db'> },
  { projectId, sharedChannelId }: ChannelKey,
): Promise<SharedChannel> {
  const found = (await readAll(app, projectId)).find(({ id }) => id === sharedChannelId)
  if (found === undefined) throw new Failure('not_found', { message: `The project has no channel ${sharedChannelId}.` })
  return found
}

async function readAll({ store }: { store: Pick<Database, 'db'> }, projectId: string): Promise<SharedChannel[]> {
  const rows = await store.db
    .selectFrom('notificationChannels')
    .select(columns)
    .where('projectId', '=', projectId)
    .orderBy('name')
    .execute()
  const used = await store.db
    .selectFrom('alertChannels')
    .innerJoin('alerts', 'alerts.id', 'alertChannels.alertId')
    .select(['sharedId', 'alerts.id', 'alerts.name'])
    .distinct()
    .where('alerts.projectId', '=', projectId)
    .where('alerts.deletedAt', 'is', null)
    .where('sharedId', 'is not', null)
    .where('removedAt', 'is', null)
    .orderBy('alerts.name')
    .execute()
  return rows.map((row) => ({
    ...row,
    alerts: used.filter(({ sharedId }) => sharedId === row.id).map(({ id, name }) => ({ id, name })),
  }))
}

function withSecret(channel: SharedChannel, secret: string | undefined): SharedChannel {
  return secret === undefined ? channel : { ...channel, secret }
}

function refuseTakenName<Result>(act: Promise<Result>, name: string): Promise<Result> {
  const constraint = 'notification_channels_project_id_name_key'
  return refuseTaken(act, constraint, `There is a channel called ${name} already.`)
}
