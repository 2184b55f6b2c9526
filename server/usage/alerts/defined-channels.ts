import type { Vault } from '../../access/index.ts'
import type { ChannelType, Database } from '../../store/index.ts'
import { invalid } from '../report/range.ts'
import type { ChannelInput } from './channels.ts'
import type { ChannelSecrets } from './send/send.ts'

/** A channel as a definition names it: what is secret of it reads `***`. */
export type AuthoredChannel =
  | { type: 'webhook'; url: string; target?: string | undefined; secret?: string | undefined }
  | { type: 'slack'; url: string; target?: string | undefined }
  | { type: 'email'; to: string[] }
  /** One of the project's own, by its name. */
  | { type: 'shared'; name: string }

/** One that is stored, with what it is to be known again by. It never leaves the server so. */
export type StoredChannel = {
  id: string
  type: ChannelType
  target: string
  url: string
  secret: string | null
  /** What the project calls it, where it is one of the project's own. */
  shared: string | null
}

const hiddenValue = '***'

/** Of each alert in their order. */
export async function readStoredChannels(
  app: { store: Pick<Database, 'db'>; vault: Vault },
  alertIds: string[],
): Promise<Map<string, StoredChannel[]>> {
  const found = new Map<string, StoredChannel[]>()
  if (alertIds.length === 0) return found
  const rows = await app.store.db
    .selectFrom('alertChannels')
    .leftJoin('notificationChannels', 'notificationChannels.id', 'alertChannels.sharedId')
    .select(['alertChannels.id', 'alertId', 'alertChannels.type', 'alertChannels.target'])
    .select(['alertChannels.sealedSecrets', 'notificationChannels.name as shared'])
    .where('alertId', 'in', alertIds)
    .where('removedAt', 'is', null)
    .orderBy('position')
    .execute()
  for (const { alertId, sealedSecrets, ...row } of rows) {
    const secrets = sealedSecrets === null ? null : (app.vault.open(sealedSecrets) as ChannelSecrets)
    const channel = { ...row, url: secrets?.url ?? row.target, secret: secrets?.secret ?? null }
    found.set(alertId, [...(found.get(alertId) ?? []), channel])
  }
  return found
}

/** An address of which nothing is secret is shown; else where it leads. */
export function shownChannel({ type, target, url, shared }: StoredChannel): AuthoredChannel {
  if (shared !== null) return { type: 'shared', name: shared }
  if (type === 'email') return { type, to: target.split(', ') }
  if (type === 'slack') return { type, url: hiddenValue, target }
  const address = url === target ? { url } : { url: hiddenValue, target }
  return { type, ...address, secret: hiddenValue }
}

/** What each channel of a definition is: one that is stored, or a new one. */
export function knownChannels(stored: StoredChannel[], given: AuthoredChannel[]): ChannelInput[] {
  const left = [...stored]
  return given.map((channel, at) => {
    const place = left.findIndex((known) => isSame(known, channel))
    const [known] = place === -1 ? [] : left.splice(place, 1)
    if (known !== undefined) return { id: known.id }
    if (channel.type === 'email' || channel.type === 'shared') return channel
    const field = `channels.${at}`
    if (channel.url === hiddenValue) throw invalid(`${field}.url`, noneStored)
    if (channel.type === 'slack') return { type: channel.type, url: channel.url }
    if (channel.secret === hiddenValue) throw invalid(`${field}.secret`, noneStored)
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

/** As it is stored. */
function addressOf(url: string): string {
  return URL.canParse(url) ? new URL(url).href : url
}
