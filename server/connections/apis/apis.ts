import type { Kysely, Transaction } from 'kysely'
import type { ApiRate, api } from '../../../api/apis.ts'
import type { ApiConfiguration, HttpConfiguration } from '../../../api/connections.ts'
import type { Value } from '../../../api/wire-codec.ts'
import { recordAct, requireRole, resealColumn, type Caller, type Vault } from '../../access/index.ts'
import type { Clock } from '../../clock.ts'
import type { Config } from '../../config.ts'
import { Failure, invalidField } from '../../failure.ts'
import { mapInPieces } from '../../flow/index.ts'
import { newId } from '../../ids.ts'
import { refuseTaken, pageOf, requireRoomInProject, type Database, type Page, type Tables } from '../../store/index.ts'
import { buildRequest } from '../request/build-request.ts'
import { fillVariables } from '../request/variables.ts'
import { withApi } from '../request/with-api.ts'
import { originOf, restoreConfiguration } from '../secrets/mask.ts'
import { mapSecrets } from '../secrets/places.ts'
import { namedValuesFor } from './named-values.ts'
import { asRequest } from './shared-apis.ts'
import { openConfiguration, storeConfiguration, withinConnectionBytes } from './stored-configuration.ts'

export type Api = Value<typeof api>

type ApiApp = { store: Database; vault: Vault; now: Clock; config: Pick<Config, 'limits'> }
type ApiKey = { projectId: string; apiId: string }
type ApiSettings = { rate?: ApiRate | null | undefined; tries?: number | null | undefined }
type Db = Kysely<Tables> | Transaction<Tables>

export async function createApi(
  app: ApiApp,
  caller: Caller,
  input: ApiSettings & { projectId: string; name: string; config: ApiConfiguration },
): Promise<Api> {
  const { projectId, name } = input
  await requireRole(app, caller, projectId, 'editor')
  const configuration = restoreConfiguration(asRequest(input.config), undefined)
  await checkApi(app, projectId, configuration)
  const id = newId('api')
  await refuseTaken(
    app.store.db.transaction().execute(async (transaction) => {
      await requireRoomInProject(transaction, {
        projectId,
        table: 'apis',
        most: app.config.limits.apisPerProject,
        what: 'APIs of a project are',
      })
      await withinConnectionBytes(transaction, { projectId, table: 'apis', id }, () =>
        transaction
          .insertInto('apis')
          .values({ id, projectId, name, ...storeConfiguration(app.vault, configuration), ...settingsOf(input) })
          .execute(),
      )
      await recordAct(transaction, caller, { action: 'api.created', target: id, projectId, details: { name } })
    }),
    'apis_project_id_name_key',
    `There is an API ${name} already. Change that one, or choose another name.`,
  )
  return findApi(app, caller, { projectId, apiId: id })
}

export async function listApis(
  app: { store: Database },
  caller: Caller,
  input: { projectId: string; limit: number; cursor?: string | undefined },
): Promise<Page<Api>> {
  await requireRole(app, caller, input.projectId, 'viewer')
  const page = await pageOf(select(app.store.db, input.projectId), input, 'id')
  return { ...page, items: page.items.map(shown) }
}

export async function findApi(app: { store: Database }, caller: Caller, input: ApiKey): Promise<Api> {
  await requireRole(app, caller, input.projectId, 'viewer')
  const row = await select(app.store.db, input.projectId).where('id', '=', input.apiId).executeTakeFirst()
  if (row === undefined) throw noApi(input.apiId)
  return shown(row)
}

/** Its own secrets are bound to its address as those of a connection are, and those of its connections to the same. */
export async function updateApi(
  app: ApiApp,
  caller: Caller,
  input: ApiKey & ApiSettings & { name?: string | undefined; config?: ApiConfiguration | undefined },
): Promise<Api> {
  const { projectId, apiId } = input
  await requireRole(app, caller, projectId, 'editor')
  await app.store.db.transaction().execute(async (transaction) => {
    const before = await transaction
      .selectFrom('apis')
      .select(['name', 'sealedSecrets'])
      .where('projectId', '=', projectId)
      .where('id', '=', apiId)
      .forUpdate()
      .executeTakeFirst()
    if (before === undefined) throw noApi(apiId)
    const stored = openConfiguration(app.vault, before.sealedSecrets)
    const configuration = input.config === undefined ? undefined : restoreConfiguration(asRequest(input.config), stored)
    if (configuration !== undefined) {
      const within = { ...app, store: { db: transaction } }
      await checkApi(within, projectId, configuration)
      if (originOf(configuration.url) !== originOf(stored.url)) {
        await refuseOtherAddress(within, projectId, before.name)
      }
    }
    const { name = before.name } = input
    const changes = {
      name,
      ...(configuration !== undefined && storeConfiguration(app.vault, configuration)),
      ...settingsOf(input),
    }
    // It may take other calls from now on than it said of those before.
    const values = { ...changes, pausedUntil: null, updatedAt: new Date() }
    await refuseTaken(
      withinConnectionBytes(transaction, { projectId, table: 'apis', id: apiId }, () =>
        transaction.updateTable('apis').set(values).where('id', '=', apiId).execute(),
      ),
      'apis_project_id_name_key',
      `There is an API ${name} already. Choose another name.`,
    )
    if (name !== before.name) await renameInConnections(app, transaction, { projectId, from: before.name, to: name })
    const changed = (['name', 'config', 'rate', 'tries'] as const).filter((field) => input[field] !== undefined)
    const details = { name: before.name, changed }
    await recordAct(transaction, caller, { action: 'api.updated', target: apiId, projectId, details })
  })
  return findApi(app, caller, input)
}

