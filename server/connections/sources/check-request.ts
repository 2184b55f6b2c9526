import type { ForEach, HttpConfiguration, Pagination } from '../../../api/connections.ts'
import type { Vault } from '../../access/index.ts'
import { namedValuesFor } from '../apis/named-values.ts'
import type { SharedApi } from '../apis/shared-apis.ts'
import type { Clock } from '../../clock.ts'
import { Failure, invalidField } from '../../failure.ts'
import { buildRequest } from '../request/build-request.ts'
import { startOf } from '../request/last-value.ts'
import { checkSteps } from '../request/steps.ts'
import { exampleRow, fillVariables, holdsLastValue } from '../request/variables.ts'
import { withApi } from '../request/with-api.ts'
import type { Database, LoadRule, SourceKind } from '../../store/index.ts'

export type DatasourceChanges = {
  name?: string | undefined
  config?: HttpConfiguration | undefined
  pagination?: Pagination | null | undefined
  forEach?: ForEach | null | undefined
  load?: LoadRule | undefined
  schedule?: string | null | undefined
  scheduleTimeZone?: string | undefined
  keepVersions?: number | undefined
  tags?: string[] | undefined
}

/** Says at once what is wrong with a request, instead of at the first refresh. */
export async function checkRequest(
  app: { now: Clock; vault: Vault; store: Pick<Database, 'db'> },
  {
    projectId,
    config: own,
    api,
    forEach = null,
    load = { mode: 'replace' },
  }: Pick<DatasourceChanges, 'config' | 'forEach' | 'load'> & { projectId: string; api: SharedApi | null },
): Promise<void> {
  if (own === undefined) return
  const config = withApi(own, api?.configuration ?? null)
  if (load.cursor === undefined && holdsLastValue(config)) {
    const message = 'holds {{last_value}}: say in load.cursor.field of which column'
    const details = [{ field: 'config', message }]
    throw new Failure('invalid_request', { reason: 'invalid_field', message: `config ${message}.`, details })
  }
  const values = await namedValuesFor(app, projectId, config)
  if (forEach !== null && load.windows !== undefined) {
    throw invalidField('load.windows', 'cannot be with for_each: give the span of days as parameters')
  }
  const row = exampleRow(config, { forEach, load })
  const moment = { at: new Date(app.now()), values, row, lastValue: startOf(load, null) }
  buildRequest(fillVariables(config, moment))
  checkSteps(config, moment)
}

/** Refuses settings that only make sense where something is called. */
export function refuseRequest(
  { config, pagination, forEach, schedule }: DatasourceChanges,
  kind: Exclude<SourceKind, 'http_api'>,
): void {
  const given = { config, pagination, for_each: forEach, ...(kind === 'file' && { schedule }) }
  const [field] = Object.entries(given).find(([, value]) => value !== undefined && value !== null) ?? []
  if (field === undefined) return
  const what = kind === 'file' ? 'this one takes files' : 'this one is a model'
  const message = `is for datasources of the kind http_api; ${what}`
  const details = [{ field, message }]
  throw new Failure('invalid_request', { reason: 'invalid_field', message: `${field} ${message}.`, details })
}
