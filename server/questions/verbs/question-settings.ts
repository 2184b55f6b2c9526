import { defaultMinConfidence } from '../../../api/questions.ts'
import { recordAct, requireRole, type Caller } from '../../access/index.ts'
import { holdFreeProjects, lockProject } from '../../projects/index.ts'
import type { Connection, Database, QuestionLogging } from '../../store/index.ts'
import { forgetWords } from '../../usage/index.ts'
import { questionsChanged } from '../indexes/snapshot.ts'
import type { Config } from '../../config.ts'
import type { Clock } from '../../clock.ts'

export type QuestionSettings = { log: QuestionLogging; retentionDays: number; minConfidence: number }

type Chosen = { projectId: string } & QuestionSettings
type Kept = Omit<Chosen, 'minConfidence'>

export async function findQuestionSettings(
  app: { store: Database; config: Pick<Config, 'limits'> },
  caller: Caller,
  projectId: string,
): Promise<QuestionSettings> {
  await requireRole(app, caller, projectId, 'viewer')
  const row = await app.store.db
    .selectFrom('questionSettings')
    .select(['log', 'retentionDays', 'minConfidence'])
    .where('projectId', '=', projectId)
    .executeTakeFirst()
  return (
    row ?? { log: 'full', retentionDays: app.config.limits.questionRetentionDays, minConfidence: defaultMinConfidence }
  )
}

/** Takes effect for questions from now on; `off` also removes what is kept, `redacted` its texts. */
export async function changeQuestionSettings(
  app: { store: Database; now: Clock },
  caller: Caller,
  { projectId, log, retentionDays, minConfidence }: Chosen,
): Promise<QuestionSettings> {
  await requireRole(app, caller, projectId, 'owner')
  await app.store.db.transaction().execute(async (transaction) => {
    // Writers of questions hold the project and read the settings after: none comes in behind the change.
    await lockProject(transaction, projectId)
    const settings = { log, retentionDays, minConfidence }
    await transaction
      .insertInto('questionSettings')
      .values({ projectId, ...settings })
      .onConflict((conflict) => conflict.column('projectId').doUpdateSet(settings))
      .execute()
    await recordAct(transaction, caller, {
      action: 'questions.settings_changed',
      target: projectId,
      projectId,
      details: settings,
    })
    await app.store.notify(transaction, questionsChanged, projectId)
  })
  await applySettings(app.store, { projectId, log, retentionDays }, app.now())
  return { log, retentionDays, minConfidence }
}

const dayMs = 86_400_000

/** Questions are written down twice, for their authors and in the log of calls: what is not wanted goes from both. */
async function applySettings({ db }: Pick<Database, 'db'>, settings: Kept, nowMs: number): Promise<void> {
  const { projectId, log, retentionDays } = settings
  const oldest = new Date(nowMs - retentionDays * dayMs)
  await db
    .deleteFrom('questions')
    .where('projectId', '=', projectId)
    .$if(log !== 'off', (query) => query.where('at', '<', oldest))
    .execute()
  if (log === 'redacted') {
    await db
      .updateTable('questions')
      .set({ text: null, parameters: null })
      .where('projectId', '=', projectId)
      .where((is) => is.or([is('text', 'is not', null), is('parameters', 'is not', null)]))
      .execute()
  }
  await forgetWords({ db }, { projectId, before: log === 'full' ? oldest : null })
}

/**
 * Those of the projects that want the words of questions kept, and will until the transaction of the connection ends.
 * One that is locked is being deleted or changes what it wants: it is left out rather than waited for. The settings are
 * read behind the lock, so that none of them is older than what is written under it.
 */
export async function holdWordKeepers(connection: Connection, projectIds: string[]): Promise<Set<string>> {
  const keepers = await holdFreeProjects(connection, projectIds)
  const { rows } = await connection.query<{ project_id: string }>(
    "select project_id from question_settings where log <> 'full' and project_id = any($1)",
    [projectIds],
  )
  for (const { project_id: id } of rows) keepers.delete(id)
  return keepers
}

const vectorDays = 30
const runDays = 365

/** Removes questions that have had their time, and vectors of texts that no index has used for long. */
export async function forgetOldQuestions(app: { store: Database; config: Config; now: Clock }): Promise<void> {
  const { db } = app.store
  const daysAgo = (days: number): Date => new Date(app.now() - days * dayMs)
  const settings = await db.selectFrom('questionSettings').select(['projectId', 'log', 'retentionDays']).execute()
  // All of it again: a change that was cut short is completed here.
  for (const each of settings) await applySettings(app.store, each, app.now())
  const own = settings.map(({ projectId }) => projectId)
  await db
    .deleteFrom('questions')
    .where('at', '<', daysAgo(app.config.limits.questionRetentionDays))
    .$if(own.length > 0, (query) => query.where('projectId', 'not in', own))
    .execute()
  await db.deleteFrom('questionVectors').where('usedAt', '<', daysAgo(vectorDays)).execute()
  await db.deleteFrom('evaluationRuns').where('at', '<', daysAgo(runDays)).execute()
}