/** The name is part of what is sealed with each connection. */
async function renameInConnections(
  { vault }: Pick<ApiApp, 'vault'>,
  transaction: Transaction<Tables>,
  { projectId, from, to }: { projectId: string; from: string; to: string },
): Promise<void> {
  const users = await connectionsOf(transaction, projectId, from).select(['id', 'sealedSecrets']).forUpdate().execute()
  for (const { id, sealedSecrets } of users) {
    if (sealedSecrets === null) continue
    const configuration = { ...openConfiguration(vault, sealedSecrets), api: to }
    await transaction
      .updateTable('datasources')
      .set(storeConfiguration(vault, configuration))
      .where('id', '=', id)
      .execute()
  }
}

export async function deleteApi(app: { store: Database }, caller: Caller, input: ApiKey): Promise<void> {
  const { projectId, apiId } = input
  await requireRole(app, caller, projectId, 'editor')
  await app.store.db.transaction().execute(async (transaction) => {
    const gone = await transaction
      .deleteFrom('apis')
      .where('projectId', '=', projectId)
      .where('id', '=', apiId)
      .returning('name')
      .executeTakeFirst()
    if (gone === undefined) throw noApi(apiId)
    const users = await connectionsOf(transaction, projectId, gone.name).select('name').limit(6).execute()
    if (users.length > 0) throw inUse(gone.name, users)
    await recordAct(transaction, caller, { action: 'api.deleted', target: apiId, projectId, details: gone })
  })
}

/** Seals every API of a project anew, and answers how many there were. */
export const resealApis = resealColumn('apis', 'sealedSecrets')

function settingsOf({ rate, tries }: ApiSettings) {
  return {
    ...(rate !== undefined && { rate: rate === null ? null : JSON.stringify(rate) }),
    ...(tries !== undefined && { tries }),
  }
}

function connectionsOf(db: Db, projectId: string, name: string) {
  return db.selectFrom('datasources').where('projectId', '=', projectId).where('api', '=', name)
}

function select(db: Db, projectId: string) {
  return db
    .selectFrom('apis')
    .select(['id', 'name', 'config', 'rate', 'tries', 'pausedUntil', 'createdAt', 'updatedAt'])
    .select((row) =>
      row
        .selectFrom('datasources')
        .select((of) => of.fn.countAll<number>().as('count'))
        .whereRef('datasources.projectId', '=', 'apis.projectId')
        .whereRef('datasources.api', '=', 'apis.name')
        .as('connections'),
    )
    .where('projectId', '=', projectId)
}

type Row = Omit<Api, 'config' | 'connections'> & { config: Record<string, unknown>; connections: number | null }

function shown({ config, connections, ...row }: Row): Api {
  const { method: _, ...base } = config
  return { ...row, config: base, connections: connections ?? 0 }
}

/** Says at once what is wrong with it, instead of at the next load. */
async function checkApi(
  app: Pick<ApiApp, 'now' | 'vault'> & { store: Pick<Database, 'db'> },
  projectId: string,
  configuration: HttpConfiguration,
): Promise<void> {
  if (/[?#]/.test(configuration.url.replaceAll(/\{\{[^{}]*\}\}/g, ''))) {
    throw invalidField('config.url', 'is a base address: give what stands behind the ? as parameters')
  }
  const request = withApi({ api: 'api', url: '/', method: 'GET' }, configuration)
  const values = await namedValuesFor(app, projectId, request)
  buildRequest(fillVariables(request, { at: new Date(app.now()), values }))
}

/** Secrets of connections go to the address of their API: with another one they would go there. */
async function refuseOtherAddress(
  app: { store: { db: Db }; vault: Vault },
  projectId: string,
  name: string,
): Promise<void> {
  const sources = await connectionsOf(app.store.db, projectId, name).select(['name', 'sealedSecrets']).execute()
  const found = await mapInPieces(sources, ({ name, sealedSecrets }) => {
    let holds = false
    if (sealedSecrets === null) return []
    mapSecrets(openConfiguration(app.vault, sealedSecrets), (_place, value) => ((holds = true), value))
    return holds ? [{ name }] : []
  })
  const holders = found.flat()
  if (holders.length === 0) return
  throw invalidField(
    'config.url',
    `cannot change its host while connections hold secrets that were given for the old one: ${listed(holders)}. Take those away first, and give them again`,
  )
}

function inUse(name: string, users: Array<{ name: string }>): Failure {
  const message = `${name} is used by ${listed(users)}. Change them first.`
  return new Failure('conflict', { reason: 'in_use', message })
}

function listed(users: Array<{ name: string }>): string {
  const names = users.slice(0, 5).map(({ name }) => name)
  return `${names.join(', ')}${users.length > 5 ? ' and others' : ''}`
}

function noApi(apiId: string): Failure {
  return new Failure('not_found', { message: `The project has no API ${apiId}.` })
}
