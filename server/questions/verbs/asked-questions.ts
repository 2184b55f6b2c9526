import { recordAct, requireRole, type Caller } from '../../access/index.ts'
import type { App } from '../../app.ts'
import {
  pageAfter,
  type Page,
  type QuestionLogging,
  type QuestionOutcome,
  type QuestionResolution,
} from '../../store/index.ts'

export type LoggedQuestion = {
  id: string
  environment: string
  at: Date
  text: string | null
  outcome: QuestionOutcome
  query: string | null
  parameters: Record<string, unknown> | null
  confidence: number | null
  keyId: string | null
  requestId: string | null
  resolved: QuestionResolution | null
}

/** Questions that mean about the same, by how often they were asked. */
export type QuestionGroup = {
  /** The one asked most. */
  question: string
  count: number
  lastAt: Date
  outcomes: Partial<Record<QuestionOutcome, number>>
  /** The query that came nearest to it. */
  nearest: string | null
  questions: Array<{ text: string; count: number }>
}

export type QuestionSettings = { log: QuestionLogging; retentionDays: number }

type Filter = {
  projectId: string
  environment?: string | undefined
  query?: string | undefined
  outcomes?: QuestionOutcome[] | undefined
}

/** Newest first. */
export async function listQuestions(
  app: Pick<App, 'store' | 'questionLog'>,
  caller: Caller,
  input: Filter & { limit: number; cursor?: string | undefined },
): Promise<Page<LoggedQuestion>> {
  const { projectId, environment, query: name, outcomes = [] } = input
  await requireRole(app, caller, projectId, 'viewer')
  // Whoever looks wants to see what was asked a moment ago.
  await app.questionLog.flush()
  return pageAfter(
    (after, limit) =>
      app.store.db
        .selectFrom('questions')
        .select(['id', 'environment', 'at', 'text', 'outcome', 'query', 'parameters', 'confidence', 'resolved'])
        .select(['key_id as keyId', 'request_id as requestId'])
        .where('project_id', '=', projectId)
        .$if(environment !== undefined, (query) => query.where('environment', '=', environment ?? ''))
        .$if(name !== undefined, (query) => query.where('query', '=', name ?? ''))
        .$if(outcomes.length > 0, (query) => query.where('outcome', 'in', outcomes))
        .$if(after !== undefined, (query) => query.where('id', '<', after ?? ''))
        .orderBy('id', 'desc')
        .limit(limit)
        .execute(),
    input,
    (question) => question.id,
  )
}

/** So many different texts are compared with each other, the newest first. */
const mostTexts = 500
/** From this cosine on two questions count as wanting the same. A first setting, tried on few groups. */
const sameCosine = 0.75

/** What was not answered and nobody has dealt with yet, in groups of about the same question. */
export async function groupQuestions(
  app: Pick<App, 'store' | 'questionLog' | 'router'>,
  caller: Caller,
  { projectId, environment, limit }: Filter & { limit: number },
): Promise<QuestionGroup[]> {
  await requireRole(app, caller, projectId, 'viewer')
  await app.questionLog.flush()
  const rows = await app.store.db
    .selectFrom('questions')
    .select((select) => [
      'text',
      'outcome',
      'query',
      select.fn.countAll<string>().as('count'),
      select.fn.max('at').as('lastAt'),
    ])
    .where('project_id', '=', projectId)
    .where('outcome', '!=', 'answered')
    .where('resolved', 'is', null)
    .where('text', 'is not', null)
    .$if(environment !== undefined, (query) => query.where('environment', '=', environment ?? ''))
    .groupBy(['text', 'outcome', 'query'])
    .orderBy('lastAt', 'desc')
    .limit(mostTexts)
    .execute()
  const asked = rows.map(({ text, outcome, query, count, lastAt }): Asked => {
    return { text: text ?? '', outcome, query, count: Number(count), lastAt }
  })
  asked.sort((a, b) => b.count - a.count || Number(b.lastAt) - Number(a.lastAt))
  const vectors = await app.router.encode(asked.map(({ text }) => text))
  return gather(asked, vectors)
    .sort((a, b) => b.count - a.count || Number(b.lastAt) - Number(a.lastAt))
    .slice(0, limit)
}

