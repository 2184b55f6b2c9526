import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Failure } from '../../server/failure.ts'
import type { Observation } from '../../server/observe.ts'
import { openQuestionIndexes, warmQuestions } from '../../server/questions/index.ts'
import { expectStatus, type TestApp } from '../harness/app.ts'
import { openQueryProject, type QueryProject } from '../harness/queries.ts'
import { openAppWithSource, execute, type Source } from '../harness/source.ts'

let t: TestApp
let source: Source
let q: QueryProject
beforeAll(async () => {
  ;({ t, source } = await openAppWithSource())
  await t.app.jobs.start()
  q = await openQueryProject(t)
}, 60_000)
afterAll(() => t.close())

const modelDir = join(import.meta.dirname, '../../models/question-encoder')

function indexesOn(
  observations: Observation[],
  more: { modelDir?: string; waitMs?: number; maxBytes?: number; queueLength?: number } = {},
) {
  const { store, datasources, deployments, catalogs, engine } = t.app
  return openQuestionIndexes({
    modelDir,
    readerDir: join(import.meta.dirname, '../../models/question-reader'),
    openEncoder: undefined,
    threads: 1,
    restAfterMs: 0,
    queueLength: 256,
    questionWaitMs: 1_000,
    waitMs: 50_000,
    maxBytes: 100_000_000,
    store,
    datasources,
    deployments,
    catalogs,
    engine,
    observe: (event) => void observations.push(event),
    now: Date.now,
    ...more,
  })
}

