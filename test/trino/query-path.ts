import { beforeAll, describe, expect, test } from 'vitest'
import { expectStatus } from '../harness/app.ts'
import type { Engine, Stage, StageProject } from './stage.ts'

const visits = Array.from({ length: 300 }, (_, at) => ({
  id: at + 1,
  userName: `user ${at % 7}`,
  price: at / 4,
  share: at === 3 ? 1e-7 : at / 3,
  day: `2026-01-${String((at % 28) + 1).padStart(2, '0')}`,
  seenAt: `2026-02-01T10:00:00.${String(at).padStart(6, '0')}Z`,
  bought: at % 2 === 0,
  big: `${9_007_199_254_740_000n + BigInt(at * 10)}`,
  tags: at % 3 === 0 ? ['a', 'b "quoted"'] : [],
  place: { city: at % 2 === 0 ? 'Berlin' : null, Zip: 10_000 + at },
  note: at === 5 ? 'line\nbreak, "and" quote' : at === 6 ? '' : null,
  mixed: at % 2 === 0 ? { k: at } : [at, 'x'],
}))

/** What every engine does for queries, by the same words on each. */
export function describeQueryPath(stageOf: () => Stage): void {
  describe.each<Engine>(['duckdb', 'trino'])('the query path on %s', (engine) => {
    let stage: Stage
    let project: StageProject
    const call = (name: string, slots: Record<string, unknown> = {}, headers?: Record<string, string>) =>
      project.caller.post(`/v1/queries/${name}`, slots, headers)
    const isTrino = engine === 'trino'

    beforeAll(async () => {
      stage = stageOf()
      await stage.startJobs()
      project = await stage.project(engine, { visits, cities: [{ city: 'Berlin', people: 3_700_000 }] })
    })

    test('says which engine it is on, and writes the dialect on drafts and versions', async () => {
      expect((await stage.t.operator.get(`/v1/projects/${project.id}`)).body.engine).toBe(engine)
      await project.deploy({ name: 'dialect', sql: 'SELECT count(*) AS n FROM visits' })
      expect((await stage.t.operator.get(`${project.path}/dialect`)).body.dialect).toBe(engine)
      expect((await stage.t.operator.get(`${project.path}/dialect/versions/1`)).body.dialect).toBe(engine)
      expect(await call('dialect')).toMatchObject({ status: 200, body: { data: [{ n: 300 }] } })
    })

    test('gives values of every type by the same rules', async () => {
      const sql =
        'SELECT id, userName AS "userName", price, share, day, seenAt AS "seenAt", bought, big, tags, place, note FROM visits WHERE id IN (1, 4, 6, 7) ORDER BY id'
      await project.deploy({ name: 'values', sql })
      const { body } = await expectStatus(200, call('values'))
      expect(body.data).toEqual([
        {
          id: 1,
          userName: 'user 0',
          price: 0,
          share: 0,
          day: '2026-01-01',
          seenAt: '2026-02-01T10:00:00Z',
          bought: true,
          big: '9007199254740000',
          tags: ['a', 'b "quoted"'],
          place: { city: 'Berlin', Zip: 10_000 },
          note: null,
        },
        expect.objectContaining({
          id: 4,
          share: 1e-7,
          seenAt: '2026-02-01T10:00:00.000003Z',
          place: { city: null, Zip: 10_003 },
        }),
        expect.objectContaining({ id: 6, note: 'line\nbreak, "and" quote' }),
        expect.objectContaining({ id: 7, note: '', price: 1.5 }),
      ])
    })

    test('takes a text slot in LIKE letter for letter, unless it is a pattern', async () => {
      const sql = `SELECT DISTINCT city FROM cities WHERE city LIKE $q || '%' OR concat(city, '%') LIKE $q`
      const patterned = { properties: { q: { type: 'string', 'x-pattern': true } }, required: ['q'] }
      await project.deploy({ name: 'literal', sql })
      await project.deploy({ name: 'patterned', sql, slots: patterned })
      for (const [name, q, found] of [
        ['literal', 'Ber', 1],
        ['literal', 'B%', 0],
        ['literal', 'Berlin%', 1],
        ['patterned', 'B%', 1],
        ['patterned', 'B_rlin', 1],
      ] as const) {
        const { body } = await expectStatus(200, call(name, { q }))
        expect(body.data, `${name} ${q}`).toHaveLength(found)
      }
    })

    test('keeps integers and decimals of many digits exact', async () => {
      const sql =
        "SELECT CAST(9007199254740993 AS bigint) AS beyond, CAST(-5 AS bigint) AS small, CAST('12345678901234567890.12' AS decimal(38,2)) AS wide, CAST('1.50' AS decimal(10,2)) AS narrow FROM visits WHERE id = 1"
      await project.deploy({ name: 'digits', sql })
      const { body } = await expectStatus(200, call('digits'))
      expect(body.data).toEqual([
        { beyond: '9007199254740993', small: -5, wide: '12345678901234567890.12', narrow: 1.5 },
      ])
    })

    test('tells the same column types', async () => {
      const sql = 'SELECT id, price, share, day, seenAt, bought, tags, place, count(*) OVER () AS n FROM visits'
      const { body } = await expectStatus(200, stage.t.operator.post(`${project.path}/inspect`, { sql }))
      expect(body.columns.map(({ type }: { type: string }) => type)).toEqual([
        'BIGINT',
        'DECIMAL(18,2)',
        'DOUBLE',
        'DATE',
        'TIMESTAMP',
        'BOOLEAN',
        'VARCHAR[]',
        expect.stringMatching(/^STRUCT\("?city"? VARCHAR, "?Zip"? BIGINT\)$/i),
        'BIGINT',
      ])
      expect(Object.keys(body.tables)).toEqual(['visits'])
    })

    test('binds slots of every type, and takes no value for SQL', async () => {
      const sql =
        'SELECT id FROM visits WHERE id >= $least AND price < $below AND day >= $from_day AND seenAt > $after AND bought = $bought AND userName = $who ORDER BY id LIMIT $most'
      const types = { least: 'integer', below: 'number', bought: 'boolean', who: 'string', most: 'integer' }
      const properties: Record<string, object> = Object.fromEntries(
        Object.entries(types).map(([name, type]) => [name, { type }]),
      )
      properties['from_day'] = { type: 'string', format: 'date' }
      properties['after'] = { type: 'string', format: 'date-time' }
      const slots = { type: 'object', properties, required: Object.keys(properties) }
      await project.deploy({ name: 'bound', sql, slots })
      const given = {
        least: 2,
        below: 50.5,
        from_day: '2026-01-02',
        after: '2026-02-01T09:00:00Z',
        bought: true,
        who: 'user 1',
        most: 3,
      }
      expect((await expectStatus(200, call('bound', given))).body.data).toEqual([{ id: 9 }, { id: 23 }, { id: 37 }])
      for (const who of ["' OR '1' = '1", "'); DROP TABLE visits; --", '$least', '?', 'ü "x" \\']) {
        expect((await expectStatus(200, call('bound', { ...given, who }))).body.data).toEqual([])
      }
      expect(await call('bound', { ...given, least: 'x' })).toMatchObject({
        status: 400,
        body: { error: 'invalid_query', reason: 'invalid_slots' },
      })
    })

    test('finds out what slots are by itself', async () => {
      const sql = 'SELECT id FROM visits WHERE id = $id AND day < $until AND userName = $who'
      const { body } = await expectStatus(200, stage.t.operator.post(`${project.path}/inspect`, { sql }))
      expect(body.slots.properties).toMatchObject({
        id: { type: 'integer' },
        until: { type: 'string', format: 'date' },
        who: { type: 'string' },
      })
    })

    test('a slot that is left out is NULL, and a list is a list', async () => {
      const contains = isTrino ? 'contains($names, userName)' : 'list_contains($names, userName)'
      const slots = {
        type: 'object',
        properties: { names: { type: 'array', items: { type: 'string' } }, day: { type: 'string', format: 'date' } },
        required: ['names'],
      }
      const sql = `SELECT count(*) AS n FROM visits WHERE ${contains} AND ($day IS NULL OR day = $day)`
      await project.deploy({ name: 'listed', sql, slots })
      expect((await expectStatus(200, call('listed', { names: ['user 1', "it's"] }))).body.data).toEqual([{ n: 43 }])
      expect((await expectStatus(200, call('listed', { names: [] }))).body.data).toEqual([{ n: 0 }])
      expect((await expectStatus(200, call('listed', { names: ['user 1'], day: '2026-01-02' }))).body.data).toEqual([
        { n: 11 },
      ])
    })

    test('cuts at the limit of rows and says so; refuses what is larger than the limit of bytes', async () => {
      await project.deploy({ name: 'cut', sql: 'SELECT id FROM visits ORDER BY id', max_rows: 10 })
      const cut = await expectStatus(200, call('cut'))
      expect(cut.body).toMatchObject({ truncated: true, row_count: 10 })
      await project.deploy({ name: 'large', sql: 'SELECT * FROM visits', max_bytes: 1_000 })
      expect(await call('large')).toMatchObject({ status: 413, body: { error: 'result_too_large' } })
    })

    test.each(['text/csv', 'application/x-ndjson'])('streams rows as %s', async (accept) => {
      const sql = 'SELECT id, note, price, tags, bought, day FROM visits WHERE id BETWEEN 5 AND 8 ORDER BY id'
      await project.deploy({ name: 'streamed', sql })
      const { body } = await expectStatus(200, call('streamed', {}, { accept }))
      const lines = accept === 'text/csv' ? csv : ndjson
      expect(
        String(body)
          .trimEnd()
          .split(/\r?\n(?=\{|\d|id)/),
      ).toEqual(lines)
    })

    test.each([
      ['parquet', 'application/vnd.apache.parquet'],
      ['arrow', 'application/vnd.apache.arrow.stream'],
    ])('gives a file of %s', async (_format, accept) => {
      await project.deploy({ name: 'as_file', sql: 'SELECT id, userName, price, day, tags FROM visits ORDER BY id' })
      const answer = await stage.t.http.inject({
        method: 'POST',
        url: '/v1/queries/as_file',
        headers: { authorization: `Bearer ${project.secret}`, accept },
        payload: {},
      })
      expect(answer.statusCode).toBe(200)
      if (accept.includes('parquet')) expect(answer.rawPayload.subarray(0, 4).toString()).toBe('PAR1')
      else {
        const { tableFromIPC } = await import('apache-arrow')
        const table = tableFromIPC(answer.rawPayload)
        expect(table.numRows).toBe(300)
        expect(table.getChild('id')?.get(299)).toBe(300n)
        expect(table.getChild('userName')?.get(1)).toBe('user 1')
      }
    })

    test('refuses what is no SELECT over its tables, in words with a place', async () => {
      const refused = async (sql: string) => stage.t.operator.post(`${project.path}/inspect`, { sql })
      for (const sql of [
        'DROP TABLE visits',
        'INSERT INTO visits (id) VALUES (1)',
        'SELECT 1; SELECT 2',
        'CREATE TABLE x AS SELECT 1 AS a',
        'SELECT * FROM information_schema.tables',
        'SELECT nothing FROM visits',
      ]) {
        expect(await refused(sql), sql).toMatchObject({ status: 400, body: { reason: 'invalid_sql' } })
      }
      const misspelled = await refused('SELECT id\nFROM vists WHERE id = $id')
      expect(misspelled.body.message).toContain('perhaps you meant visits')
      if (isTrino) expect(misspelled.body).toMatchObject({ line: 2, column: 6, word: 'vists' })
      const late = await refused('SELECT id FROM visits WHERE id = $id AND $other = nothing')
      if (isTrino) expect(late.body).toMatchObject({ word: 'nothing', line: 1 })
    })

    test('previews a draft, runs SQL that nobody saved, and explains', async () => {
      const sql = 'SELECT count(*) AS n FROM visits WHERE id > $least'
      await project.deploy({ name: 'explained', sql })
      const parameters = { least: 100 }
      const preview = await expectStatus(
        200,
        stage.t.operator.post(`${project.path}/explained/preview`, { parameters }),
      )
      expect(preview.body.data).toEqual([{ n: 200 }])
      const explained = await expectStatus(
        200,
        stage.t.operator.post(`${project.path}/explained/explain`, { parameters }),
      )
      const tables = explained.body.steps.map(({ table }: { table: string | null }) => table)
      if (isTrino) expect(tables).toContain('visits')
      expect(JSON.stringify(explained.body)).not.toContain(project.id.toLowerCase())
      const scratch = await expectStatus(
        200,
        stage.t.operator.post(`/v1/projects/${project.id}/queries/run`, { sql, parameters }),
      )
      expect(scratch.body.data).toEqual([{ n: 200 }])
    })

    test('ends a query at its deadline', async () => {
      const many = isTrino
        ? 'SELECT count(*) AS n FROM visits a CROSS JOIN visits b CROSS JOIN visits c CROSS JOIN visits d WHERE a.price + b.price + c.price + d.price = 0.3'
        : 'SELECT count(*) AS n FROM visits a CROSS JOIN visits b CROSS JOIN visits c CROSS JOIN visits d WHERE sqrt(a.price + b.price + c.price + d.price) = 0.3'
      await project.deploy({ name: 'endless', sql: many, timeout_ms: 3_000 })
      const began = Date.now()
      expect(await call('endless')).toMatchObject({ status: 504, body: { error: 'query_timeout' } })
      expect(Date.now() - began).toBeLessThan(15_000)
    })

    test('new data is seen at once, and an answer that was kept is not given for it', async () => {
      await project.put('cities', [{ city: 'Berlin', people: 1 }])
      await project.deploy({ name: 'people', sql: 'SELECT sum(people) AS n FROM cities', cache_seconds: 600 })
      expect((await expectStatus(200, call('people'))).body.data).toEqual([{ n: 1 }])
      await project.put('cities', [
        { city: 'Berlin', people: 1 },
        { city: 'Bonn', people: 41 },
      ])
      expect((await expectStatus(200, call('people'))).body.data).toEqual([{ n: 42 }])
    })

    test('reads columns of mixed values, which Iceberg has no type for', async () => {
      const text = isTrino ? 'mixed' : 'CAST(mixed AS VARCHAR)'
      await project.deploy({ name: 'mixed', sql: `SELECT ${text} AS m FROM visits WHERE id <= 2 ORDER BY id` })
      const { body } = await expectStatus(200, call('mixed'))
      expect(body.data.map(({ m }: { m: string }) => JSON.parse(m) as unknown)).toEqual([{ k: 0 }, [1, 'x']])
    })
  })
}

const csv = [
  'id,note,price,tags,bought,day',
  '5,,1.00,[],true,2026-01-05',
  '6,"line\nbreak, ""and"" quote",1.25,[],false,2026-01-06',
  '7,"",1.50,"[""a"",""b \\""quoted\\""""]",true,2026-01-07',
  '8,,1.75,[],false,2026-01-08',
]
const ndjson = [
  '{"id":5,"note":null,"price":1.00,"tags":[],"bought":true,"day":"2026-01-05"}',
  '{"id":6,"note":"line\\nbreak, \\"and\\" quote","price":1.25,"tags":[],"bought":false,"day":"2026-01-06"}',
  '{"id":7,"note":"","price":1.50,"tags":["a","b \\"quoted\\""],"bought":true,"day":"2026-01-07"}',
  '{"id":8,"note":null,"price":1.75,"tags":[],"bought":false,"day":"2026-01-08"}',
]
