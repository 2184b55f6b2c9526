import { fixedLimits } from '../../api/limits.ts'
import type { RowTest, testResult } from '../../api/row-tests.ts'
import type { Value } from '../../api/wire-codec.ts'
import type { Config } from '../config.ts'
import type { Catalogs } from '../data/index.ts'
import { catalogVersion, type Catalog, type QueryEngine, type TableBuilder } from '../engine/index.ts'
import { Failure } from '../failure.ts'
import type { Files } from '../files/index.ts'
import { bindCall, examine, type ChangedQuery, type QueryToTest } from '../queries/index.ts'
import { differenceOf } from './difference.ts'
import { givenTable, type Contracts } from './given.ts'

export type TestResult = Value<typeof testResult> & {
  /** False where the time of all together was over before it. */
  isReached: boolean
}

type Asked = { question: string; parameters: Record<string, unknown>; at: number | null }
/** Reads a question: the query that answers it, and the values that it says. Throws the refusal. */
export type QuestionReading = (asked: Asked) => Promise<{ query: string; parameters: Record<string, unknown> }>
/** A port: how questions are read among the queries of an environment as it would be; null: among these alone. */
export type OpenReading = (among: {
  projectId: string
  environment: string | null
  changed: ChangedQuery[]
  removed: string[]
}) => Promise<QuestionReading>

export type JudgeParts = {
  catalogs: Catalogs
  engine: QueryEngine
  builder: TableBuilder
  files: Files
  config: Pick<Config, 'limits'>
}

/** The queries and models that tests are about, and what they are run with. */
export type Stage = {
  projectId: string
  queries: ReadonlyMap<string, QueryToTest>
  /** SQL of models by name. */
  models: ReadonlyMap<string, string>
  contracts: Contracts
  /** Opened once, by the first test that asks. */
  reading: () => Promise<QuestionReading>
}

/** Tests that run at once. */
const atOnce = 4
/** Rows that differ, in each of both lists. */
const maxShown = 20
const maxShownChars = 16_384
/** A result is parsed at once, on the event loop; rows that are expected are no more. */
const maxResultBytes = 1_048_576

/** In order, several at once, until their caller goes or an execute would have ended. */
export async function runAll(
  app: JudgeParts,
  stage: Stage,
  tests: RowTest[],
  signal?: AbortSignal,
): Promise<TestResult[]> {
  const { executeTimeoutMs } = app.config.limits
  const endsMs = performance.now() + executeTimeoutMs
  const results: TestResult[] = []
  let next = 0
  const worker = async (): Promise<void> => {
    for (let at = next++; at < tests.length; at = next++) {
      const test = tests[at]
      if (test === undefined) return
      signal?.throwIfAborted()
      const isLate = performance.now() > endsMs
      results[at] = isLate ? late(test, executeTimeoutMs) : await runOne(app, stage, test)
    }
  }
  await Promise.all(Array.from({ length: Math.min(atOnce, tests.length) }, worker))
  return results
}

function late(test: RowTest, limitMs: number): TestResult {
  const { name, query = null, model = null } = test
  const message = `It was not run: the tests before it took more than ${limitMs / 1_000} s. Run fewer at once.`
  return { name, query, model, ...failed(message), elapsedMs: 0, isReached: false }
}

async function runOne(app: JudgeParts, stage: Stage, test: RowTest): Promise<TestResult> {
  const startedMs = performance.now()
  const { name, query = null, model = null } = test
  const found = await judge(app, stage, test).catch((error: unknown) => {
    if (!(error instanceof Failure) || error.code === 'internal_error' || error.code === 'overloaded') throw error
    return failed(error.message)
  })
  return { name, query, model, ...found, elapsedMs: Math.round(performance.now() - startedMs), isReached: true }
}

type Judged = Pick<TestResult, 'passed' | 'message' | 'missing' | 'unexpected'>

const passed: Judged = { passed: true, message: null, missing: [], unexpected: [] }

function failed(message: string): Judged {
  return { ...passed, passed: false, message }
}

