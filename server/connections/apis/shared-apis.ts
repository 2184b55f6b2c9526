import type { Kysely, Transaction } from 'kysely'
import type { ApiRate } from '../../../api/apis.ts'
import type { ApiConfiguration, ForEach, HttpConfiguration, Pagination } from '../../../api/connections.ts'
import type { Vault } from '../../access/index.ts'
import { invalidField } from '../../failure.ts'
import { mapInPieces } from '../../flow/index.ts'
import type { Database, Tables } from '../../store/index.ts'
import { hasApiAuth, requestAddress, withApi } from '../request/with-api.ts'
import { restoreConfiguration } from '../secrets/mask.ts'
import { openConfiguration } from './stored-configuration.ts'

type Db = Kysely<Tables> | Transaction<Tables>

/** An API as requests use it. Its configuration is complete: it never leaves the server so. */
export type SharedApi = {
  id: string
  name: string
  configuration: HttpConfiguration
  rate: ApiRate | null
  tries: number | null
}

/** By name. */
export async function readSharedApis(
  app: { store: Pick<Database, 'db'>; vault: Vault },
  projectId: string,
): Promise<SharedApi[]> {
  const rows = await app.store.db
    .selectFrom('apis')
    .select(columns)
    .where('projectId', '=', projectId)
    .orderBy('name')
    .execute()
  return mapInPieces(rows, (row) => opened(app.vault, row))
}

/** The API that a request names; null where it names none. It stays as it is until a transaction ends. */
export async function apiNamed(
  app: { store: Pick<Database, 'db'>; vault: Vault },
  projectId: string | undefined,
  { api: name }: Pick<HttpConfiguration, 'api'>,
): Promise<SharedApi | null> {
  if (name === undefined) return null
  if (projectId === undefined) throw invalidField('project_id', 'is required for an API of a project')
  const row = await app.store.db
    .selectFrom('apis')
    .select(columns)
    .where('projectId', '=', projectId)
    .where('name', '=', name)
    .forKeyShare()
    .executeTakeFirst()
  if (row === undefined) throw invalidField('api', `names ${name}, which the project does not have`)
  return opened(app.vault, row)
}

/** An API as somebody wants to test it, with the secrets of the stored one of its name. */
export async function apiTried(
  app: { store: Pick<Database, 'db'>; vault: Vault },
  projectId: string | undefined,
  { name = '', config }: { name: string | undefined; config: ApiConfiguration },
): Promise<SharedApi> {
  const known = projectId === undefined ? [] : await readSharedApis(app, projectId)
  const stored = known.find((each) => each.name === name)
  const { id = '', rate = null, tries = null } = stored ?? {}
  return { id, name, rate, tries, configuration: restoreConfiguration(asRequest(config), stored?.configuration) }
}

/** Datasources with their requests and the APIs of these, read as one: else a secret of the one could go to a later address of the other. */
export function selectRequests(db: Db) {
  return db
    .selectFrom('datasources')
    .leftJoin('apis', (join) =>
      join.onRef('apis.projectId', '=', 'datasources.projectId').onRef('apis.name', '=', 'datasources.api'),
    )
    .select([
      'datasources.sealedSecrets',
      'apis.id as apiId',
      'apis.name as apiName',
      'apis.sealedSecrets as apiSecrets',
      'apis.rate as apiRate',
      'apis.tries as apiTries',
    ])
}

type RequestRow = {
  sealedSecrets: Buffer | null
  apiId: string | null
  apiName: string | null
  apiSecrets: Buffer | null
  apiRate: ApiRate | null
  apiTries: number | null
}

/** The stored request of a datasource as its author wrote it, and its API. */
export type StoredRequest = { configuration: HttpConfiguration | undefined; api: SharedApi | null }

export function openRequest(vault: Vault, row: RequestRow): StoredRequest {
  const { apiId: id, apiName: name, apiSecrets, apiRate: rate, apiTries: tries } = row
  const isThere = id !== null && name !== null && apiSecrets !== null
  return {
    configuration: row.sealedSecrets === null ? undefined : openConfiguration(vault, row.sealedSecrets),
    api: isThere ? opened(vault, { id, name, sealedSecrets: apiSecrets, rate, tries }) : null,
  }
}

const columns = ['id', 'name', 'sealedSecrets', 'rate', 'tries'] as const

function opened(
  vault: Vault,
  { sealedSecrets, ...api }: Omit<SharedApi, 'configuration'> & { sealedSecrets: Buffer },
): SharedApi {
  return { ...api, configuration: openConfiguration(vault, sealedSecrets) }
}

/** A base address is asked for nothing itself. */
export function asRequest(config: ApiConfiguration): HttpConfiguration {
  return { ...config, method: 'GET' }
}

type GivenRequest = StoredRequest & { configuration: HttpConfiguration }

/** A request that came with `***` where its secrets are stored, with these; each bound to the address it goes to. */
export function restoredRequest(given: GivenRequest, stored: StoredRequest) {
  const addresses = {
    given: requestAddress(given.configuration, given.api?.configuration ?? null),
    stored: stored.configuration && requestAddress(stored.configuration, stored.api?.configuration ?? null),
  }
  return restoreConfiguration(given.configuration, stored.configuration, addresses)
}

/** An API that is called for rows. */
export type RequestOrigin = {
  kind: 'request'
  /** With what its API says. */
  configuration: HttpConfiguration
  api: SharedApi | null
  /** The authentication is that of the API, and so is what somebody granted. */
  hasApiAuth: boolean
  pagination?: Pagination | undefined
  forEach?: ForEach | undefined
}
type Request = Pick<RequestOrigin, 'configuration' | 'api'>

/** The origin of a request as its author wrote it. */
export function requestOrigin(
  { configuration, api }: Request,
  { pagination, forEach }: Pick<RequestOrigin, 'pagination' | 'forEach'>,
): RequestOrigin {
  const whole = withApi(configuration, api?.configuration ?? null)
  return { kind: 'request', configuration: whole, api, hasApiAuth: hasApiAuth(configuration), pagination, forEach }
}

/** A request that came with `***`, to be stored as it is and to be sent with what its API says. */
export function givenRequest(
  given: GivenRequest,
  stored: StoredRequest | undefined,
  found: Pick<RequestOrigin, 'pagination' | 'forEach'> = {},
): { configuration: HttpConfiguration; origin: RequestOrigin } {
  const configuration = restoredRequest(given, stored ?? { configuration: undefined, api: null })
  return { configuration, origin: requestOrigin({ configuration, api: given.api }, found) }
}
