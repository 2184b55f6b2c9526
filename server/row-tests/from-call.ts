import type { z } from 'zod'
import type { RowTest, testFromCall as fromCallSchema } from '../../api/row-tests.ts'
import { requireRole, type Caller } from '../access/index.ts'
import { Failure, invalidField } from '../failure.ts'
import { bindCall, examine, type Deployments, type LiveVersion, type QueryToTest } from '../queries/index.ts'
import { differenceOf } from './difference.ts'
import { rowsOfTest } from './judge-test.ts'
import { openStage, type TestParts } from './run.ts'
import { sampleRows } from './sample.ts'
import { putTest, readTests } from './tests.ts'

/** A port: the values of the last recorded call of a deployed query. */
export type LastCall = (place: {
  projectId: string
  environment: string
  version: LiveVersion
}) => Promise<{ recording: boolean; parameters: Record<string, unknown> | null }>

type FromCallParts = TestParts & { deployments: Pick<Deployments, 'find'>; lastCall: LastCall }
type Input = z.output<typeof fromCallSchema> & { projectId: string }

/**
 * A test of the last recorded call of a query: its values, a few rows of the tables that it reads, and what the deployed
 * version makes of them.
 */
export async function testFromCall(app: FromCallParts, caller: Caller, input: Input): Promise<RowTest> {
  const { projectId, environment, query: name, save } = input
  await requireRole(app, caller, projectId, 'editor')
  const version = app.deployments.find({ projectId, environment, name })?.version
  if (version === undefined) throw new Failure('not_found', { message: `${name} is not deployed in ${environment}.` })
  const parameters = await lastValues(app, { projectId, environment, version, name })
  const taken = new Set((await readTests(app, projectId)).map((test) => test.name))
  if (input.name !== undefined && taken.has(input.name) && save)
    throw invalidField('name', `names a test that is there: ${input.name}`)
  const asked = { name: input.name ?? freeName(name, taken), query: name, parameters, exact: true }
  const test = await expecting(app, projectId, { query: { ...version, name }, test: { ...emptyTest, ...asked } })
  return save ? putTest(app, caller, { projectId, test }) : test
}

const emptyTest = { description: 'From a recorded call.', given: {}, expect: [], error: null, ordered: false }

type CallPlace = Parameters<LastCall>[0] & { name: string }

async function lastValues(
  { lastCall }: FromCallParts,
  { name, ...place }: CallPlace,
): Promise<Record<string, unknown>> {
  const { recording, parameters } = await lastCall(place)
  if (parameters !== null) return parameters
  const message = recording
    ? `No call of ${name} in ${place.environment} is recorded yet. Call it once, and try again.`
    : 'The project records no calls. Switch it on under Settings, or with settings.replay.recording in its files.'
  throw new Failure('conflict', { reason: 'not_recording', message })
}

/** The test with rows of its tables, and what they give. */
async function expecting(
  app: TestParts,
  projectId: string,
  { query, test }: { query: QueryToTest; test: RowTest },
): Promise<RowTest> {
  const { sql, slots } = query
  const examined = await examine(app, projectId, { sql, slots })
  const { tables } = (await app.catalogs.get(projectId)).together(Object.keys(examined.tables))
  const bound = bindCall(examined.slots, test.parameters)
  const given = await sampleRows(app, { projectId, sql, slots: bound, reads: examined.tables, tables })
  const queries = new Map([[query.name, query]])
  const stage = await openStage(app, { projectId, environment: null, queries, models: [], removed: [] })
  const asked = { test: { ...test, given }, parameters: test.parameters }
  const expect = await rowsOfTest(app, stage, asked)
  const { missing } = await differenceOf(expect, await rowsOfTest(app, stage, asked), test)
  if (missing.length === 0) return { ...asked.test, expect }
  throw new Failure('conflict', {
    reason: 'changed_meanwhile',
    message: `${query.name} gives other rows each time, of the same data: no test can expect them.`,
  })
}

/** A name that no test has: `revenue_call`, `revenue_call_2`. */
function freeName(query: string, taken: ReadonlySet<string>): string {
  const stem = `${query.slice(0, 50)}_call`
  const nameAt = (at: number): string => (at === 1 ? stem : `${stem}_${at}`)
  let at = 1
  while (taken.has(nameAt(at))) at += 1
  return nameAt(at)
}