async function judge(app: JudgeParts, stage: Stage, test: RowTest): Promise<Judged> {
  const { query, model } = test
  const isThere = query === undefined ? model === undefined || stage.models.has(model) : stage.queries.has(query)
  if (!isThere) return failed(`There is no ${query ?? model ?? ''} to test.`)
  const unknown = Object.keys(test.given).find((table) => !stage.contracts.has(table))
  if (unknown !== undefined) return failed(`given names ${unknown}, which is no table of the project.`)
  let came: Array<Record<string, unknown>>
  try {
    const asked = await askedOf(stage, test)
    if (query !== undefined && asked.query !== query)
      return failed(`The question goes to ${asked.query}, not to ${query}.`)
    if (query === undefined && asked.query !== null)
      return failed(`${asked.query} answers it, and ${test.error ?? 'an error'} was expected.`)
    came = await rowsOfTest(app, stage, { test, parameters: asked.parameters })
  } catch (error) {
    if (test.error === null || !(error instanceof Failure)) throw error
    if ([error.code, error.reason].includes(test.error)) return passed
    return failed(`It failed with ${error.reason ?? error.code}, not ${test.error}: ${error.message}`)
  }
  if (test.expect === null) return failed(`It gave ${came.length} rows, and ${test.error ?? 'an error'} was expected.`)
  const { missing, unexpected, isReordered } = await differenceOf(test.expect, came, test)
  if (missing.length + unexpected.length === 0 && !isReordered) return passed
  const count = (rows: unknown[], what: string) => (rows.length === 0 ? [] : [`${rows.length} ${what}`])
  const parts = [...count(missing, 'expected and not there'), ...count(unexpected, 'there and not expected')]
  const message = parts.length === 0 ? 'The rows are in another order.' : `Rows differ: ${parts.join(', ')}.`
  return { passed: false, message, missing: shown(missing), unexpected: shown(unexpected) }
}

/** The query that is called and its values: those of the test, or of its question. */
async function askedOf({ reading }: Stage, { query, question, asked_on: askedOn, parameters }: RowTest) {
  if (question === undefined) return { query: query ?? null, parameters }
  const read = await reading()
  return read({ question, parameters, at: askedOn === undefined ? null : Date.parse(`${askedOn}T12:00:00Z`) })
}

/** The first rows that fit; where even the first does not, the count in the message says that there are some. */
function shown(rows: Array<Record<string, unknown>>): Array<Record<string, unknown>> {
  let chars = 0
  const end = rows.slice(0, maxShown).findIndex((row) => (chars += JSON.stringify(row).length) > maxShownChars)
  return rows.slice(0, end === -1 ? maxShown : end)
}

/** The rows that the query or model of a test makes of what is given. */
export async function rowsOfTest(
  app: JudgeParts,
  { projectId, queries, models, contracts }: Stage,
  { test, parameters }: { test: RowTest; parameters: Record<string, unknown> },
): Promise<Array<Record<string, unknown>>> {
  const query = test.query === undefined ? undefined : queries.get(test.query)
  const sql = query?.sql ?? models.get(test.model ?? '') ?? ''
  // Under its real tables, so that it is proved as it would be when it is saved.
  const examined = await examine(app, projectId, { sql, slots: query?.slots })
  const tables = await Promise.all(
    Object.keys(examined.tables).map((table) =>
      givenTable(app, projectId, { table, given: test.given[table] ?? [], contracts }),
    ),
  )
  return readRows(app, projectId, { sql, tables, slots: bindCall(examined.slots, parameters) })
}

type Reads = Pick<Catalog, 'tables'> & { sql: string; slots: ReturnType<typeof bindCall> }

/** The rows of a statement on tables that are made for it. */
export async function readRows(
  { engine, catalogs, config }: Pick<JudgeParts, 'engine' | 'catalogs' | 'config'>,
  projectId: string,
  { sql, tables, slots }: Reads,
): Promise<Array<Record<string, unknown>>> {
  const { engine: dialect } = await catalogs.get(projectId)
  const catalog: Catalog = { projectId, version: `test\n${catalogVersion(tables)}`, tables }
  const maxRows = fixedLimits.testRows.value
  const { bytes, truncated } = await engine.read(`tests of ${projectId}`, catalog, {
    dialect,
    sql,
    slots,
    maxRows,
    maxBytes: maxResultBytes,
    timeoutMs: config.limits.queryTimeoutMs,
  })
  if (truncated) {
    const message = `It gives more than ${maxRows} rows, which no test expects. Give its tables fewer rows.`
    throw new Failure('result_too_large', { message })
  }
  return JSON.parse(bytes.toString()) as Array<Record<string, unknown>>
}
