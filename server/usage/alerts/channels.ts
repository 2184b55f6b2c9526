import { randomBytes } from 'node:crypto'
import type { Selectable, Transaction } from 'kysely'
import type { z } from 'zod'
import type { changeAlert, definedChannel } from '../../../api/alerts.ts'
import { Failure, invalidField } from '../../failure.ts'
import { newId } from '../../ids.ts'
import type { ChannelType, Database, Tables } from '../../store/index.ts'
import type { Channel } from './measure/alert.ts'
import type { ChannelSecrets } from './send/send.ts'
import { resealColumn, type Vault } from '../../access/index.ts'
import type { Clock } from '../../clock.ts'
import type { Post } from './send/post.ts'
import type { Alerts } from './open-alerts.ts'

/** One of an alert: new, there already, or one of the project's own by its id or its name. */
export type ChannelInput =
  | NonNullable<z.output<typeof changeAlert>['channels']>[number]
  | Extract<z.output<typeof definedChannel>, { type: 'shared' }>
export type AddressInput = Extract<ChannelInput, { type: ChannelType }>
type NewChannel = Channel & { sealed: Buffer | null }
type Parts = { store: Pick<Database, 'db'>; vault: Vault; post: Post; alerts: Alerts }

/** Seals the secrets of every channel anew, and answers how many there were. */
export const resealChannels = resealColumn('alertChannels', 'sealedSecrets')
export const resealSharedChannels = resealColumn('notificationChannels', 'sealedSecrets')

/** Invalid channels are refused before anything is written. A missing secret is generated. */
export async function readChannels(
  app: Parts,
  projectId: string,
  inputs: ChannelInput[],
): Promise<Array<NewChannel | { id: string }>> {
  const channels: Array<NewChannel | { id: string }> = []
  for (const [index, input] of inputs.entries()) {
    const field = `channels.${index}`
    if (!('type' in input)) channels.push({ id: input.id })
    else if (input.type === 'shared') channels.push(await findShared(app, projectId, { input, field }))
    else channels.push({ ...(await readAddress(app, input, field)), id: newId('alertChannel'), shared: null })
  }
  return channels
}

type SharedInput = { input: Extract<ChannelInput, { type: 'shared' }>; field: string }

async function findShared({ store }: Parts, projectId: string, { input, field }: SharedInput): Promise<NewChannel> {
  const found = await store.db
    .selectFrom('notificationChannels')
    .select(['id', 'name', 'type', 'target'])
    .where('projectId', '=', projectId)
    .where('name' in input ? 'name' : 'id', '=', 'name' in input ? input.name : input.id)
    .executeTakeFirst()
  if (found === undefined) {
    const called = 'name' in input ? input.name : input.id
    const name = 'name' in input ? `${field}.name` : `${field}.id`
    throw invalidField(
      name,
      `must be a channel of the project, and there is no ${called}: make it first, under alert-channels`,
    )
  }
  const { id: sharedId, name, type, target } = found
  return { id: newId('alertChannel'), type, target, sealed: null, shared: { id: sharedId, name } }
}

type Address = Pick<NewChannel, 'type' | 'target' | 'sealed' | 'secret'>

/** The target of a channel, with its secrets sealed. */
export async function readAddress(app: Omit<Parts, 'store'>, input: AddressInput, field: string): Promise<Address> {
  if (input.type === 'email') {
    if (!app.alerts.sendsMail) throw invalidField(field, 'needs a mail server: SLUICE_SMTP_URL is not set')
    return { type: 'email', target: input.to.join(', '), sealed: null }
  }
  const url = await readUrl(app, input.url, `${field}.url`)
  if (input.type === 'slack') {
    // All of such an address but its host is the credential.
    return { type: 'slack', target: `${url.origin}/…`, sealed: app.vault.seal({ url: url.href }) }
  }
  const secret = input.secret ?? makeSecret()
  if (!isSecret(secret)) throw invalidField(`${field}.secret`, 'must be whsec_ and the base64 of 24 to 64 bytes')
  const secrets: ChannelSecrets = { url: url.href, secret }
  const shown = input.secret === undefined ? { secret } : {}
  return { type: 'webhook', target: url.origin + url.pathname, ...shown, sealed: app.vault.seal(secrets) }
}

