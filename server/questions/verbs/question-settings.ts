import { recordAct, requireRole, type Caller } from '../../access/index.ts'
import type { App } from '../../app.ts'
import type { Database, QuestionLogging } from '../../store/index.ts'

export type QuestionSettings = { log: QuestionLogging; retentionDays: number }

type Chosen = { projectId: string } & QuestionSettings

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
  app: Pick<App, 'store' | 'now'>,
  caller: Caller,
  { projectId, log, retentionDays }: Chosen,
): Promise<QuestionSettings> {
  await requireRole(app, caller, projectId, 'owner')
  await app.store.db.transaction().execute(async (transaction) => {
    // Who writes questions down holds the project and reads the settings after: none comes in behind the change.
    await transaction.selectFrom('projects').select('id').where('id', '=', projectId).forUpdate().execute()
    const settings = { log, retention_days: retentionDays }
    await transaction
      .insertInto('question_settings')
      .values({ project_id: projectId, ...settings })
      .onConflict((conflict) => conflict.column('project_id').doUpdateSet(settings))
      .execute()
    await recordAct(transaction, caller, {
      action: 'questions.settings_changed',
      target: projectId,
      projectId,
      details: { log, retention_days: retentionDays },
    })
  })
  await applySettings(app.store, { projectId, log, retentionDays }, app.now())
  return { log, retentionDays }
}

const dayMs = 86_400_000

/** Questions are written down twice, for their authors and in the log of calls: what is not wanted goes from both. */
async function applySettings({ db }: Pick<Database, 'db'>, settings: Chosen, nowMs: number): Promise<void> {
  const { projectId, log, retentionDays } = settings
  const oldest = new Date(nowMs - retentionDays * dayMs)
  await db
    .deleteFrom('questions')
    .where('project_id', '=', projectId)
    .$if(log !== 'off', (query) => query.where('at', '<', oldest))
    .execute()
  if (log === 'redacted') {
    await db
      .updateTable('questions')
      .set({ text: null, parameters: null })
      .where('project_id', '=', projectId)
      .where((is) => is.or([is('text', 'is not', null), is('parameters', 'is not', null)]))
      .execute()
  }
  await db
    .updateTable('request_batches')
    .set({ question: null })
    .where('project_id', '=', projectId)
    .where('entry', '=', 'question')
    .where('question', 'is not', null)
    .$if(log === 'full', (query) => query.where('start', '<', oldest))
    .execute()
  await db
    .deleteFrom('usage_questions')
    .where('project_id', '=', projectId)
    .$if(log === 'full', (query) => query.where('start', '<', oldest))
    .execute()
}

const vectorDays = 30
const runDays = 365

/** Removes questions that have had their time, and vectors of texts that no index has used for long. */
export async function forgetOldQuestions(app: Pick<App, 'store' | 'config' | 'now'>): Promise<void> {
  const { db } = app.store
  const daysAgo = (days: number): Date => new Date(app.now() - days * dayMs)
  const settings = await db
    .selectFrom('question_settings')
    .select(['project_id as projectId', 'log', 'retention_days as retentionDays'])
    .execute()
  // All of it again: a change that was cut short is completed here.
  for (const each of settings) await applySettings(app.store, each, app.now())
  const own = settings.map(({ projectId }) => projectId)
  await db
    .deleteFrom('questions')
    .where('at', '<', daysAgo(app.config.limits.questionRetentionDays))
    .$if(own.length > 0, (query) => query.where('project_id', 'not in', own))
    .execute()
  await db.deleteFrom('question_vectors').where('used_at', '<', daysAgo(vectorDays)).execute()
  await db.deleteFrom('evaluation_runs').where('at', '<', daysAgo(runDays)).execute()
}
