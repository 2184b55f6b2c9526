import type { Transaction } from 'kysely'
import { Failure, invalidField } from '../../failure.ts'
import { newId } from '../../ids.ts'
import { countOf, lockQuota, type Database, type Tables } from '../../store/index.ts'
import type { Clock } from '../../clock.ts'
import type { Config } from '../../config.ts'
import type { Attempts } from '../credentials/attempts.ts'
import { isClientAddress, readClientDocument, type ClientDocuments, type RegisteredClient } from './client-documents.ts'

type Parts = {
  store: Database
  now: Clock
  config: Pick<Config, 'limits'>
  clientRegistrations: Attempts
}

/** A client that nobody has approved for so long is forgotten where room is needed. */
const unusedMs = 86_400_000

/**
 * Anybody may register a client: it can do nothing before a person lets it in. So there are only so many from one
 * address, and so many in all.
 */
export async function registerClient(
  app: Parts,
  { name, redirectUris, address }: { name: string; redirectUris: string[]; address: string },
): Promise<RegisteredClient> {
  const waitSeconds = app.clientRegistrations.waitSeconds(address)
  if (waitSeconds > 0) {
    const message = `Too many clients were registered from this address. Wait ${waitSeconds} s.`
    throw new Failure('rate_limit_exceeded', { message, retryAfterSeconds: waitSeconds })
  }
  app.clientRegistrations.recordFailure(address)
  const client = { id: newId('oauthClient'), name, redirectUris }
  await app.store.db.transaction().execute(async (transaction) => keepClient(app, transaction, client))
  return client
}

/** A client that is named by its address is kept with what it says now; any other is new. */
const maxClients = 10_000

export async function keepClient(
  app: Pick<Parts, 'now' | 'config'>,
  transaction: Transaction<Tables>,
  client: RegisteredClient,
): Promise<void> {
  await lockQuota(transaction, 'oauth_clients')
  const count = await countOf(transaction.selectFrom('oauthClients'))
  if (count >= maxClients) {
    const { numDeletedRows } = await transaction
      .deleteFrom('oauthClients')
      .where('createdAt', '<', new Date(app.now() - unusedMs))
      .where('id', 'not in', (row) => row.selectFrom('oauthGrants').select('clientId'))
      .executeTakeFirstOrThrow()
    if (numDeletedRows === 0n) throw new Failure('overloaded', { message: 'No more clients can be registered.' })
  }
  const { name, redirectUris } = client
  await transaction
    .insertInto('oauthClients')
    .values(client)
    .onConflict((conflict) => conflict.column('id').doUpdateSet({ name, redirectUris }))
    .execute()
}

/** The client that asks to be let in, if it says where to return to as it did when it registered. */
export async function findClient(
  app: { store: Database; clientDocuments: ClientDocuments },
  { clientId, redirectUri }: { clientId: string; redirectUri: string },
): Promise<RegisteredClient> {
  const client = isClientAddress(clientId)
    ? await readClientDocument(app, clientId)
    : await findRegistered(app, clientId)
  if (client.redirectUris.some((known) => isSameReturn(known, redirectUri))) return client
  throw invalidField('redirect_uri', 'is not one that the client registered', {
    message: 'The client asks to return to an address that it has not registered. Nothing was sent there.',
  })
}

/** By the id that it was given; the command line is there from the beginning. */
export async function findRegistered(
  { store: { db } }: { store: Database },
  clientId: string,
): Promise<RegisteredClient> {
  const client = await db
    .selectFrom('oauthClients')
    .select(['id', 'name', 'redirectUris'])
    .where('id', '=', clientId)
    .executeTakeFirst()
  if (client !== undefined) return client
  throw new Failure('not_found', { message: 'This client is not registered here. Connect it anew.' })
}

const loopback = /^http:\/\/(localhost|127\.0\.0\.1|\[::1\])(:\d+)?(?=[/?]|$)/

/** To the letter; a program on the person's own machine takes whatever port is free. */
function isSameReturn(known: string, given: string): boolean {
  if (known === given) return true
  const [here, there] = [loopback.exec(known), loopback.exec(given)]
  if (here === null || there === null || here[1] !== there[1]) return false
  return known.slice(here[0].length) === given.slice(there[0].length)
}