async function readUrl(app: Pick<Parts, 'post'>, text: string, field: string): Promise<URL> {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || !['http:', 'https:'].includes(url.protocol))
    throw invalidField(field, 'must be an http(s) address')
  if (url.username !== '' || url.password !== '') throw invalidField(field, 'must hold no user name or password')
  const problem = await app.post.check(url.href)
  // A name that does not resolve today may tomorrow; an address that is forbidden stays so.
  if (problem?.code !== 'url_not_allowed') return url
  const { message } = problem
  throw new Failure('invalid_request', { reason: 'url_not_allowed', message, details: [{ field, message }] })
}

/** A new secret for a webhook; for the time of grace messages carry the signatures of both. */
export function withNewSecret(
  { vault, now }: { vault: Vault; now: Clock },
  before: Buffer,
  graceSeconds: number,
): { secret: string; sealed: Buffer } {
  const { url, secret: old } = vault.open(before) as ChannelSecrets
  const secret = makeSecret()
  const previous = { secret: old ?? '', untilMs: now() + graceSeconds * 1000 }
  return { secret, sealed: vault.seal({ url, secret, ...(graceSeconds > 0 && { previous }) }) }
}

function makeSecret(): string {
  return `whsec_${randomBytes(32).toString('base64')}`
}

function isSecret(text: string): boolean {
  const encoded = /^whsec_([A-Za-z0-9+/]+=*)$/.exec(text)?.[1]
  if (encoded === undefined) return false
  const bytes = Buffer.from(encoded, 'base64').length
  return bytes >= 24 && bytes <= 64
}

export type ChannelRow = Pick<Selectable<Tables['alertChannels']>, 'id' | 'type' | 'target' | 'sealedSecrets'> & {
  shared: Channel['shared']
}

/** Channels of each alert in their order. */
export async function readAlertChannels(
  { db }: Pick<Database, 'db'>,
  alertIds: string[],
): Promise<Map<string, ChannelRow[]>> {
  const found = new Map<string, ChannelRow[]>()
  if (alertIds.length === 0) return found
  const rows = await db
    .selectFrom('alertChannels')
    .leftJoin('notificationChannels', 'notificationChannels.id', 'alertChannels.sharedId')
    .select(['alertChannels.id', 'alertId', 'alertChannels.type', 'alertChannels.target', 'sharedId'])
    .select(['alertChannels.sealedSecrets', 'notificationChannels.name as sharedName'])
    .where('alertId', 'in', alertIds)
    .where('removedAt', 'is', null)
    .orderBy('position')
    .execute()
  for (const { alertId, sharedId, sharedName, ...row } of rows) {
    const shared = sharedId === null ? null : { id: sharedId, name: sharedName ?? '' }
    found.set(alertId, [...(found.get(alertId) ?? []), { ...row, shared }])
  }
  return found
}

/**
 * Makes the channels of an alert those given; the ones named by id stay as they are. Of those that go, `lastWordAt` says
 * that they are still to be told something: they are kept out of sight until they are.
 */
export async function writeChannels(
  transaction: Transaction<Tables>,
  { alertId, lastWordAt = null }: { alertId: string; lastWordAt?: Date | null },
  channels: Array<NewChannel | { id: string }>,
): Promise<void> {
  const stayingIds = channels.filter((channel) => !('type' in channel)).map(({ id }) => id)
  const known = await transaction
    .selectFrom('alertChannels')
    .select('id')
    .where('alertId', '=', alertId)
    .where('removedAt', 'is', null)
    .execute()
  const unknown = stayingIds.find((id) => !known.some((row) => row.id === id))
  if (unknown !== undefined) throw invalidField('channels', `name ${unknown}, which the alert does not have`)
  const gone = known.map(({ id }) => id).filter((id) => !stayingIds.includes(id))
  if (gone.length > 0) await removeChannels(transaction, gone, lastWordAt)
  for (const [position, channel] of channels.entries()) {
    if (!('type' in channel)) {
      await transaction.updateTable('alertChannels').set({ position }).where('id', '=', channel.id).execute()
      continue
    }
    const { id, type, target, sealed, shared } = channel
    await transaction
      .insertInto('alertChannels')
      .values({ id, alertId, position, type, target, sealedSecrets: sealed, sharedId: shared?.id ?? null })
      .execute()
  }
}

async function removeChannels(transaction: Transaction<Tables>, ids: string[], lastWordAt: Date | null): Promise<void> {
  if (lastWordAt === null) await transaction.deleteFrom('alertChannels').where('id', 'in', ids).execute()
  else await transaction.updateTable('alertChannels').set({ removedAt: lastWordAt }).where('id', 'in', ids).execute()
}
