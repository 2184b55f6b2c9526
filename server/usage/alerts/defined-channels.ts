import type { z } from 'zod'

import type { definedChannel } from '../../../api/alerts.ts'
import { invalidField } from '../../failure.ts'
import type { Vault } from '../../access/index.ts'
import type { ChannelType, Database } from '../../store/index.ts'

import { readAlertChannels, type ChannelInput } from './channels.ts'
import type { ChannelSecrets } from './send/send.ts'

/** A channel as a definition names it: what is secret of it reads `***`. */
export type AuthoredChannel = z.output<typeof definedChannel>

/** One that is stored, with what it is to be known again by. It never leaves the server so. */
export type StoredChannel = {
  id: string
  type: ChannelType
  target: string
  url: string
  secret: string | null
  /** The name of a channel of the project. */
  shared: string | null
}

const hiddenValue = '***'

/** Channels of each alert in their order. */
export async function readStoredChannels(
  app: { store: Pick<Database, 'db'>; vault: Vault },
  alertIds: string[],
): Promise<Map<string, StoredChannel[]>> {
  const found = await readAlertChannels(app.store, alertIds)
  return new Map(
    Array.from(found, ([alertId, rows]) => [
      alertId,
      rows.map(({ sealedSecrets, shared, ...row }) => {
        const secrets = sealedSecrets === null ? null : (app.vault.open(sealedSecrets) as ChannelSecrets)
        return {
          ...row,
          url: secrets?.url ?? row.target,
          secret: secrets?.secret ?? null,
          shared: shared?.name ?? null,
        }
      }),
    ]),
  )
}

/** An address of which nothing is secret is shown; else where it leads. */
export function shownChannel({ type, target, url, shared }: StoredChannel): AuthoredChannel {
  if (shared !== null) return { type: 'shared', name: shared }
  if (type === 'email') return { type, to: target.split(', ') }
  if (type === 'slack') return { type, url: hiddenValue, target }
  const address = url === target ? { url } : { url: hiddenValue, target }
  return { type, ...address, secret: hiddenValue }
}

/** Matches each channel of a definition with a stored one, or takes it for new. */
export function knownChannels(stored: StoredChannel[], given: AuthoredChannel[]): ChannelInput[] {
  const left = [...stored]
  return given.map((channel, at) => {
    const place = left.findIndex((known) => isSame(known, channel))
    const [known] = place === -1 ? [] : left.splice(place, 1)
    if (known !== undefined) return { id: known.id }
    if (channel.type === 'email' || channel.type === 'shared') return channel
    const field = `channels.${at}`
    if (channel.url === hiddenValue) throw invalidField(`${field}.url`, noneStored)
    if (channel.type === 'slack') return { type: channel.type, url: channel.url }
    if (channel.secret === hiddenValue) throw invalidField(`${field}.secret`, noneStored)
    return { type: channel.type, url: channel.url, secret: channel.secret }
  })
}

const noneStored = 'must be given: three stars stand for what is stored, and nothing is stored for it'

function isSame(stored: StoredChannel, channel: AuthoredChannel): boolean {
  if (channel.type === 'shared' || stored.shared !== null) {
    return channel.type === 'shared' && channel.name === stored.shared
  }
  if (stored.type !== channel.type) return false
  if (channel.type === 'email') return channel.to.join(', ') === stored.target
  const isThere =
    channel.url === hiddenValue
      ? channel.target === undefined || channel.target === stored.target
      : addressOf(channel.url) === stored.url
  if (channel.type === 'slack' || !isThere) return isThere
  return channel.secret === undefined || channel.secret === hiddenValue || channel.secret === stored.secret
}

/** The stored form of a channel. */
function addressOf(url: string): string {
  return URL.canParse(url) ? new URL(url).href : url
}
