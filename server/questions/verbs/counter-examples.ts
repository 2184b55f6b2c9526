import type { Value } from '../../../api/wire-codec.ts'
import type { counterExample } from '../../../api/questions.ts'
import { fixedLimits } from '../../../api/limits.ts'
import type { Transaction } from 'kysely'
import { labelOf, recordAct, requireRole, type Caller } from '../../access/index.ts'
import { Failure, invalidField } from '../../failure.ts'
import { newId } from '../../ids.ts'
import { hasQuery } from '../../queries/index.ts'
import { countOf, refuseTaken, newestFirst, type Database, type Page, type Tables } from '../../store/index.ts'
import type { QuestionIndexes } from '../indexes/open-indexes.ts'
import { questionsChanged } from '../indexes/snapshot.ts'
import { storable, type QuestionLog } from './log.ts'

/** A wrong answer that somebody reported; the router heeds it once somebody has confirmed it. */
export type ReportedAnswer = Value<typeof counterExample>

type Parts = { store: Database; questionLog: QuestionLog }
type Report = { projectId: string; requestId: string; expectedQuery: string | null; note: string | null }

/**
 * Says that a question was answered wrongly. It becomes an evaluation case at once, one that holds no deployment before
 * somebody who may change queries has confirmed the report.
 */
export async function reportAnswer(app: Parts, caller: Caller, input: Report): Promise<ReportedAnswer> {
  const { projectId, expectedQuery, requestId, note } = input
  await requireRole(app, caller, projectId, 'viewer')
  await requireKnown(app, projectId, expectedQuery)
  const { question, notQuery } = await findAnswer(app, input)
  const by = labelOf(caller)
  return refuseTaken(
    app.store.db.transaction().execute(async (transaction) => {
      await requireRoom(transaction, projectId)
      const evaluationId = await addCase(transaction, { projectId, question, expectedQuery, by })
      const row = {
        id: newId('counterExample'),
        projectId,
        question,
        notQuery,
        meantQuery: expectedQuery,
        note: note === null ? null : storable(note),
        requestId,
        evaluationId,
        createdBy: by,
      }
      const made = await transaction.insertInto('counterExamples').values(row).returningAll().executeTakeFirstOrThrow()
      await recordAct(transaction, caller, { action: 'question.reported', target: row.id, projectId })
      return made
    }),
    'counter_examples_project_id_question_key',
    'This question has been reported already.',
  )
}

/** The question, and the query that answered it and should not have. */
async function findAnswer(
  app: Parts,
  { projectId, requestId, expectedQuery }: Report,
): Promise<{ question: string; notQuery: string | null }> {
  await app.questionLog.flush()
  const asked = await app.store.db
    .selectFrom('questions')
    .select(['text', 'query', 'outcome'])
    .where('projectId', '=', projectId)
    .where('requestId', '=', requestId)
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst()
  if (asked === undefined) throw new Failure('not_found', { message: 'There is no question with that request id.' })
  if (asked.text === null) {
    throw invalidField('request_id', 'names a question whose words were not kept; the settings of the questions say so')
  }
  const notQuery = asked.outcome === 'answered' ? asked.query : null
  if (notQuery === null && expectedQuery === null) {
    throw invalidField('expected_query', 'must name a query: the question was refused, as null expects')
  }
  if (notQuery !== null && notQuery === expectedQuery) {
    throw invalidField(
      'expected_query',
      `is the query that answered; where only its values were wrong, add an example to it`,
    )
  }
  return { question: asked.text, notQuery }
}

type NewCase = { projectId: string; question: string; expectedQuery: string | null; by: string }

/** A question that is a case already stays as somebody wrote it. */
async function addCase(
  transaction: Transaction<Tables>,
  { projectId, question, expectedQuery, by }: NewCase,
): Promise<string | null> {
  const values = { projectId, question, expectedQuery, expectedParameters: null, source: 'reported' as const }
  const made = await transaction
    .insertInto('evaluationCases')
    .values({ id: newId('evaluationCase'), ...values, createdBy: by })
    .onConflict((conflict) => conflict.columns(['projectId', 'question']).doNothing())
    .returning('id')
    .executeTakeFirst()
  return made?.id ?? null
}

