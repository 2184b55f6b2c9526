import { isDeepStrictEqual } from 'node:util'
import type { ApiConfiguration } from '../../api/connections.ts'
import { columnRule } from '../../api/datasources.ts'
import type { DefinedConnection, DefinedVariable } from '../../api/definition.ts'
import { fromWire } from '../../api/wire-codec.ts'
import {
  changeSchema,
  checkServedData,
  createDatasource,
  createVariable,
  deleteDatasource,
  deleteVariable,
  hidden,
  refreshDatasource,
  requestAddress,
  restoreConfiguration,
  ruleChanges,
  updateDatasource,
  updateVariable,
  type AuthoredSource,
  type AuthoredVariable,
  type DatasourceChanges,
} from '../connections/index.ts'
import { type Failure, invalidField } from '../failure.ts'
import type { ColumnRule } from '../store/index.ts'
import { changesBetween, comparedEntry, entryOf } from './plan-entry.ts'
import { connectionFields, definedConnection, definedVariable, normalConfiguration, schemaFields } from './state.ts'
import type { Doing, Step } from './steps.ts'

export function variableName({ name, environment }: { name: string; environment: string | null }): string {
  return environment === null ? name : `${environment}/${name}`
}

export function planVariable(known: AuthoredVariable | undefined, given: DefinedVariable): Step {
  const name = variableName(given)
  const { secret, value, origins, environment } = given
  if (known === undefined) {
    return {
      entry: entryOf('variable', name, { action: 'create', changes: changesBetween({}, masked(given)) }),
      async apply({ app, caller, projectId }) {
        if (secret && value === hidden) throw notStored('value')
        await createVariable(app, caller, { projectId, name: given.name, value, secret, origins, environment })
      },
    }
  }
  const isOtherSecret = secret && known.isSecret && value !== hidden && value !== known.value
  const shown = changesBetween(definedVariable(known), masked(given))
  const changes = isOtherSecret ? [...shown, { field: 'value', before: hidden, after: hidden }] : shown
  const entry = comparedEntry('variable', name, changes)
  if (changes.length === 0) return { entry, apply: null }
  return {
    entry,
    async apply({ app, caller, projectId }) {
      if (secret !== known.isSecret) {
        const message = 'cannot change: delete it and make it anew'
        throw invalidField('secret', message)
      }
      const isUnchanged = secret && value === hidden
      const input = { projectId, variableId: known.id, ...(!isUnchanged && { value }), ...(secret && { origins }) }
      await updateVariable(app, caller, input)
    },
  }
}

export function dropVariable(known: AuthoredVariable): Step {
  return {
    entry: entryOf('variable', variableName(known), { action: 'delete' }),
    apply: ({ app, caller, projectId }) => deleteVariable(app, caller, { projectId, variableId: known.id }),
  }
}

function masked(given: DefinedVariable): DefinedVariable {
  return given.secret ? { ...given, value: hidden } : given
}

function notStored(field: string): Failure {
  const message = 'must be given: three stars stand for a stored secret, and none is stored'
  return invalidField(field, message)
}

/** The address that each API had and will have, with what it says; null for one that is not there. */
export type ApiBases = Record<'stored' | 'given', (name: string) => ApiConfiguration | null>

export function planConnection(known: AuthoredSource | undefined, given: DefinedConnection, bases: ApiBases): Step {
  const after = authoredOf(known, given, bases)
  const shown = definedConnection(after)
  if (known === undefined) {
    return {
      entry: entryOf('connection', given.table_name, { action: 'create', changes: changesBetween({}, shown) }),
      apply: (doing) => makeConnection(doing, { given, after }),
    }
  }
  if (known.kind !== given.kind) throw otherKind(given.table_name, known.kind)
  const changes = changesBetween(definedConnection(known), shown)
  const isOtherSecret = !changes.some(({ field }) => field.startsWith('config')) && !isSameConfiguration(known, after)
  if (isOtherSecret) changes.push({ field: 'config', before: hidden, after: hidden })
  const entry = comparedEntry('connection', given.table_name, changes)
  if (changes.length === 0) return { entry, apply: null }
  if (isOtherSecret) entry.notes.push('A secret of its request changes.')
  return { entry, apply: (doing) => changeConnection(doing, { known, given, after, entry }) }
}

function otherKind(tableName: string, kind: string): Failure {
  const message = `of ${tableName} is ${kind} and stays so: delete the connection first, or define another table`
  return invalidField('kind', message)
}

export function dropConnection(known: AuthoredSource): Step {
  const entry = entryOf('connection', known.tableName, { action: 'delete' })
  entry.notes.push('Its data is deleted with it, in all versions.')
  return {
    entry,
    apply: ({ app, caller, projectId }) => deleteDatasource(app, caller, { projectId, datasourceId: known.id }),
  }
}

