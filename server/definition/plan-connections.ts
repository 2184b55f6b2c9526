import { isDeepStrictEqual } from 'node:util'
import type { DefinedConnection, DefinedVariable } from '../../api/definition.ts'
import {
  changeSchema,
  checkServedData,
  createDatasource,
  createVariable,
  deleteDatasource,
  deleteVariable,
  hidden,
  refreshDatasource,
  restoreConfiguration,
  ruleChanges,
  updateDatasource,
  updateVariable,
  type AuthoredSource,
  type AuthoredVariable,
  type DatasourceChanges,
} from '../connections/index.ts'
import { Failure } from '../failure.ts'
import type { ColumnRule, LoadRule } from '../store/index.ts'
import { changesBetween, comparedEntry, entryOf } from './plan-entry.ts'
import { definedConnection, definedVariable, normalConfiguration } from './state.ts'
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
        throw new Failure('invalid_request', {
          reason: 'invalid_field',
          message: `secret ${message}.`,
          details: [{ field: 'secret', message }],
        })
      }
      const isKept = secret && value === hidden
      const input = { projectId, variableId: known.id, ...(!isKept && { value }), ...(secret && { origins }) }
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
  return new Failure('invalid_request', {
    reason: 'invalid_field',
    message: `${field} ${message}.`,
    details: [{ field, message }],
  })
}

export function planConnection(known: AuthoredSource | undefined, given: DefinedConnection): Step {
  const after = authoredOf(known, given)
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
  return new Failure('invalid_request', {
    reason: 'invalid_field',
    message: `kind ${message}.`,
    details: [{ field: 'kind', message }],
  })
}

export function dropConnection(known: AuthoredSource): Step {
  const entry = entryOf('connection', known.tableName, { action: 'delete' })
  entry.notes.push('Its data is deleted with it, in all versions.')
  return {
    entry,
    apply: ({ app, caller, projectId }) => deleteDatasource(app, caller, { projectId, datasourceId: known.id }),
  }
}

/** What it is to be, with its secrets: those that read `***` are the stored ones, for the same address. */
function authoredOf(known: AuthoredSource | undefined, given: DefinedConnection): AuthoredSource {
  const configuration =
    given.config === null ? null : restoreConfiguration(given.config, known?.configuration ?? undefined)
  return {
    id: known?.id ?? '',
    tableName: given.table_name,
    name: given.name ?? given.table_name,
    kind: given.kind,
    configuration,
    pagination: given.pagination,
    forEach: given.for_each,
    load: loadOf(given.load),
    schedule: given.schedule,
    scheduleTimeZone: given.schedule_time_zone,
    keepVersions: given.keep_versions,
    rules: {
      columns: given.schema.columns.map(ruleOf),
      onMismatch: given.schema.on_mismatch,
      onBreaking: given.schema.on_breaking,
      checks: given.schema.checks,
    },
  }
}

function loadOf({ mode, primary_key: key, cursor, delete_marker: marker }: DefinedConnection['load']): LoadRule {
  return {
    mode,
    ...(key !== undefined && { primaryKey: key }),
    ...(cursor !== undefined && {
      cursor: {
        field: cursor.field,
        ...(cursor.parameter !== undefined && { parameter: cursor.parameter }),
        ...(cursor.initial_value !== undefined && { initialValue: cursor.initial_value }),
        ...(cursor.look_back !== undefined && { lookBack: cursor.look_back }),
      },
    }),
    ...(marker !== undefined && { deleteMarker: marker }),
  }
}

/** A column that nothing is said of has no rule. */
function ruleOf({
  source_name: sourceKey,
  name,
  type,
  hidden: isHidden,
  description,
}: DefinedConnection['schema']['columns'][number]): ColumnRule {
  return {
    sourceKey,
    ...(name !== undefined && { name }),
    ...(type !== undefined && { type }),
    ...(isHidden === true && { hidden: true as const }),
    ...(description !== undefined && { description }),
  }
}

function isSameConfiguration(left: AuthoredSource, right: AuthoredSource): boolean {
  const normal = ({ configuration }: AuthoredSource): unknown =>
    configuration === null ? null : JSON.parse(JSON.stringify(normalConfiguration(configuration)))
  return isDeepStrictEqual(normal(left), normal(right))
}

type Wanted = { given: DefinedConnection; after: AuthoredSource }

async function makeConnection(doing: Doing, { given, after }: Wanted): Promise<void> {
  const { app, caller, projectId, results } = doing
  const { name, kind, tableName } = after
  const input = { ...settingsOf(after), projectId, name, kind, tableName }
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
  return new Failure('invalid_request', {
    reason: 'invalid_field',
    message: `config ${message}.`,
    details: [{ field: 'config', message }],
  })
}
