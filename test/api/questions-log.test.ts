import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Observation } from '../../server/observe.ts'
import { openQuestionLog, type QuestionLog } from '../../server/questions/index.ts'
import { openTables } from '../../server/store/index.ts'
import { createDatabase, type TestDatabase } from '../harness/database.ts'
import { openLossyDatabase, type LossyDatabase } from '../harness/lossy-database.ts'

let database: TestDatabase
let lossy: LossyDatabase
let log: QuestionLog
let faults: unknown[]
let drops: Observation[]
beforeEach(async () => {
  database = await createDatabase()
  lossy = await openLossyDatabase(database.url)
  await lossy.pool.query("insert into projects (id, name) values ('prj_1', 'One')")
  faults = []
  drops = []
  const observe = (event: Observation): void => {
    if (event.kind === 'fault') faults.push(event.error)
    if (event.kind === 'records-dropped') drops.push(event)
  }
  const db = openTables(lossy.pool)
  log = openQuestionLog({ store: { db }, observe, now: Date.now, closeTimeoutMs: 5_000 })
})
afterEach(async () => {
  await log.close()
  await lossy.close()
  await database.drop()
})

const question = {
  projectId: 'prj_1',
  environment: 'production',
  outcome: 'answered' as const,
  query: null,
  parameters: {},
  confidence: null,
  keyId: null,
  browserTokenId: null,
  requestId: null,
}
const note = (text: string, more: Record<string, unknown> = {}): void => log.note({ ...question, text, ...more })

async function written(): Promise<Array<string | null>> {
  const { rows } = await lossy.pool.query<{ text: string | null }>('select text from questions order by text')
  return rows.map(({ text }) => text)
}

test('questions asked while the database takes none are written once it does', async () => {
  await lossy.pool.query('alter table questions rename to away')
  for (const text of ['one', 'two']) note(text)
  await expect(log.flush()).rejects.toThrow('questions')
  note('three')
  await lossy.pool.query('alter table away rename to questions')
  await log.flush()
  expect(await written()).toEqual(['one', 'three', 'two'])
})

test.each(['commit', 'answer'] as const)('each is written once where the %s of a write is lost', async (what) => {
  note('one')
  lossy.loseNext(what)
  await expect(log.flush()).rejects.toThrow(/connection/i)
  note('two')
  await expect.poll(() => log.flush().then(() => 'written', String)).toBe('written')
  expect(await written()).toEqual(['one', 'two'])
})

test('one that no database takes is told of, and holds none of the others up', async () => {
  for (const text of ['one', 'two', 'three']) note(text, text === 'two' ? { outcome: 'nonsense' } : {})
  await log.flush()
  expect(await written()).toEqual(['one', 'three'])
  expect(faults).toMatchObject([{ code: '23514' }])
  expect(drops).toMatchObject([{ count: 1, reason: 'refused' }])
})

test('those beyond the room there is are counted and told of', async () => {
  for (let at = 0; at < 20_003; at += 1) note('x', { projectId: 'prj_gone' })
  await log.flush()
  expect(drops).toMatchObject([{ where: 'question-log', count: 3, reason: 'full' }])
})

test('a caller cannot fill the log with parameters', async () => {
  note('short', { parameters: { note: 'glass' } })
  note('long', { parameters: { note: 'x'.repeat(100_000) } })
  await log.flush()
  const { rows } = await lossy.pool.query('select text, parameters from questions order by text desc')
  expect(rows).toEqual([
    { text: 'short', parameters: { note: 'glass' } },
    { text: 'long', parameters: null },
  ])
})
