import type { Value } from '../../../api/wire-codec.ts'
import type { loggedQuestion, questionGroup } from '../../../api/questions.ts'
import { requireRole, type Caller } from '../../access/index.ts'
import { mapInPieces, yieldToEventLoop } from '../../flow/index.ts'
import { asksForCount, isList, words, writeCommandIn } from '../../language/index.ts'
import type { Deployments } from '../../queries/index.ts'
import { spoken } from '../../router/index.ts'
import { newestFirst, type Page, type QuestionOutcome, type Database } from '../../store/index.ts'
import type { QuestionIndexes } from '../indexes/open-indexes.ts'
import type { QuestionLog } from './log.ts'

export type LoggedQuestion = Value<typeof loggedQuestion>

/** Questions that mean about the same, by how often they were asked. */
export type QuestionGroup = Value<typeof questionGroup>

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
  // Readers want to see what was asked a moment ago.
  await app.questionLog.flush()
  return newestFirst(
    app.store.db
      .selectFrom('questions')
      .select(['id', 'environment', 'at', 'text', 'outcome', 'query', 'parameters', 'confidence', 'resolved'])
      .select(['keyId', 'requestId'])
      .where('projectId', '=', projectId)
      .$if(environment !== undefined, (query) => query.where('environment', '=', environment ?? ''))
      .$if(name !== undefined, (query) => query.where('query', '=', name ?? ''))
      .$if(outcomes.length > 0, (query) => query.where('outcome', 'in', outcomes)),
    input,
  )
}

/** The log entry of a question, by the request id of its answer; null where it has none, or was told to keep none. */
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
/** So much of what is said of a query tells whether it lists. */
const maxDescribedChars = 20_000

/** Unanswered questions that nobody has dealt with yet, in groups of about the same question. */
export async function groupQuestions(
  app: { store: Database; questionLog: QuestionLog; questionIndexes: QuestionIndexes; deployments: Deployments },
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
  const vectors = await app.questionIndexes.encode(asked.map(({ text }) => text))
  const groups = (await gather(asked, vectors))
    .sort((a, b) => b.count - a.count || Number(b.lastAt) - Number(a.lastAt))
    .slice(0, limit)
  const lists = new Map<string, boolean>()
  const isListing = (name: string): boolean => {
    const version = app.deployments.find({ projectId, environment: environment ?? 'production', name })?.version
    const known = lists.get(name) ?? (version !== undefined && saysList(name, version))
    lists.set(name, known)
    return known
  }
  return mapInPieces(groups, (group) => ({ ...group, couldAnswer: couldAnswer(group, isListing) }))
}

type Version = NonNullable<ReturnType<Deployments['find']>>['version']

/** Whether a query gives the things themselves, by what its author says of it. */
function saysList(name: string, { description, examples }: Version): boolean {
  const described = [spoken(name), description, ...examples.map((each) => each.question)].join(' . ')
  return isList(words(described.slice(0, maxDescribedChars)))
}

/** An example teaches words, and no query to count what it lists or to change anything. */
function couldAnswer({ question, nearest }: Group, isListing: (name: string) => boolean): QuestionGroup['couldAnswer'] {
  if (writeCommandIn(question) !== null) return 'nothing'
  return nearest !== null && asksForCount(question) && isListing(nearest) ? 'new_query' : 'nearest'
}

type Group = Omit<QuestionGroup, 'couldAnswer'>
type Asked = { text: string; outcome: QuestionOutcome; query: string | null; count: number; lastAt: Date }

/** Each joins the first group whose leader it resembles; those asked most lead. */
async function gather(asked: Asked[], vectors: Float32Array[]): Promise<Group[]> {
  const groups: Array<{ group: Group; leader: Float32Array }> = []
  for (const [at, each] of asked.entries()) {
    await yieldToEventLoop()
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
  }
  return groups.map(({ group }) => group)
}

/** Cosine of vectors of length one. */
function cosine(left: Float32Array, right: Float32Array): number {
  let sum = 0
  for (let at = 0; at < left.length; at += 1) sum += (left[at] ?? 0) * (right[at] ?? 0)
  return sum
}
