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

export function openQuestionLog({
  store,
  observe,
  now,
}: {
  store: Pick<Database, 'db'>
  observe: Observe
  now: () => number
}): QuestionLog {
  let waiting: Array<AskedQuestion & { atMs: number }> = []
  let writing = Promise.resolve()

  async function write(): Promise<void> {
    while (waiting.length > 0) {
      const batch = waiting.slice(0, mostRows)
      waiting = waiting.slice(mostRows)
      await keep(store, batch)
    }
  }
  const flush = (): Promise<void> => {
    const next = writing.then(write)
    writing = next.catch(() => undefined)
    return next
  }
  const timer = setInterval(() => {
    flush().catch((error: unknown) => observe({ kind: 'fault', where: 'question-log', error }))
  }, flushMs).unref()

  return {
    note(question) {
      if (waiting.length < mostWaiting) waiting.push({ ...question, atMs: now() })
    },
    flush,
    async close() {
      clearInterval(timer)
      await flush().catch((error: unknown) => observe({ kind: 'fault', where: 'question-log', error }))
    },
  }
}

async function keep(store: Pick<Database, 'db'>, batch: Array<AskedQuestion & { atMs: number }>): Promise<void> {
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
          id: newId('question', question.atMs),
          project_id: question.projectId,
          environment: question.environment,
          at: new Date(question.atMs),
          text: full ? storable(question.text) : null,
          outcome: question.outcome,
          query: question.query,
          parameters: full ? storable(JSON.stringify(question.parameters)) : null,
          confidence: question.confidence,
          key_id: question.keyId,
          request_id: question.requestId,
          resolved: null,
        },
      ]
    })
    if (rows.length > 0) await transaction.insertInto('questions').values(rows).execute()
  })
}

/** PostgreSQL keeps no NUL, neither as a character nor as JSON's escape, and no half of a surrogate pair. */
export function storable(text: string): string {
  return text
    .toWellFormed()
    .replaceAll('\0', ' ')
    .replaceAll(String.raw`\u0000`, ' ')
}
