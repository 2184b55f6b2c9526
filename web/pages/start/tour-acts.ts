import { call } from '../../client/api.ts'
import { isFinal } from '../../client/jobs.ts'
import { usualEnvironment } from '../../browser/paths.ts'
import { servedRows } from '../../client/things.ts'
import type { DataObject, Datasource, Job, Page, Query } from '../../client/wire.ts'
import { sayCount, sayTime } from '../../text/words.ts'
import { makeCall, refusalOf, rowsOf, type Outcome } from '../deploy/try/calls.ts'
import { headersOf, pathOf } from '../deploy/shared/snippet-text.ts'
import { resultOf } from '../ask/question-result.ts'

type Row = Record<string, unknown>

/** The result of a step: a sentence, and rows to look at. */
export type StepResult = { words: string; rows: Row[] }

const pollMs = 400
const mostMs = 60_000

/** Fetches a table again, and waits until it is there. */
export async function fetchAgain(projectId: string, source: Datasource): Promise<StepResult> {
  const path = `/v1/projects/${projectId}`
  let job = await call<Job>('POST', `${path}/datasources/${source.id}/refresh`)
  const untilMs = Date.now() + mostMs
  while (!isFinal(job)) {
    if (Date.now() > untilMs) throw new Error('It takes longer than a minute. The bar under the header shows it.')
    await new Promise((done) => setTimeout(done, pollMs))
    job = await call<Job>('GET', `/v1/jobs/${job.id}`)
  }
  if (job.status !== 'succeeded') throw new Error(job.error?.message ?? 'The fetch was cancelled.')
  const { rows, version } = await readTable(projectId, source)
  return {
    words: `${source.name} answered: ${rows}, version ${version} of the table ${source.table_name}.`,
    rows: [],
  }
}

async function readTable(
  projectId: string,
  source: Datasource,
): Promise<{ id: string; count: number; rows: string; version: number }> {
  const path = `/v1/projects/${projectId}/data-objects?limit=50&datasource_id=${source.id}`
  const { data } = await call<Page<DataObject>>('GET', path)
  const table = servedRows(data).get(source.id)
  if (table === undefined) throw new Error(`${source.name} has no rows yet: do the first step first.`)
  const count = table.row_count ?? 0
  return { id: table.id, count, rows: sayCount(count, 'row'), version: table.version }
}

export async function lookAt(projectId: string, source: Datasource): Promise<StepResult> {
  const table = await readTable(projectId, source)
  const path = `/v1/projects/${projectId}/data-objects/${table.id}/rows?limit=5`
  const { data } = await call<{ data: Row[] }>('GET', path)
  const isPart = data.length < table.count
  const words = isPart ? `The first ${data.length} of ${table.rows}, as they came.` : `All there is: ${table.rows}.`
  return { words, rows: data }
}

export async function runDraft(projectId: string, query: Query): Promise<StepResult> {
  const parameters = query.examples[0]?.parameters ?? {}
  const path = `/v1/projects/${projectId}/queries/${query.name}/preview`
  const answer = await call<{ data: Row[]; row_count: number; execution_time_ms: number }>('POST', path, {
    body: { parameters },
  })
  const givenSlots = Object.entries(parameters).map(([slot, value]) => `${slot} = ${String(value)}`)
  const given = givenSlots.length === 0 ? '' : ` with ${givenSlots.join(', ')}`
  return {
    words: `${query.name}${given}: ${sayCount(answer.row_count, 'row')} in ${sayTime(answer.execution_time_ms)}.`,
    rows: answer.data.slice(0, 5),
  }
}

const hourMs = 3_600_000

/** As a program does: with a key, which is good for this query and one hour. */
export async function callWithKey(projectId: string, query: Query): Promise<StepResult> {
  const { secret } = await call<{ secret: string }>('POST', '/v1/api-keys', {
    body: {
      name: 'Tour',
      permissions: [{ project_id: projectId, environments: [usualEnvironment], queries: [query.name] }],
      expires_at: new Date(Date.now() + hourMs).toISOString(),
    },
  })
  const target = { kind: 'direct', projectId, environment: usualEnvironment, name: query.name } as const
  const body = query.examples[0]?.parameters ?? {}
  const outcome = await makeCall({
    path: pathOf(target),
    headers: headersOf(target),
    body,
    key: secret,
    signal: AbortSignal.timeout(mostMs),
  })
  return {
    words: `POST ${pathOf(target)} with a new key: ${outcome.status} after ${outcome.elapsedMs} ms. The key ends in an hour.`,
    rows: answeredRows(outcome),
  }
}

/** In plain words, of everything that is deployed. */
export async function askInWords(projectId: string, question: string): Promise<StepResult> {
  const outcome = await makeCall({
    path: `/v1/projects/${projectId}/ask`,
    headers: {},
    body: {
      question,
      environment: usualEnvironment,
      run: true,
      time_zone: new Intl.DateTimeFormat().resolvedOptions().timeZone,
    },
    key: null,
    signal: AbortSignal.timeout(mostMs),
  })
  const rows = answeredRows(outcome)
  const result = resultOf(outcome)
  if (result === null || result.outcome !== 'answered')
    throw new Error(result?.message ?? 'The question was not answered.')
  const values = Object.entries(result.parameters).flatMap(([slot, value]) =>
    value === null ? [] : [`${slot} = ${String(value as string | number)}`],
  )
  const sure = result.confidence === null ? '' : `, ${Math.round(result.confidence * 100)} % sure`
  const given = values.length === 0 ? '' : ` with ${values.join(', ')}`
  return { words: `Understood as ${result.query ?? 'a query'}${given}${sure}.`, rows }
}

function answeredRows(outcome: Outcome): Row[] {
  const refusal = refusalOf(outcome.body)
  if (outcome.status >= 400) throw new Error(refusal?.message ?? `The answer was ${outcome.status}.`)
  return (rowsOf(outcome.body) ?? []).slice(0, 5)
}
