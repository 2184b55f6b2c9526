import type { Value } from '../../../api/wire-codec.ts'
import type { evaluationRun } from '../../../api/questions.ts'
import { fixedLimits } from '../../../api/limits.ts'
import type { Transaction } from 'kysely'
import { labelOf, recordAct, requireRole, type Caller } from '../../access/index.ts'
import { Failure, invalidField } from '../../failure.ts'
import { newId } from '../../ids.ts'
import { countOf, refuseTaken, newestFirst, type Page, type Tables, type Database } from '../../store/index.ts'
import type { QuestionIndexes } from '../indexes/open-indexes.ts'
import { caseOf, evaluate, readCases, type EvaluationCase } from '../indexes/evaluation-cases.ts'
import { storable } from './log.ts'
import { hasQuery, requireShort, type Deployments } from '../../queries/index.ts'
import type { Clock } from '../../clock.ts'

export type EvaluationRun = Value<typeof evaluationRun>

type Expected = {
  question: string
  expectedQuery: string | null
  expectedParameters: Record<string, unknown> | null
}

type Parts = { store: Database }

export async function createCase(
  app: Parts,
  caller: Caller,
  { projectId, ...expected }: { projectId: string } & Expected & { source?: EvaluationCase['source'] },
): Promise<EvaluationCase> {
  await requireRole(app, caller, projectId, 'editor')
  await requireExpected(app, projectId, expected)
  const row = {
    id: newId('evaluationCase'),
    projectId,
    ...columnsOf(expected),
    source: expected.source ?? 'written',
    createdBy: labelOf(caller),
  }
  return refuseTaken(
    app.store.db.transaction().execute(async (transaction) => {
      await requireRoom(transaction, projectId)
      const made = await transaction.insertInto('evaluationCases').values(row).returningAll().executeTakeFirstOrThrow()
      await recordAct(transaction, caller, { action: 'evaluation.created', target: row.id, projectId })
      return caseOf(made)
    }),
    oneOfEach,
    taken,
  )
}

export async function updateCase(
  app: Parts,
  caller: Caller,
  { projectId, id, ...expected }: { projectId: string; id: string } & Expected,
): Promise<EvaluationCase> {
  await requireRole(app, caller, projectId, 'editor')
  await requireExpected(app, projectId, expected)
  return refuseTaken(
    app.store.db.transaction().execute(async (transaction) => {
      const changed = await transaction
        .updateTable('evaluationCases')
        .set(columnsOf(expected))
        .where('projectId', '=', projectId)
        .where('id', '=', id)
        .returningAll()
        .executeTakeFirst()
      if (changed === undefined) throw noCase()
      await recordAct(transaction, caller, { action: 'evaluation.changed', target: id, projectId })
      return caseOf(changed)
    }),
    oneOfEach,
    taken,
  )
}

export async function deleteCase(app: Parts, caller: Caller, input: { projectId: string; id: string }): Promise<void> {
  const { projectId, id } = input
  await requireRole(app, caller, projectId, 'editor')
  await app.store.db.transaction().execute(async (transaction) => {
    const { numDeletedRows } = await transaction
      .deleteFrom('evaluationCases')
      .where('projectId', '=', projectId)
      .where('id', '=', id)
      .executeTakeFirst()
    if (numDeletedRows === 0n) throw noCase()
    await recordAct(transaction, caller, { action: 'evaluation.deleted', target: id, projectId })
  })
}

type Paged = { projectId: string; limit: number; cursor?: string | undefined }

/** Newest first. */
export async function listCases(app: Parts, caller: Caller, input: Paged): Promise<Page<EvaluationCase>> {
  await requireRole(app, caller, input.projectId, 'viewer')
  const page = await newestFirst(
    app.store.db.selectFrom('evaluationCases').selectAll().where('projectId', '=', input.projectId),
    input,
  )
  return { ...page, items: page.items.map(caseOf) }
}

/** Asks every case of what is deployed now and keeps the results. */
export async function runEvaluations(
  app: { store: Database; questionIndexes: QuestionIndexes; deployments: Deployments; now: Clock },
  caller: Caller,
  input: { projectId: string; environment: string },
): Promise<EvaluationRun> {
  const { projectId, environment } = input
  await requireRole(app, caller, projectId, 'editor')
  const cases = await readCases(app.store, projectId)
  const isEmpty = app.deployments.list(projectId, environment).length === 0
  const index = isEmpty ? null : await app.questionIndexes.index({ ...input, only: null }, 'fresh')
  const results = await evaluate(index, cases, app.now())
  const id = await app.questionIndexes.keepResults({ projectId, environment, by: labelOf(caller) }, results)
  return findRun(app, caller, { projectId, id })
}

/** Newest first, without their results. */
export async function listRuns(
  app: Parts,
  caller: Caller,
  input: Paged & { query?: string | undefined },
): Promise<Page<Omit<EvaluationRun, 'results'>>> {
  await requireRole(app, caller, input.projectId, 'viewer')
  return newestFirst(
    app.store.db
      .selectFrom('evaluationRuns')
      .select(['id', 'environment', 'at', 'by', 'query', 'version', 'total', 'passed'])
      .where('projectId', '=', input.projectId)
      .$if(input.query !== undefined, (query) => query.where('query', '=', input.query ?? '')),
    input,
  )
}

export async function findRun(
  app: Parts,
  caller: Caller,
  { projectId, id }: { projectId: string; id: string },
): Promise<EvaluationRun> {
  await requireRole(app, caller, projectId, 'viewer')
  const run = await app.store.db
    .selectFrom('evaluationRuns')
    .select(['id', 'environment', 'at', 'by', 'query', 'version', 'total', 'passed', 'results'])
    .where('projectId', '=', projectId)
    .where('id', '=', id)
    .executeTakeFirst()
  if (run === undefined) throw new Failure('not_found', { message: 'There is no such evaluation run.' })
  return run
}

/** A misspelled name would be a case that fails for ever. */
async function requireExpected(
  app: Parts,
  projectId: string,
  { expectedQuery, expectedParameters }: Expected,
): Promise<void> {
  requireShort(expectedParameters, 'expected_parameters')
  if (expectedQuery === null) return
  if (await hasQuery(app.store, { projectId, name: expectedQuery })) return
  throw invalidField('expected_query', `the project has no query ${expectedQuery}`)
}

function columnsOf({ question, expectedQuery, expectedParameters }: Expected) {
  return {
    question: storable(question),
    expectedQuery,
    expectedParameters: expectedParameters === null ? null : storable(JSON.stringify(expectedParameters)),
  }
}

async function requireRoom(transaction: Transaction<Tables>, projectId: string): Promise<void> {
  const count = await countOf(transaction.selectFrom('evaluationCases').where('projectId', '=', projectId))
  if (count < fixedLimits.evaluationCases.value) return
  const message = `is one too many: a project has at most ${fixedLimits.evaluationCases.value} evaluation cases`
  throw invalidField('question', message)
}

const oneOfEach = 'evaluation_cases_project_id_question_key'
const taken = 'The project has an evaluation case with this question already.'

function noCase(): Failure {
  return new Failure('not_found', { message: 'There is no such evaluation case.' })
}