/** A table that nobody named: to delete its data takes saying so. */
export function keepConnection(known: AuthoredSource): Step {
  const entry = entryOf('connection', known.tableName, { action: 'unchanged' })
  entry.notes.push('The definition does not name it. It stays, with its data.')
  return { entry, apply: null }
}

/** The configuration to store, with its secrets: those that read `***` are the stored ones, for the same address. */
function authoredOf(known: AuthoredSource | undefined, given: DefinedConnection, bases: ApiBases): AuthoredSource {
  const stored = known?.configuration ?? undefined
  const addresses = {
    given: given.config === null ? '' : requestAddress(given.config, bases.given(given.config.api ?? '')),
    stored: stored && requestAddress(stored, bases.stored(stored.api ?? '')),
  }
  const configuration = given.config === null ? null : restoreConfiguration(given.config, stored, addresses)
  const { name = given.table_name, ...fields } = fromWire(connectionFields, given)
  return {
    ...fields,
    id: known?.id ?? '',
    name,
    configuration,
    pagination: given.pagination,
    forEach: given.for_each,
    rules: authoredRules(given.schema),
  }
}

export function authoredRules(schema: DefinedConnection['schema']): AuthoredSource['rules'] {
  return { ...fromWire(schemaFields, schema), columns: schema.columns.map(ruleOf), checks: schema.checks }
}

/** A column that nothing is said of has no rule. */
function ruleOf(column: DefinedConnection['schema']['columns'][number]): ColumnRule {
  const { sourceName: sourceKey, hidden: isHidden, ...rule } = fromWire(columnRule, column)
  return { sourceKey, ...rule, ...(isHidden === true && { hidden: true as const }) }
}

function isSameConfiguration(left: AuthoredSource, right: AuthoredSource): boolean {
  const normal = ({ configuration }: AuthoredSource): unknown =>
    configuration === null ? null : JSON.parse(JSON.stringify(normalConfiguration(configuration)))
  return isDeepStrictEqual(normal(left), normal(right))
}

type Wanted = { given: DefinedConnection; after: AuthoredSource }

async function makeConnection(doing: Doing, { given, after }: Wanted): Promise<void> {
  const { app, caller, projectId, results } = doing
  const { name, tableName } = after
  const input = { ...settingsOf(after), projectId, name, kind: given.kind, tableName }
  const { id: datasourceId } = await createDatasource(app, caller, input)
  await putRules(doing, { datasourceId, before: [], after })
  if (after.configuration === null || given.for_each !== null) return
  const job = await refreshDatasource(app, caller, { projectId, datasourceId })
  results.jobs.push({ id: job.id, tableName: after.tableName })
}

async function changeConnection(
  doing: Doing,
  { known, given, after, entry }: Wanted & { known: AuthoredSource; entry: Step['entry'] },
): Promise<void> {
  const { app, caller, projectId } = doing
  const datasourceId = known.id
  const fields = entry.changes.map(({ field }) => field)
  if (fields.some((field) => !field.startsWith('schema'))) {
    if (given.config === null && known.configuration !== null) throw keepsConfiguration()
    await updateDatasource(app, caller, { ...settingsOf(after), projectId, datasourceId })
  }
  if (fields.some((field) => field.startsWith('schema'))) {
    await putRules(doing, { datasourceId, before: known.rules.columns, after })
  }
  if (fields.includes('schema.checks')) {
    const { tableName, rules } = after
    entry.failedChecks = await checkServedData(app, { projectId, tableName, checks: rules.checks })
  }
  if (fields.some((field) => /^(config|pagination|for_each|load|schema\.columns)/.test(field))) {
    entry.notes.push('It holds from the next load on.')
  }
}

function settingsOf(source: AuthoredSource): DatasourceChanges {
  const { name, configuration, pagination, forEach, load, schedule, scheduleTimeZone, keepVersions } = source
  const config = configuration ?? undefined
  return { name, config, pagination, forEach, load, schedule, scheduleTimeZone, keepVersions }
}

async function putRules(
  { app, caller, projectId }: Doing,
  { datasourceId, before, after }: { datasourceId: string; before: ColumnRule[]; after: AuthoredSource },
): Promise<void> {
  const { columns, onMismatch, onBreaking, checks } = after.rules
  const input = { columns: ruleChanges(before, columns), onMismatch, onBreaking, checks }
  await changeSchema(app, caller, { projectId, datasourceId, ...input })
}

function keepsConfiguration(): Failure {
  const message = 'cannot be taken away; delete the connection to be without it'
  return invalidField('config', message)
}
