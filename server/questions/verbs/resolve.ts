import type { Value } from '../../../api/wire-codec.ts'
import { fixedLimits } from '../../../api/limits.ts'
import type { resolveQuestions as resolveSchema } from '../../../api/questions.ts'
import { requireRole, type Caller } from '../../access/index.ts'
import { Failure, invalidField } from '../../failure.ts'
import { changeQuery, createQuery, defaultSettings, findQuery, type Query } from '../../queries/index.ts'
import type { Database } from '../../store/index.ts'
import type { QuestionIndexes } from '../indexes/open-indexes.ts'
import { routable } from '../indexes/snapshot.ts'
import type { EvaluationCase } from '../indexes/evaluation-cases.ts'
import { createCase } from './evaluations.ts'
import { storable, type QuestionLog } from './log.ts'
import { routePinned } from '../../router/index.ts'
import type { Catalogs } from '../../data/index.ts'
import type { QueryEngine } from '../../engine/index.ts'
import type { Clock } from '../../clock.ts'
import type { Config } from '../../config.ts'

/** Questions that people asked, and what to make of them. */
export type Resolve = Value<typeof resolveSchema> & { projectId: string }

export type Resolved = { resolved: number; query: Query | null; cases: EvaluationCase[] }

type Parts = {
  config: Pick<Config, 'limits'>
  store: Database
  catalogs: Catalogs
  engine: QueryEngine
  questionIndexes: QuestionIndexes
  questionLog: QuestionLog
  now: Clock
}

/** One act makes of a group of questions examples of a query, evaluation cases, a new draft, or nothing. */
export async function resolveQuestions(app: Parts, caller: Caller, asked: Resolve): Promise<Resolved> {
  await requireRole(app, caller, asked.projectId, 'editor')
  await app.questionLog.flush()
  // As they are kept, and each once.
  const input = { ...asked, questions: [...new Set(asked.questions.map(storable))] }
  const made = await make(app, caller, input)
  const { numUpdatedRows } = await app.store.db
    .updateTable('questions')
    .set({ resolved: input.as })
    .where('projectId', '=', input.projectId)
    .where('text', 'in', input.questions)
    .executeTakeFirst()
  return { resolved: Number(numUpdatedRows), ...made }
}

async function make(app: Parts, caller: Caller, input: Resolve): Promise<Omit<Resolved, 'resolved'>> {
  if (input.as === 'dismissed') return { query: null, cases: [] }
  if (input.as === 'evaluation') return { query: null, cases: await makeCases(app, caller, input) }
  const name = input.query
  if (name === null) throw invalidField('query', 'is required')
  const query =
    input.as === 'example'
      ? await addExamples(app, caller, { ...input, name })
      : await makeDraft(app, caller, { ...input, name })
  return { query, cases: [] }
}

/** A question that is a case already stays as it is. */
async function makeCases(app: Parts, caller: Caller, input: Resolve): Promise<EvaluationCase[]> {
  const { projectId, query, parameters } = input
  const cases: EvaluationCase[] = []
  for (const question of input.questions) {
    const known = await app.store.db
      .selectFrom('questions')
      .select('outcome')
      .where('projectId', '=', projectId)
      .where('text', '=', question)
      .where('query', '=', query)
      .where('outcome', '=', 'answered')
      .limit(1)
      .executeTakeFirst()
    const expected = {
      projectId,
      question,
      expectedQuery: query,
      expectedParameters: Object.keys(parameters).length === 0 ? null : parameters,
      // Asked, answered, and now said to be right.
      source: known === undefined ? ('missed' as const) : ('confirmed' as const),
    }
    const made = await createCase(app, caller, expected).catch((error: unknown) => {
      if (error instanceof Failure && error.reason === 'name_taken') return null
      throw error
    })
    if (made !== null) cases.push(made)
  }
  return cases
}

type Named = Resolve & { name: string }

/** Goes into the draft: an author looks at it, deploys it, and the gate asks everything again. */
async function addExamples(app: Parts, caller: Caller, input: Named): Promise<Query> {
  const { projectId, name, questions } = input
  const draft = await findQuery(app, caller, { projectId, name })
  // Questions that are examples already stay as they are, unless somebody says which values they mean.
  const isSaid = Object.keys(input.parameters).length > 0
  const examplesLeft = draft.examples.filter(({ question }) => !isSaid || !questions.includes(question))
  const known = new Set(examplesLeft.map(({ question }) => question))
  const fresh = questions.filter((question) => !known.has(question))
  if (examplesLeft.length + fresh.length > fixedLimits.queryExamples.value) {
    const message = `are too many: ${name} has ${examplesLeft.length} examples, and may have ${fixedLimits.queryExamples.value}`
    throw invalidField('questions', message)
  }
  const index = await app.questionIndexes.trial({ projectId, environment: '', only: [] }, [routable(draft)])
  const examples = [...examplesLeft]
  for (const question of fresh) {
    const options = { name, given: input.parameters, timeZone: 'UTC', now: new Date(app.now()) }
    const { explanation } = await routePinned(index, question, options)
    const slots = Object.keys(draft.slots.properties)
    const found = Object.entries({ ...explanation.parameters, ...input.parameters })
    const given = found.filter(([slot, value]) => slots.includes(slot) && value !== null)
    const parameters = Object.fromEntries(given)
    requireWhole(draft, question, parameters)
    examples.push({ question, parameters })
  }
  // Examples that somebody else has added meanwhile must not be lost.
  return changeQuery(app, caller, { projectId, name, changes: { examples }, revision: draft.revision })
}

/** An example without a value that every call needs would teach that questions need not say it. */
function requireWhole({ name, slots }: Query, question: string, parameters: Record<string, unknown>): void {
  const missing = slots.required.filter((slot) => !Object.hasOwn(parameters, slot))
  if (missing.length === 0) return
  throw new Failure('invalid_request', {
    reason: 'invalid_field',
    details: missing.map((slot) => ({
      field: `parameters.${slot}`,
      message: `is required: ${name} needs it, and “${question}” does not say it`,
    })),
  })
}

/** Without SQL it begins as all rows of the first table, for its author to narrow. */
async function makeDraft(app: Parts, caller: Caller, { projectId, name, questions, sql }: Named): Promise<Query> {
  const statement = sql ?? (await firstRows(app, projectId))
  return createQuery(app, caller, {
    projectId,
    name,
    sql: statement,
    description: questions[0] ?? '',
    examples: questions.map((question) => ({ question, parameters: {} })),
    ...defaultSettings,
  })
}

async function firstRows(app: Parts, projectId: string): Promise<string> {
  const [table] = (await app.catalogs.get(projectId)).tables
  if (table === undefined) throw invalidField('sql', 'is required: the project has no table yet')
  return `SELECT * FROM ${table.name} LIMIT 100`
}