describe('the index of a place', () => {
  test('knows new values of a column as soon as they are collected', async () => {
    const datasourceId = 'ds_people'
    const put = async (...names: string[]) => {
      source.answer(names.map((name, id) => ({ id, name })))
      await expectStatus(
        200,
        execute(t.operator, { projectId: q.projectId, datasourceId, url: source.url, name: 'people' }),
      )
    }
    await put('Ada Byron', 'Alan Turing')
    await q.deploy({
      name: 'person',
      description: 'A person by name',
      sql: 'SELECT id FROM people WHERE name = $name',
      slots: {
        type: 'object',
        properties: {
          name: { type: 'string', 'x-values-from': 'people.name', 'x-synonyms': { 'Ada Byron': ['the countess'] } },
        },
        required: ['name'],
      },
      examples: [
        { question: 'who is Ada Byron?', parameters: { name: 'Ada Byron' } },
        { question: 'find Alan Turing', parameters: { name: 'Alan Turing' } },
        { question: 'look up the person Ada Byron', parameters: { name: 'Ada Byron' } },
      ],
    })
    const ask = (query: string) => q.caller.post('/v1/query', { query, project_id: q.projectId })
    await expect
      .poll(async () => (await ask('who is alan turing?')).body.parameters, { timeout: 60_000 })
      .toEqual({
        name: 'Alan Turing',
      })
    await put('Ada Byron', 'Alan Turing', 'Zofia Kowalska')
    await expect
      .poll(async () => (await ask('who is zofia kowalska?')).body.parameters, { timeout: 60_000 })
      .toEqual({
        name: 'Zofia Kowalska',
      })
  })

  test('knows what people say for a value of a column', async () => {
    const { body } = await q.caller.post('/v1/query', { query: 'who is the Countess?', project_id: q.projectId })
    expect(body).toMatchObject({ query_used: 'person', parameters: { name: 'Ada Byron' }, row_count: 1 })
  })

  test('answers as it was while the next one is built, which then takes its place', async () => {
    const ask = (query: string) => q.caller.post('/v1/query', { query, project_id: q.projectId })
    const { store } = t.app
    const built = () => t.observations.filter(({ kind }) => kind === 'question-index-built').length
    const before = built()
    await store.db.transaction().execute(async (transaction) => {
      // Who builds reads this table, and waits here for as long as we like.
      await sql`lock table column_values in access exclusive mode`.execute(transaction)
      await sql`insert into column_values (datasource_id, column_name, value, occurrences)
        select datasource_id, column_name, 'Grace Hopper', 1 from column_values where value = 'Alan Turing'`.execute(
        transaction,
      )
      await store.db.transaction().execute((other) => store.notify(other, 'data_changed', q.projectId))
      const waiting = async () => {
        const { rows } = await sql`select 1 from pg_locks where not granted`.execute(store.db)
        return rows.length
      }
      await expect.poll(waiting, { timeout: 60_000 }).toBeGreaterThan(0)
      expect((await ask('who is alan turing?')).body).toMatchObject({ parameters: { name: 'Alan Turing' } })
      expect((await ask('who is grace hopper?')).status).toBe(422)
      expect(built()).toBe(before)
    })
    await expect
      .poll(async () => (await ask('who is grace hopper?')).body.parameters, { timeout: 60_000 })
      .toEqual({ name: 'Grace Hopper' })
    expect(built()).toBeGreaterThan(before)
  })

  test('is built after a restart without reading any text again', async () => {
    const place = { projectId: q.projectId, environment: 'production', only: null }
    const observations: Observation[] = []
    const indexes = await indexesOn(observations)
    const before = await t.app.store.db.selectFrom('questionVectors').select('textHash').execute()
    await indexes.index(place)
    const after = await t.app.store.db.selectFrom('questionVectors').select('textHash').execute()
    expect(before.length).toBeGreaterThan(50)
    expect(after).toHaveLength(before.length)
    expect(observations).toContainEqual(expect.objectContaining({ kind: 'encoder-opened', encoder: 'neural' }))
    expect(indexes.health()).toEqual({ encoder: 'neural', indexes: 1 })
    await indexes.close()
  })

  test('503 while it takes too long to build the first one', async () => {
    const indexes = await indexesOn([], { waitMs: 1 })
    const place = { projectId: q.projectId, environment: 'production', only: null }
    await expect(indexes.index(place)).rejects.toMatchObject({ code: 'overloaded', retryAfterSeconds: 2 })
    await indexes.close()
  })

  test('takes room for its values too, each limited key an index of its own', async () => {
    const names = ['all_people', 'some_people', 'no_people']
    for (const name of names) {
      await q.deploy({
        name,
        description: `People for ${name}`,
        sql: 'SELECT id FROM people WHERE name = $name',
        slots: { type: 'object', properties: { name: { type: 'string', 'x-values-from': 'people.name' } } },
      })
    }
    await sql`insert into column_values (datasource_id, column_name, value, occurrences)
      select datasource_id, column_name, 'Person number ' || at, 1 from column_values, generate_series(1, 3000) as at
      where value = 'Alan Turing'`.execute(t.app.store.db)
    // Room for two of them: each has 3,000 values at about a kilobyte, and the vectors of its few texts.
    const indexes = await indexesOn([], { maxBytes: 9_000_000 })
    for (const name of names) await indexes.index({ projectId: q.projectId, environment: 'production', only: [name] })
    expect(indexes.health().indexes).toBe(2)
    await indexes.close()
  })

  test('leaves the queue of the encoder to questions while many texts are compared', async () => {
    const indexes = await indexesOn([], { queueLength: 16 })
    const texts = Array.from({ length: 100 }, (_, at) => `What is the weather in town ${at}?`)
    const vectors = await indexes.encode(texts)
    expect(vectors).toHaveLength(100)
    expect(vectors[99]).toEqual((await indexes.encode(texts.slice(99)))[0])
    await indexes.close()
  })

  test('trials that nobody waits for any more are not built, and beyond many that wait none is taken', async () => {
    const observations: Observation[] = []
    const indexes = await indexesOn(observations, { waitMs: 1 })
    const place = { projectId: q.projectId, environment: 'production', only: null }
    const trial = (at: number) => {
      const texts = { description: 'Something else', sql: 'SELECT 1', examples: [] }
      const changed = { name: `try_${at}`, ...texts, slots: { properties: {} } }
      return indexes.trial(place, [changed]).then(
        () => 'built',
        (error: Failure) => error.retryAfterSeconds,
      )
    }
    const outcomes = await Promise.all(Array.from({ length: 100 }, (_, at) => trial(at)))
    expect(new Set(outcomes)).toEqual(new Set([2, 5]))
    expect(outcomes.filter((outcome) => outcome === 5)).toHaveLength(34)
    // Its turn comes after all of theirs.
    const own = () =>
      indexes.index(place).then(
        ({ queries }) => queries.length,
        () => 0,
      )
    await expect.poll(own, { timeout: 60_000 }).toBeGreaterThan(0)
    expect(observations.filter(({ kind }) => kind === 'question-index-built').length).toBeLessThanOrEqual(3)
    await indexes.close()
  })

  test('is built after a start where somebody asked lately, the last place first, and nowhere else', async () => {
    const asked = [await openQueryProject(t), await openQueryProject(t)]
    const unasked = await openQueryProject(t)
    for (const project of [...asked, unasked]) {
      const examples = [{ question: 'How many orders are there?', parameters: {} }]
      await project.deploy({ name: 'all', sql: 'SELECT count(*) AS n FROM orders', examples })
    }
    for (const { caller, projectId } of asked) {
      await expectStatus(200, caller.post('/v1/query', { query: 'How many orders are there?', project_id: projectId }))
    }
    await t.app.questionLog.flush()
    const observations: Observation[] = []
    const indexes = await indexesOn(observations)
    await warmQuestions({ ...t.app, questionIndexes: indexes })
    const built = observations.flatMap((event) => (event.kind === 'question-index-built' ? [event.projectId] : []))
    expect(built.slice(0, 2)).toEqual(asked.map(({ projectId }) => projectId).toReversed())
    expect(built).not.toContain(unasked.projectId)
    await indexes.close()
  })

  test('a model that is not the one we know is refused, and health says so', async () => {
    const dir = await mkdtemp(join(tmpdir(), 'sluice-model-'))
    await writeFile(join(dir, 'model_quantized.onnx'), 'something else')
    const observations: Observation[] = []
    const indexes = await indexesOn(observations, { modelDir: dir })
    await indexes.warm()
    expect(observations).toMatchObject([
      { kind: 'fault', where: 'question-encoder', error: { message: expect.stringContaining('SHA-256') } },
    ])
    expect(indexes.health().encoder).toBe('failed')
    await indexes.close()
    await rm(dir, { recursive: true })
  })
})
