import { requireRole, type Caller } from '../../access/index.ts'
import {
  pageAfter,
  type Page,
  type QuestionOutcome,
  type QuestionResolution,
  type Database,
} from '../../store/index.ts'
import type { Router } from '../indexes/open-indexes.ts'
import type { QuestionLog } from './log.ts'

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

type Filter = {
  projectId: string
  environment?: string | undefined
  query?: string | undefined
  outcomes?: QuestionOutcome[] | undefined
}

/** Newest first. */
export async function listQuestions(
  app: { store: Database; questionLog: QuestionLog },
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
        .select(['keyId', 'requestId'])
        .where('projectId', '=', projectId)
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

/** What the log has of one question, by the request id of its answer; null where it has none, or was told to keep none. */
export async function findAsked(
  app: { store: Database; questionLog: QuestionLog },
  caller: Caller,
  { projectId, requestId }: { projectId: string; requestId: string },
): Promise<LoggedQuestion | null> {
  await requireRole(app, caller, projectId, 'viewer')
  await app.questionLog.flush()
  const found = await app.store.db
    .selectFrom('questions')
    .select(['id', 'environment', 'at', 'text', 'outcome', 'query', 'parameters', 'confidence', 'resolved'])
    .select(['keyId', 'requestId'])
    .where('projectId', '=', projectId)
    .where('requestId', '=', requestId)
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst()
  return found ?? null
}

/** So many different texts are compared with each other, the newest first. */
const maxTexts = 500
/** From this cosine on two questions count as wanting the same. A first setting, tried on few groups. */
const sameCosine = 0.75

/** What was not answered and nobody has dealt with yet, in groups of about the same question. */
export async function groupQuestions(
  app: { store: Database; questionLog: QuestionLog; router: Router },
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
    .where('projectId', '=', projectId)
    .where('outcome', '!=', 'answered')
    .where('resolved', 'is', null)
    .where('text', 'is not', null)
    .$if(environment !== undefined, (query) => query.where('environment', '=', environment ?? ''))
    .groupBy(['text', 'outcome', 'query'])
    .orderBy('lastAt', 'desc')
    .limit(maxTexts)
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
