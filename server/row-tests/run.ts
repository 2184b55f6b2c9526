import { rm, writeFile } from 'node:fs/promises'
import type { RowTest, runTests as runTestsSchema, testResult } from '../../api/row-tests.ts'
import { fixedLimits } from '../../api/limits.ts'
import type { Value } from '../../api/wire-codec.ts'
import type { z } from 'zod'
import { requireRole, type Caller } from '../access/index.ts'
import type { Config } from '../config.ts'
import type { Catalogs } from '../data/index.ts'
import {
  catalogVersion,
  type Catalog,
  type CatalogTable,
  type Column,
  type QueryEngine,
  type TableBuilder,
} from '../engine/index.ts'
import type { Files } from '../files/index.ts'
import { Failure, invalidField } from '../failure.ts'
import { readModelStatements } from '../models/index.ts'
import { bindCall, examine, readStatements, type StatementToTest, type TestGate } from '../queries/index.ts'
import type { Database } from '../store/index.ts'
import { differenceOf } from './difference.ts'
import { readTests } from './tests.ts'

type TestResult = Value<typeof testResult>

type Parts = {
  store: Database
  catalogs: Catalogs
  engine: QueryEngine
  builder: TableBuilder
  files: Files
  config: Pick<Config, 'limits'>
}
type Asked = Partial<z.output<typeof runTestsSchema>>

/** Tests that run at once. */
const atOnce = 4
/** Rows that differ, in each of both lists. */
const maxShown = 20
const maxShownChars = 16_384
/** A result is parsed at once, on the event loop; rows that are expected are no more. */
const maxResultBytes = 1_048_576

/** Runs tests on the engine: those that are saved or those that are sent, of what is saved or of what is sent. */
export async function runTests(
  app: Parts,
  caller: Caller,
  { projectId, names, tests: given, queries = [], models = [] }: Asked & { projectId: string },
): Promise<{ passed: number; failed: number; results: TestResult[] }> {
  await requireRole(app, caller, projectId, 'editor')
  const saved = given ?? (await readTests(app, projectId))
  const tests = saved.filter(({ name }) => names === undefined || names.includes(name))
  const missing = names?.find((name) => !tests.some((test) => test.name === name))
  if (missing !== undefined) throw invalidField('names', `names ${missing}, which is no test of the project`)
  const statements = new Map((await readStatements(app.store, projectId)).map((each) => [each.name, each]))
  for (const { name, sql, slots } of queries) {
    const known = statements.get(name)
    statements.set(name, { name, sql, slots: slots ?? (known?.sql === sql ? known.slots : undefined) })
  }
  const built = await readModelStatements(app.store, projectId)
  const texts = new Map([...built, ...models].map(({ name, sql }) => [name, sql]))
  const contracts = await contractsOf(app, projectId)
  const results = await inTurns(tests, (test) => {
    const statement = test.query === undefined ? modelStatement(texts, test.model ?? '') : statements.get(test.query)
    return runOne(app, projectId, { test, statement, contracts })
  })
  const passed = results.filter((each) => each.passed).length
  return { passed, failed: results.length - passed, results }
}

function modelStatement(texts: ReadonlyMap<string, string>, name: string): StatementToTest | undefined {
  const sql = texts.get(name)
  return sql === undefined ? undefined : { name, sql, slots: undefined }
}

/** For releases: the tests of the queries that are to be deployed, which must pass with what would answer. */
export function openTestGate(app: Parts): TestGate {
  return {
    async failing(projectId, queries) {
      const own = new Map(queries.map((each) => [each.name, each]))
      const tests = (await readTests(app, projectId)).filter(({ query }) => query !== undefined && own.has(query))
      if (tests.length === 0) return []
      const contracts = await contractsOf(app, projectId)
      const results = await inTurns(tests, (test) =>
        runOne(app, projectId, { test, statement: own.get(test.query ?? ''), contracts }),
      )
      return results.flatMap(({ name, query, passed, message }) =>
        passed ? [] : [{ test: name, query: query ?? '', message: message ?? '' }],
      )
    },
  }
}

type Contracts = ReadonlyMap<string, Column[]>

/** The columns of every table as SQL sees them; of a model without data those of its statement. */
async function contractsOf({ store, catalogs }: Parts, projectId: string): Promise<Contracts> {
  const { tables } = await catalogs.get(projectId)
  const models = await readModelStatements(store, projectId)
  return new Map([...models, ...tables].map(({ name, columns }) => [name, columns]))
}

type Running = { test: RowTest; statement: StatementToTest | undefined; contracts: Contracts }

async function runOne(app: Parts, projectId: string, running: Running): Promise<TestResult> {
  const startedMs = performance.now()
  const { name, query = null, model = null } = running.test
  const found = await judge(app, projectId, running).catch((error: unknown) => {
    if (!(error instanceof Failure) || error.code === 'internal_error') throw error
    return failed(error.message)
  })
  return { name, query, model, ...found, elapsedMs: Math.round(performance.now() - startedMs) }
}

type Judged = Pick<TestResult, 'passed' | 'message' | 'missing' | 'unexpected'>

function failed(message: string): Judged {
  return { passed: false, message, missing: [], unexpected: [] }
}

