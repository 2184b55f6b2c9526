import { Failure } from '../../failure.ts'
import type { BrokenQuery, Catalogs, QueryGate, TableChange } from '../../data/index.ts'
import type { Catalog, Column, QueryEngine } from '../../engine/index.ts'
import type { LiveVersion, ReleaseTrial } from './deployment-index.ts'
import type { Deployments } from './deployments.ts'
import { slotTypeOf } from '../slots/slot-values.ts'

type Parts = {
  engine: QueryEngine
  catalogs: Catalogs
  deployments: Deployments
  /** Statements that tables are built by: they read tables as queries do. */
  models(projectId: string): Promise<ModelStatement[]>
}
type ModelStatement = Pick<LiveVersion, 'sql' | 'dialect' | 'tables' | 'columns'> & { name: string }

/** For the rooms that bring data: says what a change of a table would do to the queries that read it. */
export function openQueryGate(parts: Parts): QueryGate {
  return { brokenBy: (change) => findBroken(parts, change) }
}

async function findBroken({ engine, catalogs, ...parts }: Parts, change: TableChange): Promise<BrokenQuery[]> {
  const { projectId, tableName, signal } = change
  const now = await catalogs.get(projectId)
  const table = now.tables.find(({ name }) => name === tableName)
  if (table === undefined) return []
  const next = catalogAfter(now, change)
  const found = new Map<string, BrokenQuery | null>()
  for (const { name, environment, version, trial } of await readersOf(parts, change)) {
    // A query that breaks where it is deployed is told of once.
    if (trial !== null && [...found.values()].some((each) => each?.name === name)) continue
    if (!found.has(version.id)) {
      const before = await resultOf(engine, { scope: projectId, catalog: now, version, signal })
      const after = await resultOf(engine, { scope: `trial of ${projectId}`, catalog: next, version, signal })
      const lost = lostKind(table.columns, change, version.tables[tableName])
      const complaint = complaintOf(version, { before, after, lost })
      const message = trial === null ? complaint : `Version ${version.number}, a ${trial}: ${complaint}`
      found.set(version.id, complaint === null || message === null ? null : { name, environments: [], message })
    }
    if (environment !== null) found.get(version.id)?.environments.push(environment)
  }
  return [...found.values()].filter((each) => each !== null)
}

/** Statement whose result must stay as it is. Models are in no environment. */
type Statement = Pick<LiveVersion, 'id' | 'number' | 'sql' | 'dialect' | 'slots' | 'tables' | 'columns'>
type Reader = { name: string; environment: string | null; version: Statement; trial: ReleaseTrial['kind'] | null }

/**
 * Readers of a table: the versions deployed, then those that are tried out, which answer callers as well, and models.
 */
async function readersOf(
  { deployments, models }: Pick<Parts, 'deployments' | 'models'>,
  { projectId, tableName }: TableChange,
): Promise<Reader[]> {
  const deployed = (await deployments.tablesRead(projectId)).flatMap(({ name, environment }): Reader[] => {
    const version = deployments.find({ projectId, environment, name })?.version
    return version === undefined ? [] : [{ name, environment, version, trial: null }]
  })
  const tried = [...deployments.trials()]
    .filter((trial) => trial.projectId === projectId)
    .flatMap(({ environment, kind, versions }) =>
      Array.from(versions, ([name, version]): Reader => ({ name, environment, version, trial: kind })),
    )
  const built = (await models(projectId)).map((model): Reader => {
    const version = { ...model, id: `model ${model.name}`, number: 0, slots: noSlots }
    return { name: `${model.name} (model)`, environment: null, version, trial: null }
  })
  return [...deployed, ...tried, ...built].filter(({ version }) => Object.hasOwn(version.tables, tableName))
}

const noSlots: LiveVersion['slots'] = {
  type: 'object',
  properties: {},
  required: [],
  additionalProperties: false,
}

type Looked = { before: Result; after: Result; lost: string | null }

/** A query that is broken already is not held against new data. */
function complaintOf(version: Statement, { before, after, lost }: Looked): string | null {
  if ('failure' in before) return null
  return 'failure' in after ? after.failure : (lost ?? changedResult(version, before.columns, after.columns))
}

function catalogAfter(now: Catalog, change: TableChange): Catalog {
  const { tableName, rows, parted: joined, columns, hiddenColumns } = change
  const tables = now.tables.map((table) => {
    if (table.name !== tableName) return table
    const { copy, parted, hiddenColumns: _, ...rest } = table
    return {
      ...rest,
      ...(rows === null
        ? { ...(copy !== undefined && { copy }), ...(parted !== undefined && { parted }) }
        : { rows, ...(joined !== undefined && { parted: joined }) }),
      ...(hiddenColumns.length > 0 && { hiddenColumns }),
      columns: columns.filter(({ name }) => !hiddenColumns.includes(name)),
    }
  })
  return {
    ...now,
    version: `${now.version}\n${tableName} after ${rows?.hash} ${JSON.stringify(hiddenColumns)}`,
    tables,
  }
}

type Result = { columns: Column[] } | { failure: string }
type Look = { scope: string; catalog: Catalog; version: Statement; signal: AbortSignal | undefined }

async function resultOf(engine: QueryEngine, { scope, catalog, version, signal }: Look): Promise<Result> {
  const slots = Object.entries(version.slots.properties).map(([name, slot]) => ({ name, type: slotTypeOf(slot) }))
  try {
    const found = await engine.inspect(
      scope,
      catalog,
      { dialect: version.dialect, sql: version.sql, slots },
      signal === undefined ? {} : { signal },
    )
    return { columns: found.columns }
  } catch (error) {
    if (error instanceof Failure && error.reason === 'invalid_sql') return { failure: error.message }
    throw error
  }
}

/**
 * A column that was more than text and becomes text still compares and adds up, until a call meets a word in it. So that
 * alone counts as broken.
 */
function lostKind(before: Column[], change: TableChange, read: string[] = []): string | null {
  const after = new Map(change.columns.map(({ name, type }) => [name, type]))
  for (const { name, type } of before) {
    const now = after.get(name)
    if (now === undefined || !read.includes(name)) continue
    const isText = ['text', 'json'].includes(kindOf(now))
    if (isText && kindOf(now) !== kindOf(type)) return `It reads ${name}, which is ${type} and would be ${now}.`
  }
  return null
}

/** Callers rely on the kinds of values that were there when the query was deployed. */
function changedResult(version: Statement, before: Column[], after: Column[]): string | null {
  const was = new Map(before.map(({ name, type }) => [name, type]))
  const is = new Map(after.map(({ name, type }) => [name, type]))
  const worse = version.columns.find(({ name, type }) => {
    const now = kindOf(is.get(name))
    return now !== kindOf(type) && now !== kindOf(was.get(name))
  })
  if (worse === undefined) return null
  return `It answers with ${worse.name} as ${worse.type}, which would be ${is.get(worse.name) ?? 'gone'}.`
}

/** Types that look alike in an answer. */
function kindOf(type: string | undefined): string {
  if (type === undefined) return 'none'
  if (/^(U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?|FLOAT|DOUBLE|DECIMAL)/.test(type) && !type.endsWith(']')) return 'number'
  if (type === 'VARCHAR') return 'text'
  if (type === 'JSON') return 'json'
  if (type.startsWith('TIMESTAMP') && !type.endsWith(']')) return 'timestamp'
  return type.startsWith('STRUCT') && !type.endsWith(']') ? 'struct' : type.endsWith(']') ? 'list' : type
}