/** From now on the router heeds it, in every process. */
export async function confirmReport(
  app: { store: Database; questionIndexes: QuestionIndexes },
  caller: Caller,
  { projectId, id }: { projectId: string; id: string },
): Promise<ReportedAnswer> {
  await requireRole(app, caller, projectId, 'editor')
  const confirmed = await app.store.db.transaction().execute(async (transaction) => {
    const known = await transaction
      .selectFrom('counterExamples')
      .selectAll()
      .where('projectId', '=', projectId)
      .where('id', '=', id)
      .forUpdate()
      .executeTakeFirst()
    if (known === undefined) throw noReport()
    if (known.status === 'confirmed') return known
    const changed = await transaction
      .updateTable('counterExamples')
      .set({ status: 'confirmed', confirmedAt: new Date(), confirmedBy: labelOf(caller) })
      .where('id', '=', id)
      .returningAll()
      .executeTakeFirstOrThrow()
    await transaction
      .updateTable('evaluationCases')
      .set({ source: 'confirmed' })
      .where('id', '=', known.evaluationId ?? '')
      .where('source', '=', 'reported')
      .execute()
    await recordAct(transaction, caller, { action: 'question.report_confirmed', target: id, projectId })
    await app.store.notify(transaction, questionsChanged, projectId)
    return changed
  })
  await app.questionIndexes.renew(projectId)
  return confirmed
}

/** The report goes, and with it a case that nobody has confirmed. */
export async function deleteReport(
  app: { store: Database; questionIndexes: QuestionIndexes },
  caller: Caller,
  { projectId, id }: { projectId: string; id: string },
): Promise<void> {
  await requireRole(app, caller, projectId, 'editor')
  await app.store.db.transaction().execute(async (transaction) => {
    const gone = await transaction
      .deleteFrom('counterExamples')
      .where('projectId', '=', projectId)
      .where('id', '=', id)
      .returning('evaluationId')
      .executeTakeFirst()
    if (gone === undefined) throw noReport()
    await transaction
      .deleteFrom('evaluationCases')
      .where('id', '=', gone.evaluationId ?? '')
      .where('source', '=', 'reported')
      .execute()
    await recordAct(transaction, caller, { action: 'question.report_deleted', target: id, projectId })
    await app.store.notify(transaction, questionsChanged, projectId)
  })
  await app.questionIndexes.renew(projectId)
}

type Listed = {
  projectId: string
  limit: number
  cursor?: string | undefined
  status?: ReportedAnswer['status'] | undefined
}

/** Newest first. */
export async function listReports(
  app: { store: Database },
  caller: Caller,
  input: Listed,
): Promise<Page<ReportedAnswer>> {
  await requireRole(app, caller, input.projectId, 'viewer')
  return newestFirst(
    app.store.db
      .selectFrom('counterExamples')
      .selectAll()
      .where('projectId', '=', input.projectId)
      .$if(input.status !== undefined, (query) => query.where('status', '=', input.status ?? 'reported')),
    input,
  )
}

async function requireKnown(app: { store: Database }, projectId: string, name: string | null): Promise<void> {
  if (name === null || (await hasQuery(app.store, { projectId, name }))) return
  throw invalidField('expected_query', `the project has no query ${name}`)
}

async function requireRoom(transaction: Transaction<Tables>, projectId: string): Promise<void> {
  const most = fixedLimits.counterExamples.value
  const count = await countOf(transaction.selectFrom('counterExamples').where('projectId', '=', projectId))
  if (count < most) return
  throw invalidField(
    'request_id',
    `is one report too many: a project has at most ${most}. Remove some that are dealt with`,
  )
}

function noReport(): Failure {
  return new Failure('not_found', { message: 'There is no such report of a wrong answer.' })
}