async function judge(app: Parts, projectId: string, { test, statement, contracts }: Running): Promise<Judged> {
  if (statement === undefined) return failed(`There is no ${test.query ?? test.model ?? ''} to test.`)
  const unknown = Object.keys(test.given).find((table) => !contracts.has(table))
  if (unknown !== undefined) return failed(`given names ${unknown}, which is no table of the project.`)
  let came: Array<Record<string, unknown>>
  try {
    came = await rowsOf(app, projectId, { test, statement, contracts })
  } catch (error) {
    if (test.error === null || !(error instanceof Failure)) throw error
    const said = [error.code, error.reason]
    return said.includes(test.error)
      ? { passed: true, message: null, missing: [], unexpected: [] }
      : failed(`It failed with ${error.reason ?? error.code}, not ${test.error}: ${error.message}`)
  }
  if (test.expect === null) return failed(`It gave ${came.length} rows, and ${test.error ?? 'an error'} was expected.`)
  const { missing, unexpected, isReordered } = await differenceOf(test.expect, came, test)
  if (missing.length + unexpected.length === 0 && !isReordered)
    return { passed: true, message: null, missing: [], unexpected: [] }
  const count = (rows: unknown[], what: string) => (rows.length === 0 ? [] : [`${rows.length} ${what}`])
  const parts = [...count(missing, 'expected and not there'), ...count(unexpected, 'there and not expected')]
  const message = parts.length === 0 ? 'The rows are in another order.' : `Rows differ: ${parts.join(', ')}.`
  return { passed: false, message, missing: shown(missing), unexpected: shown(unexpected) }
}

/** The first rows that fit; where even the first does not, the count in the message says that there are some. */
function shown(rows: Array<Record<string, unknown>>): Array<Record<string, unknown>> {
  let chars = 0
  const end = rows.slice(0, maxShown).findIndex((row) => (chars += JSON.stringify(row).length) > maxShownChars)
  return rows.slice(0, end === -1 ? maxShown : end)
}

async function rowsOf(
  app: Parts,
  projectId: string,
  { test, statement, contracts }: Omit<Running, 'statement'> & { statement: StatementToTest },
): Promise<Array<Record<string, unknown>>> {
  const { sql, slots } = statement
  // Under its real tables, so that it is proved as it would be when it is saved.
  const examined = await examine(app, projectId, { sql, slots, ...(test.model !== undefined && { slots: undefined }) })
  const bound = bindCall(examined.slots, test.parameters)
  const { engine: dialect } = await app.catalogs.get(projectId)
  const tables = await Promise.all(
    Object.keys(examined.tables).map((table) => givenTable(app, projectId, { table, test, contracts })),
  )
  const catalog: Catalog = { projectId, version: `test\n${catalogVersion(tables)}`, tables }
  const { queryTimeoutMs: timeoutMs } = app.config.limits
  const maxRows = fixedLimits.testRows.value
  const limits = { maxRows, maxBytes: maxResultBytes, timeoutMs }
  const { bytes, truncated } = await app.engine.read(`tests of ${projectId}`, catalog, {
    dialect,
    sql,
    slots: bound,
    ...limits,
  })
  if (truncated) {
    const message = `It gives more than ${maxRows} rows, which no test expects. Give its tables fewer rows.`
    throw new Failure('result_too_large', { message })
  }
  return JSON.parse(bytes.toString()) as Array<Record<string, unknown>>
}

type Given = { table: string; test: RowTest; contracts: Contracts }

/** Rows under the contract of the real table. A file of the same rows is one file, and swept like any without a name. */
async function givenTable(app: Parts, projectId: string, { table, test, contracts }: Given): Promise<CatalogTable> {
  const columns = contracts.get(table) ?? []
  const given = test.given[table] ?? []
  const [path, parquetPath] = [app.files.temporaryPath('rows'), app.files.temporaryPath('parquet')]
  try {
    const isText = typeof given === 'string'
    await writeFile(path, isText ? given : given.map((row) => `${JSON.stringify(row)}\n`).join(''))
    const declared = columns.map(({ name, type }) => ({ name, type: roomy(type), sourceKey: name, declared: true }))
    const contract = { columns: declared, onMismatch: 'refuse' as const }
    const source = { kind: isText && given.trim() !== '' ? ('csv' as const) : ('ndjson' as const), path }
    const made = await app.builder.convert(projectId, { source, parquetPath, contract }).catch((error: unknown) => {
      throw error instanceof Failure && error.code === 'upstream_error' ? notFitting(table, error) : error
    })
    const other = made.columns.find(({ name }) => !columns.some((column) => column.name === name))
    if (other !== undefined) throw notFitting(table, new Error(`the table has no column ${other.name}`))
    const { hash } = await app.files.keep(parquetPath, 'parquet')
    const typed = declared.map(({ name, type }) => ({ name, type }))
    return { name: table, rows: { hash, format: 'parquet' }, columns: typed }
  } finally {
    await Promise.all([path, parquetPath].map((each) => rm(each, { force: true })))
  }
}

/** Digits behind the point are as many as the data has had so far: rows of a test may have more of them. */
function roomy(type: string): string {
  const [, digits = '0', scale = '0'] = /^DECIMAL\((\d+),(\d+)\)$/.exec(type) ?? []
  return Number(digits) === 18 && Number(scale) > 0 && Number(scale) < 6 ? 'DECIMAL(18,6)' : type
}

function notFitting(table: string, { message }: Error): Failure {
  return new Failure('invalid_request', { reason: 'type_mismatch', message: `given ${table}: ${message}` })
}

/** In order, several at once. */
async function inTurns<Item, Result>(items: Item[], work: (item: Item) => Promise<Result>): Promise<Result[]> {
  const results: Result[] = []
  let next = 0
  const worker = async (): Promise<void> => {
    for (let at = next++; at < items.length; at = next++) {
      const item = items[at]
      if (item !== undefined) results[at] = await work(item)
    }
  }
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, worker))
  return results
}
