import { openBoundedQueue } from '../../flow/index.ts'
import { newId } from '../../ids.ts'
import { holdProjects } from '../../projects/index.ts'
import { openRowWriter, type Database, type RowWriterParts, type QuestionOutcome } from '../../store/index.ts'

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
  /** The page's token that asked with the key: what it asked is for nobody else to go on from. */
  browserTokenId: string | null
  requestId: string | null
}

/** Every question with its outcome. Noted in memory, written in batches: no question waits for it. */
export type QuestionLog = {
  note(question: AskedQuestion): void
  flush(): Promise<void>
  close(): Promise<void>
}

const flushMs = 2_000
const maxRows = 500
/** Beyond this many between two writes the newest are not noted: the database is then the lesser worry. */
const maxWaiting = 20_000
/** Longest parameters of one question, as JSON. A caller may give a megabyte, and it would be kept for months. */
const maxParameterChars = 4_000

type Noted = Omit<AskedQuestion, 'parameters'> & { id: string; atMs: number; parameters: string | null }

export function openQuestionLog(parts: RowWriterParts): QuestionLog {
  const { store, now } = parts
  const backlog = openBoundedQueue<Noted>(maxWaiting)
  const writer = openRowWriter(parts, {
    where: 'question-log',
    backlog,
    // A commit whose answer was lost is no trouble: ids are kept once.
    write: (batch) => keep(store, batch),
    maxItems: maxRows,
    flushMs,
  })
  return {
    note({ parameters, ...question }) {
      const atMs = now()
      const text = JSON.stringify(parameters)
      const short = text.length > maxParameterChars ? null : text
      const hasRoom = backlog.add({ ...question, id: newId('question', atMs), atMs, parameters: short })
      if (!hasRoom) writer.drop(1)
    },
    flush: writer.flush,
    close: writer.close,
  }
}

async function keep(store: Pick<Database, 'db'>, batch: Noted[]): Promise<void> {
  const ids = [...new Set(batch.map(({ projectId }) => projectId))]
  await store.db.transaction().execute(async (transaction) => {
    // A project may have been deleted since it was asked, and a key may name one that never was.
    const known = await holdProjects(transaction, ids)
    // A statement of its own, behind the lock: one that had to wait for it would still see the settings of before.
    const settings = await transaction
      .selectFrom('questionSettings')
      .select(['projectId', 'log'])
      .where('projectId', 'in', ids)
      .execute()
    const logging = new Map(settings.map(({ projectId: id, log }) => [id, log]))
    const rows = batch.flatMap((question) => {
      const log = logging.get(question.projectId) ?? 'full'
      if (!known.has(question.projectId) || log === 'off') return []
      const full = log === 'full'
      return [
        {
          id: question.id,
          projectId: question.projectId,
          environment: question.environment,
          at: new Date(question.atMs),
          text: full ? storable(question.text) : null,
          outcome: question.outcome,
          query: question.query,
          parameters: full && question.parameters !== null ? storable(question.parameters) : null,
          confidence: question.confidence,
          keyId: question.keyId,
          browserTokenId: question.browserTokenId,
          requestId: question.requestId,
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
