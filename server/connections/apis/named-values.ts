import type { Value } from '../../../api/wire-codec.ts'
import type { variable } from '../../../api/variables.ts'
import type { Kysely, Transaction } from 'kysely'
import type { HttpConfiguration } from '../../../api/connections.ts'
import { recordAct, requireRole, resealColumn, type Caller, type Vault } from '../../access/index.ts'
import type { Config } from '../../config.ts'
import { Failure, invalidField } from '../../failure.ts'
import { mapInPieces } from '../../flow/index.ts'
import { newId } from '../../ids.ts'
import { hasEnvironment } from '../../projects/index.ts'
import { refuseTaken, pageOf, requireRoomInProject, type Database, type Page, type Tables } from '../../store/index.ts'
import { withApi } from '../request/with-api.ts'
import { openRequest, readSharedApis, selectRequests } from './shared-apis.ts'
import { namesIn, type NamedValue, type NamedValues } from '../request/variables.ts'

export type Variable = Value<typeof variable>

type VariableApp = { store: Database; vault: Vault; config: Pick<Config, 'limits'> }
type VariableKey = { projectId: string; variableId: string }

export async function createVariable(
  app: VariableApp,
  caller: Caller,
  input: {
    projectId: string
    name: string
    value: string
    secret: boolean
    origins?: string[] | undefined
    environment?: string | null | undefined
  },
): Promise<Variable> {
  const { projectId, name, value, secret } = input
  const environment = input.environment ?? null
  await requireRole(app, caller, projectId, 'editor')
  await requireEnvironment(app, projectId, environment)
  const origins = readOrigins(input.origins ?? [], secret)
  const id = newId('variable')
  await refuseTaken(
    app.store.db.transaction().execute(async (transaction) => {
      await requireRoomInProject(transaction, {
        projectId,
        table: 'variables',
        most: app.config.limits.variablesPerProject,
        what: 'Variables and secrets of a project are',
      })
      const kept = secret ? { sealedValue: app.vault.seal(value) } : { value }
      await transaction
        .insertInto('variables')
        .values({ id, projectId, environment, name, origins, ...kept })
        .execute()
      await recordAct(transaction, caller, {
        action: 'variable.created',
        target: id,
        projectId,
        details: { name, environment, secret },
      })
    }),
    'variables_name',
    `There is a variable or secret ${name} already. Change that one, or choose another name.`,
  )
  return findVariable(app, { projectId, variableId: id })
}

export async function listVariables(
  app: { store: Database },
  caller: Caller,
  input: { projectId: string; limit: number; cursor?: string | undefined },
): Promise<Page<Variable>> {
  await requireRole(app, caller, input.projectId, 'viewer')
  const page = await pageOf(select(app.store.db, input.projectId), input, 'id')
  return { ...page, items: page.items.map(shown) }
}

/** A secret that is to go elsewhere is given again: whoever may edit must not be able to send it to an address of their own. */
export async function updateVariable(
  app: VariableApp,
  caller: Caller,
  input: VariableKey & { value?: string | undefined; origins?: string[] | undefined },
): Promise<Variable> {
  const { projectId, value } = input
  await requireRole(app, caller, projectId, 'editor')
  await app.store.db.transaction().execute(async (transaction) => {
    const before = await select(transaction, projectId)
      .where('id', '=', input.variableId)
      .forUpdate()
      .executeTakeFirst()
    if (before === undefined) throw noVariable(input.variableId)
    const secret = before.value === null
    const origins = input.origins === undefined ? before.origins : readOrigins(input.origins, secret)
    if (value === undefined && origins.some((origin) => !before.origins.includes(origin))) {
      throw invalidField('value', 'must be given again: a stored secret is sent only to the origins it was stored for')
    }
    const kept = value === undefined ? {} : secret ? { sealedValue: app.vault.seal(value) } : { value }
    await transaction
      .updateTable('variables')
      .set({ ...kept, origins, updatedAt: new Date() })
      .where('id', '=', input.variableId)
      .execute()
    const changed = [...(value === undefined ? [] : ['value']), ...(input.origins === undefined ? [] : ['origins'])]
    const details = { name: before.name, environment: before.environment, changed }
    await recordAct(transaction, caller, { action: 'variable.updated', target: before.id, projectId, details })
  })
  return findVariable(app, input)
}

export async function deleteVariable(app: VariableApp, caller: Caller, input: VariableKey): Promise<void> {
  const { projectId, variableId } = input
  await requireRole(app, caller, projectId, 'editor')
  await app.store.db.transaction().execute(async (transaction) => {
    const gone = await transaction
      .deleteFrom('variables')
      .where('projectId', '=', projectId)
      .where('id', '=', variableId)
      .returning(['name', 'environment'])
      .executeTakeFirst()
    if (gone === undefined) throw noVariable(variableId)
    await refuseNamed(app, transaction, { projectId, ...gone })
    await recordAct(transaction, caller, { action: 'variable.deleted', target: variableId, projectId, details: gone })
  })
}

