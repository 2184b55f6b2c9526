import type { Observe } from '../../observe.ts'
import { newId } from '../../ids.ts'
import type { Database, QuestionOutcome } from '../../store/index.ts'

export type AskedQuestion = {
  projectId: string
  environment: string
  text: string
  outcome: QuestionOutcome
  /** The query that answered, or the nearest. */
  query: string | null
  parameters: Record<string, unknown>
  confidence: number | null
  keyId: string | null
  requestId: string | null
}

/** Every question with its outcome. Noted in memory, written in batches: no question waits for it. */
export type QuestionLog = {
  note(question: AskedQuestion): void
  flush(): Promise<void>
  close(): Promise<void>
}

const flushMs = 2_000
const mostRows = 500
/** Beyond this many between two writes the newest are not noted: the database is then the lesser worry. */
const mostWaiting = 20_000
/** Of the parameters of one question, as JSON. A caller may give a megabyte, and it would be kept for months. */
const mostParameterChars = 4_000

type Noted = Omit<AskedQuestion, 'parameters'> & { id: string; atMs: number; parameters: string | null }

export function openQuestionLog({
  store,
  observe,
  now,
}: {
  store: Pick<Database, 'db'>
  observe: Observe
  now: () => number
}): QuestionLog {
  const waiting: Noted[] = []
  let shed = 0
  let writing = Promise.resolve()
  const fault = (error: unknown): void => observe({ kind: 'fault', where: 'question-log', error })

  async function write(): Promise<void> {
    if (shed > 0) fault(new Error(`${shed} questions are not in the log: the database has not taken them in time.`))
    shed = 0
    while (waiting.length > 0) {
      const batch = waiting.splice(0, mostRows)
      try {
        await keepOrSplit(batch)
      } catch (error) {
        // They wait for a database that takes them. A commit whose answer was lost is no trouble: ids are kept once.
        waiting.unshift(...batch)
        throw error
      }
    }
  }
  /** What no database will ever take must not hold up the rest. */
  async function keepOrSplit(batch: Noted[]): Promise<void> {
    try {
      await keep(store, batch)
    } catch (error) {
      if (!isRefused(error)) throw error
      if (batch.length === 1) return fault(error)
      const middle = Math.ceil(batch.length / 2)
      await keepOrSplit(batch.slice(0, middle))
      await keepOrSplit(batch.slice(middle))
    }
  }
  const flush = (): Promise<void> => {
    const next = writing.then(write)
    writing = next.catch(() => undefined)
    return next
  }
  const timer = setInterval(() => void flush().catch(fault), flushMs).unref()

  return {
    note({ parameters, ...question }) {
      if (waiting.length >= mostWaiting) {
        shed += 1
        return
      }
      const atMs = now()
      const text = JSON.stringify(parameters)
      const short = text.length > mostParameterChars ? null : text
      waiting.push({ ...question, id: newId('question', atMs), atMs, parameters: short })
    },
    flush,
    async close() {
      clearInterval(timer)
      await flush().catch(fault)
    },
  }
}

/** The database has read the rows and does not take them: a value it cannot hold, or one that breaks a rule. */
function isRefused(error: unknown): boolean {
  return error instanceof Error && 'code' in error && /^2[23]/.test(String(error.code))
}

async function keep(store: Pick<Database, 'db'>, batch: Noted[]): Promise<void> {
  const ids = [...new Set(batch.map(({ projectId }) => projectId))]
  await store.db.transaction().execute(async (transaction) => {
    // A project may have been deleted since it was asked, and a key may name one that never was.
    const projects = await transaction
      .selectFrom('projects')
      .select('id')
      .where('id', 'in', ids)
      .orderBy('id')
      .forKeyShare()
      .execute()
    // A statement of its own, behind the lock: one that had to wait for it would still see the settings of before.
    const settings = await transaction
      .selectFrom('question_settings')
      .select(['project_id', 'log'])
      .where('project_id', 'in', ids)
      .execute()
    const known = new Set(projects.map(({ id }) => id))
    const logging = new Map(settings.map(({ project_id: id, log }) => [id, log]))
    const rows = batch.flatMap((question) => {
      const log = logging.get(question.projectId) ?? 'full'
      if (!known.has(question.projectId) || log === 'off') return []
      const full = log === 'full'
      return [
        {
          id: question.id,
          project_id: question.projectId,
          environment: question.environment,
          at: new Date(question.atMs),
          text: full ? storable(question.text) : null,
          outcome: question.outcome,
          query: question.query,
          parameters: full && question.parameters !== null ? storable(question.parameters) : null,
          confidence: question.confidence,
          key_id: question.keyId,
          request_id: question.requestId,
          resolved: null,
        },
      ]
    })
    if (rows.length === 0) return
    await transaction
      .insertInto('questions')
      .values(rows)
      .onConflict((conflict) => conflict.doNothing())
      .execute()
  })
}

/** PostgreSQL keeps no NUL, neither as a character nor as JSON's escape, and no half of a surrogate pair. */
export function storable(text: string): string {
  return text
    .toWellFormed()
    .replaceAll('\0', ' ')
    .replaceAll(String.raw`\u0000`, ' ')
}