type Asked = { text: string; outcome: QuestionOutcome; query: string | null; count: number; lastAt: Date }

/** Each joins the first group whose leader it resembles; those asked most lead. */
function gather(asked: Asked[], vectors: Float32Array[]): QuestionGroup[] {
  const groups: Array<{ group: QuestionGroup; leader: Float32Array }> = []
  asked.forEach((each, at) => {
    const vector = vectors[at] ?? new Float32Array()
    let group = groups.find(({ leader }) => cosine(leader, vector) >= sameCosine)?.group
    if (group === undefined) {
      const { text: question, lastAt, query: nearest } = each
      group = { question, count: 0, lastAt, outcomes: {}, nearest, questions: [] }
      groups.push({ group, leader: vector })
    }
    group.count += each.count
    group.outcomes[each.outcome] = (group.outcomes[each.outcome] ?? 0) + each.count
    if (each.lastAt > group.lastAt) group.lastAt = each.lastAt
    const same = group.questions.find(({ text }) => text === each.text)
    if (same === undefined) group.questions.push({ text: each.text, count: each.count })
    else same.count += each.count
  })
  return groups.map(({ group }) => group)
}

/** Of vectors of length one. */
function cosine(left: Float32Array, right: Float32Array): number {
  let sum = 0
  for (let at = 0; at < left.length; at += 1) sum += (left[at] ?? 0) * (right[at] ?? 0)
  return sum
}

export async function findQuestionSettings(
  app: Pick<App, 'store' | 'config'>,
  caller: Caller,
  projectId: string,
): Promise<QuestionSettings> {
  await requireRole(app, caller, projectId, 'viewer')
  const row = await app.store.db
    .selectFrom('question_settings')
    .select(['log', 'retention_days as retentionDays'])
    .where('project_id', '=', projectId)
    .executeTakeFirst()
  return row ?? { log: 'full', retentionDays: app.config.limits.questionRetentionDays }
}

/** Takes effect for questions from now on; `off` also removes what is kept, `redacted` its texts. */
export async function changeQuestionSettings(
  app: Pick<App, 'store' | 'questionLog'>,
  caller: Caller,
  { projectId, log, retentionDays }: { projectId: string } & QuestionSettings,
): Promise<QuestionSettings> {
  await requireRole(app, caller, projectId, 'owner')
  await app.questionLog.flush()
  await app.store.db.transaction().execute(async (transaction) => {
    const settings = { log, retention_days: retentionDays }
    await transaction
      .insertInto('question_settings')
      .values({ project_id: projectId, ...settings })
      .onConflict((conflict) => conflict.column('project_id').doUpdateSet(settings))
      .execute()
    if (log === 'off') await transaction.deleteFrom('questions').where('project_id', '=', projectId).execute()
    if (log === 'redacted') {
      await transaction
        .updateTable('questions')
        .set({ text: null, parameters: null })
        .where('project_id', '=', projectId)
        .execute()
    }
    await recordAct(transaction, caller, {
      action: 'questions.settings_changed',
      target: projectId,
      projectId,
      details: { log, retention_days: retentionDays },
    })
  })
  return { log, retentionDays }
}

const vectorDays = 30
const runDays = 365

/** Removes questions that have had their time, and vectors of texts that no index has used for long. */
export async function forgetOldQuestions(app: Pick<App, 'store' | 'config' | 'now'>): Promise<void> {
  const { db } = app.store
  const daysAgo = (days: number): Date => new Date(app.now() - days * 86_400_000)
  const settings = await db.selectFrom('question_settings').selectAll().execute()
  const own = settings.map((each) => each.project_id)
  for (const { project_id: projectId, retention_days: days } of settings) {
    await db.deleteFrom('questions').where('project_id', '=', projectId).where('at', '<', daysAgo(days)).execute()
  }
  await db
    .deleteFrom('questions')
    .where('at', '<', daysAgo(app.config.limits.questionRetentionDays))
    .$if(own.length > 0, (query) => query.where('project_id', 'not in', own))
    .execute()
  await db.deleteFrom('question_vectors').where('used_at', '<', daysAgo(vectorDays)).execute()
  await db.deleteFrom('evaluation_runs').where('at', '<', daysAgo(runDays)).execute()
}