/** Values of the names in a configuration, where it is used. */
export async function namedValuesFor(
  app: { store: Pick<Database, 'db'>; vault: Vault },
  projectId: string | undefined,
  configuration: HttpConfiguration,
): Promise<NamedValues> {
  const names = namesIn(configuration)
  const { environment = null } = configuration
  if (projectId === undefined) {
    if (names.length === 0 && environment === null) return new Map()
    throw invalidField('project_id', 'is required for variables and secrets of a project')
  }
  await requireEnvironment(app, projectId, environment)
  if (names.length === 0) return new Map()
  const rows = await select(app.store.db, projectId)
    .where('name', 'in', names)
    .where((row) => row.or([row('environment', 'is', null), row('environment', '=', environment ?? '')]))
    // Those of the environment come last and stay.
    .orderBy('environment', (order) => order.asc().nullsFirst())
    .execute()
  return new Map(rows.map((row): [string, NamedValue] => [row.name, valueOf(app.vault, row)]))
}

/** Seals every secret of a project anew, and answers how many there were. */
export const resealVariables = resealColumn('variables', 'sealedValue')

type Row = Omit<Variable, 'secret'> & { sealedValue: Buffer | null }

function select(db: Kysely<Tables> | Transaction<Tables>, projectId: string) {
  return db.selectFrom('variables').selectAll().where('projectId', '=', projectId)
}

function shown({ id, name, environment, value, origins, createdAt, updatedAt }: Row): Variable {
  return { id, name, environment, secret: value === null, value, origins, createdAt, updatedAt }
}

function valueOf(vault: Vault, { value, sealedValue, origins }: Row): NamedValue {
  if (sealedValue === null) return { value: value ?? '', origins: null }
  return { value: vault.open(sealedValue) as string, origins }
}

async function findVariable(app: { store: Database }, { projectId, variableId }: VariableKey): Promise<Variable> {
  const row = await select(app.store.db, projectId).where('id', '=', variableId).executeTakeFirst()
  if (row === undefined) throw noVariable(variableId)
  return shown(row)
}

async function requireEnvironment(
  { store }: { store: Pick<Database, 'db'> },
  projectId: string,
  environment: string | null,
): Promise<void> {
  if (environment === null || (await hasEnvironment(store, { projectId, environment }))) return
  throw invalidField('environment', `names ${environment}, which the project does not have`)
}

function readOrigins(given: string[], secret: boolean): string[] {
  if (!secret && given.length > 0) throw invalidField('origins', 'are for secrets; a variable can be sent anywhere')
  if (secret && given.length === 0) {
    throw invalidField('origins', 'are required for a secret: where it may be sent, such as https://api.example')
  }
  const read = given.map((text) => {
    const isWeb = URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)
    const isOrigin = isWeb && new URL(text).href === `${new URL(text).origin}/`
    if (!isOrigin) throw invalidField('origins', `hold ${text}, which is no origin such as https://api.example`)
    return new URL(text).origin
  })
  return [...new Set(read)]
}

type Gone = { projectId: string; name: string; environment: string | null }

/** A refresh that finds nothing under the name fails in the night; whoever deletes it is here now. */
async function refuseNamed(app: VariableApp, transaction: Transaction<Tables>, gone: Gone): Promise<void> {
  const rest = await select(transaction, gone.projectId).where('name', '=', gone.name).execute()
  const sources = await selectRequests(transaction)
    .select('datasources.name')
    .where('datasources.projectId', '=', gone.projectId)
    .where('datasources.sealedSecrets', 'is not', null)
    .execute()
  const names = (configuration: HttpConfiguration): boolean => {
    if (!namesIn(configuration).includes(gone.name)) return false
    const { environment = null } = configuration
    return !rest.some((other) => other.environment === null || other.environment === environment)
  }
  const requests = await mapInPieces(sources, ({ name, ...row }) => {
    const { configuration, api } = openRequest(app.vault, row)
    const isUser = configuration !== undefined && names(withApi(configuration, api?.configuration ?? null))
    return isUser ? [{ name }] : []
  })
  const apis = await readSharedApis({ ...app, store: { db: transaction } }, gone.projectId)
  const users = [...requests.flat(), ...apis.filter(({ configuration }) => names(configuration))]
  if (users.length === 0) return
  const listed = users.slice(0, 5).map(({ name }) => name)
  const message = `${gone.name} is used by ${listed.join(', ')}${users.length > 5 ? ' and others' : ''}. Change them first.`
  throw new Failure('conflict', { reason: 'in_use', message })
}

function noVariable(variableId: string): Failure {
  return new Failure('not_found', { message: `The project has no variable ${variableId}.` })
}
