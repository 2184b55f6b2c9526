import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { expectStatus, openTestApp, type TestApp } from '../harness/app.ts'
import { openQueryProject, type QueryProject } from '../harness/queries.ts'
import { putTable } from '../harness/tables.ts'

const dayMs = 86_400_000
const iso = (ms: number): string => new Date(ms).toISOString().slice(0, 10)
const dayAt = (date: string, by = 0): string => iso(Date.parse(date) + by * dayMs)

type Ride = { id: number; day: string; ts: string }

/** From June 2024 to today, with the first and the last moment of each third day, and others in between. */
function rides(): Ride[] {
  const found: Ride[] = []
  for (let at = Date.parse('2024-06-01'), id = 0; at < Date.now(); at += dayMs) {
    const times = ['08:15:30', '17:40:00', ...(found.length % 3 === 0 ? ['00:00:00', '23:59:59.500'] : [])]
    for (const time of times) found.push({ id: (id += 1), day: iso(at), ts: `${iso(at)}T${time}Z` })
  }
  return found
}

const all = rides()
let t: TestApp
let q: QueryProject

type Format = 'date' | 'date-time'
const slotsOf = (names: string[], format: Format, more = {}, required = names) => ({
  properties: Object.fromEntries(names.map((name) => [name, { type: 'string', format, ...more }])),
  required,
})

/** Ranges as people write them, each with the names of its slots. */
const forms: Array<{ of: string; formats: Format[]; sql: string }> = [
  ['day >= $since AND day < $until', 'date date-time'],
  ['day >= $since AND day <= $until', 'date date-time'],
  ['day > $since AND day <= $until', 'date date-time'],
  ['day BETWEEN $since AND $until', 'date date-time'],
  ['$since <= day AND $until > day', 'date date-time'],
  ['ts >= $since AND ts < $until', 'date date-time'],
  ['ts >= $since AND ts <= $until', 'date-time'],
  ['ts > $since AND ts < $until', 'date-time'],
  ['ts BETWEEN $since AND $until', 'date-time'],
  ['ts >= $since AND ts < $until + interval 1 day', 'date date-time'],
  ["ts >= $since AND ts < $until + interval '1' day", 'date'],
  ['ts >= $since AND ts < $until::date + 1', 'date date-time'],
  ['ts::date >= $since AND ts::date <= $until', 'date date-time'],
  ['CAST(ts AS DATE) BETWEEN $since::date AND $until::date', 'date date-time'],
  ["date_trunc('day', ts) >= $since AND date_trunc('day', ts) < $until", 'date'],
  ["strftime(ts, '%Y-%m-%d') >= $since::VARCHAR AND strftime(ts, '%Y-%m-%d') <= $until::VARCHAR", 'date'],
  ['($since IS NULL OR ts >= $since) AND ($until IS NULL OR ts < $until)', 'date date-time'],
  ["ts >= coalesce($since, DATE '1900-01-01') AND ts < coalesce($until, DATE '2999-01-01')", 'date'],
  ['NOT (day < $since) AND NOT (day > $until)', 'date'],
  ['NOT (day < $since OR day >= $until)', 'date'],
  ['day > $since - 1 AND day < $until + 1', 'date'],
  ['ts - interval 1 day < $until AND ts >= $since', 'date'],
].map(([of = '', formats = '']) => ({
  of,
  formats: formats.split(' ') as Format[],
  sql: `SELECT id FROM rides WHERE ${of}`,
}))
forms.push(
  {
    of: 'a CTE of bounds',
    formats: ['date'],
    sql: 'WITH p AS (SELECT $since::date AS s, $until::date + 1 AS u) SELECT id FROM rides, p WHERE ts >= p.s AND ts < p.u',
  },
  {
    of: 'a subquery of days',
    formats: ['date', 'date-time'],
    sql: 'SELECT id FROM (SELECT id, ts::date AS d FROM rides) x WHERE d >= $since AND d <= $until',
  },
)

/** Whether a slot may be left out: its SQL then says what NULL means. */
const isOpen = (sql: string): boolean => /IS NULL|coalesce/.test(sql)

const nameOf = (form: number, format: Format): string => `form_${form}_${format === 'date' ? 'days' : 'moments'}`

const savedBounds = new Map<string, Record<string, { from: string; problem: unknown }>>()

beforeAll(async () => {
  t = await openTestApp()
  await t.app.jobs.start()
  q = await openQueryProject(t)
  await putTable(t.app, q.projectId, { name: 'rides', rows: all })
  for (const [at, { sql, formats }] of forms.entries()) {
    for (const format of formats) {
      const made = {
        name: nameOf(at, format),
        description: 'Rides of a period',
        sql,
        slots: slotsOf(['since', 'until'], format, {}, isOpen(sql) ? [] : undefined),
      }
      const saved = await expectStatus(201, t.operator.post(q.path, made))
      savedBounds.set(sql, saved.body.bounds)
    }
  }
  const queries = forms.flatMap(({ formats }, at) => formats.map((format) => ({ name: nameOf(at, format) })))
  const body = { environment: 'production', queries, force: true }
  await expectStatus(200, t.operator.post(`/v1/projects/${q.projectId}/releases`, body))
}, 240_000)
afterAll(() => t.close())

const ask = (query: string, name: string, more = {}) =>
  q.caller.post('/v1/query', { query, project_id: q.projectId, query_name: name, ...more })

const idsBetween = (first: string | null, last: string | null): number[] =>
  all.filter(({ day }) => (first === null || day >= first) && (last === null || day <= last)).map(({ id }) => id)

const idsIn = (rows: Array<{ id: number }>): number[] => rows.map(({ id }) => id).sort((a, b) => a - b)

const seed = Number(process.env['TEST_SEED'])

/** A generator of numbers that are the same in every run of a commit. */
function dice(from: number): (below: number) => number {
  let state = from
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

const months = 'January February March April May June July August September October November December'.split(' ')
const written = (date: string): string =>
  `${Number(date.slice(8))} ${months[Number(date.slice(5, 7)) - 1]} ${date.slice(0, 4)}`

type Period = { words: string; first: string | null; last: string | null }

/** A period in the words of people, with its first and its last day. */
function randomPeriod(roll: (below: number) => number, isOpen: boolean): Period {
  const first = dayAt('2024-08-01', roll(500))
  const last = dayAt(first, 1 + roll(60))
  const [year, month] = [Number(first.slice(0, 4)), Number(first.slice(5, 7))]
  const quarter = Math.ceil(month / 3)
  const lastOf = (ofYear: number, ofMonth: number): string => iso(Date.UTC(ofYear, ofMonth, 0))
  const today = iso(Date.now())
  const count = 2 + roll(40)
  const [thisYear, thisMonth] = [Number(today.slice(0, 4)), Number(today.slice(5, 7))]
  const other = `${first.slice(0, 8)}${String(Math.min(28, Number(first.slice(8)) + 3)).padStart(2, '0')}`
  const kinds: Period[] = [
    { words: 'rides yesterday', first: dayAt(today, -1), last: dayAt(today, -1) },
    { words: `rides in the last ${count} days`, first: dayAt(today, 1 - count), last: today },
    { words: `rides last ${count}d`, first: dayAt(today, 1 - count), last: today },
    {
      words: 'rides last month',
      first: iso(Date.UTC(thisYear, thisMonth - 2, 1)),
      last: lastOf(thisYear, thisMonth - 1),
    },
    {
      words: `rides ${months[0]?.slice(0, 3)}-${months[month - 1]?.slice(0, 3)} ${year}`,
      first: `${year}-01-01`,
      last: lastOf(year, month),
    },
    ...(first < other
      ? [{ words: `rides on ${Number(first.slice(8))} and ${written(other)}`, first, last: other }]
      : []),
    { words: `rides on ${written(first)}`, first, last: first },
    { words: `rides from ${written(first)} to ${written(last)}`, first, last },
    { words: `rides between ${written(first)} and ${written(last)}`, first, last },
    {
      words: `rides in ${months[month - 1]} ${year}`,
      first: `${first.slice(0, 7)}-01`,
      last: lastOf(year, month),
    },
    {
      words: `rides in Q${quarter} ${year}`,
      first: iso(Date.UTC(year, quarter * 3 - 3, 1)),
      last: lastOf(year, quarter * 3),
    },
    { words: `rides since ${written(first)}`, first, last: null },
    { words: `rides after ${written(first)}`, first: dayAt(first, 1), last: null },
    ...(isOpen
      ? [
          { words: `rides before ${written(last)}`, first: null, last: dayAt(last, -1) },
          { words: `rides until ${written(last)}`, first: null, last },
        ]
      : []),
  ]
  return kinds[roll(kinds.length)] as Period
}

/** The index of what was deployed last is there. */
async function untilRead(): Promise<void> {
  const isRead = async () => (await ask('rides in October 2025', nameOf(0, 'date'))).status
  await expect.poll(isRead, { timeout: 120_000, interval: 1_000 }).toBe(200)
}

describe('a question about a period', () => {
  test('finds the bounds of every form read', async () => {
    await untilRead()
    expect(savedBounds.size).toBe(forms.length)
    for (const [sql, bounds] of savedBounds) {
      const read = Object.values(bounds).map(({ from, problem }) => ({ from, problem }))
      const known = { from: 'sql', problem: null }
      expect({ sql, read }).toEqual({ sql, read: [known, known] })
    }
  }, 150_000)

  test.each(forms.flatMap(({ of, sql, formats }, at) => formats.map((format) => ({ of, sql, format, at }))))(
    'gets the rows of that period: $of of $format',
    async ({ at, sql, format }) => {
      const roll = dice(seed + at)
      for (let turn = 0; turn < 12; turn += 1) {
        const { words, first, last } = randomPeriod(roll, isOpen(sql))
        const { status, body } = await ask(words, nameOf(at, format), { explain: true })
        const told = { words, status, parameters: body.parameters }
        expect({ ...told, ids: idsIn(body.data ?? []) }).toEqual({ ...told, status: 200, ids: idsBetween(first, last) })
        expect({ words, period: body.routing.period }).toMatchObject({ words, period: { first, last } })
      }
    },
    60_000,
  )

  test('is counted by the clocks of who asks', async () => {
    const name = nameOf(
      forms.findIndex(({ of }) => of === 'ts > $since AND ts < $until'),
      'date-time',
    )
    const { body } = await ask('rides on 5 May 2025', name, { time_zone: 'America/New_York' })
    expect(body.parameters).toEqual({ since: '2025-05-05T03:59:59.999999Z', until: '2025-05-06T04:00:00Z' })
    const ofDays = nameOf(
      forms.findIndex(({ of }) => of === 'day >= $since AND day < $until'),
      'date-time',
    )
    const days = await ask('rides on 5 May 2025', ofDays, { time_zone: 'America/New_York' })
    expect(idsIn(days.body.data)).toEqual(idsBetween('2025-05-05', '2025-05-05'))
  })

  test('counts back from today', async () => {
    const name = nameOf(5, 'date')
    const now = Date.now()
    const stretch = async (words: string) => (await ask(words, name)).body.parameters
    expect(await stretch('rides yesterday')).toEqual({ since: iso(now - dayMs), until: iso(now) })
    expect(await stretch('rides in the last 7 days')).toEqual({ since: iso(now - 6 * dayMs), until: iso(now + dayMs) })
  })

  test('gets no rows of another period where no query is named, either', async () => {
    const alone = await openQueryProject(t)
    await putTable(t.app, alone.projectId, { name: 'rides', rows: all })
    const days = forms.filter(({ formats }) => formats.includes('date'))
    const { sql = '' } = days[seed % days.length] ?? {}
    const examples = [
      { question: 'rides in May 2025', parameters: {} },
      { question: 'rides on 3 March 2025', parameters: {} },
      { question: 'rides from 3 March 2025 to 9 March 2025', parameters: {} },
    ]
    const slots = slotsOf(['since', 'until'], 'date', {}, [])
    await alone.deploy({ name: 'rides_of', description: 'Rides of a period', sql, slots, examples })
    const put = (question: string) => alone.caller.post('/v1/query', { query: question, project_id: alone.projectId })
    await expect.poll(async () => (await put('rides in May 2025')).status, { timeout: 60_000 }).toBe(200)
    const roll = dice(seed)
    let answered = 0
    for (let turn = 0; turn < 24; turn += 1) {
      const { words, first, last } = randomPeriod(roll, false)
      const { status, body } = await put(words)
      if (status !== 200) continue
      answered += 1
      const ids = idsBetween(first, last)
      expect({ words, parameters: body.parameters, ids: idsIn(body.data) }).toEqual({
        words,
        parameters: body.parameters,
        ids,
      })
    }
    expect(answered).toBeGreaterThan(12)
  }, 120_000)

  test('asks back for an end without which the SQL finds nothing, though its schema lets it be left out', async () => {
    const alone = await openQueryProject(t)
    await putTable(t.app, alone.projectId, { name: 'rides', rows: all })
    const sql = 'SELECT id FROM rides WHERE day >= $since AND day < $until'
    const slots = slotsOf(['since', 'until'], 'date', {}, [])
    await alone.deploy({ name: 'rides_of', description: 'Rides of a period', sql, slots })
    const put = (query: string) => {
      return alone.caller.post('/v1/query', { query, project_id: alone.projectId, query_name: 'rides_of' })
    }
    await expect.poll(async () => (await put('rides in May 2025')).status, { timeout: 60_000 }).toBe(200)
    const since = dayAt(iso(Date.now()), -3)
    const answered = await put(`rides since ${written(since)}`)
    expect({ status: answered.status, ids: idsIn(answered.body.data) }).toEqual({
      status: 200,
      ids: idsBetween(since, null),
    })
    const refused = await put(`rides before ${written(since)}`)
    expect(refused).toMatchObject({ status: 422, body: { reason: 'missing_slots' } })
    expect(refused.body.schema.required).toEqual(['since'])
  }, 120_000)

  test('explains the period in words, with the bound that leaves its day out', async () => {
    const { body } = await ask('rides in October 2025', nameOf(5, 'date'), { explain: true })
    expect(body.parameters).toEqual({ since: '2025-10-01', until: '2025-11-01' })
    expect(body.routing.period).toEqual({
      first: '2025-10-01',
      last: '2025-10-31',
      text: '1–31 October 2025 (until exclusive)',
    })
  })
})

describe('SQL that loses a part of the last day', () => {
  const lossy = {
    name: 'lossy',
    description: 'Rides of a period',
    sql: 'SELECT id FROM rides WHERE ts BETWEEN $since AND $until',
    slots: slotsOf(['since', 'until'], 'date'),
  }
  const mended = "SELECT id FROM rides WHERE (ts >= $since AND ts < $until + interval '1' day)"

  test('is told when it is saved, with the SQL that does not, and by advice', async () => {
    const { body } = await expectStatus(201, t.operator.post(q.path, lossy))
    expect(body.bounds).toMatchObject({
      since: { side: 'start', bound: 'inclusive', problem: null },
      until: { side: 'end', problem: { reason: 'period_end' } },
    })
    expect(body.mended_sql).toBe(mended)
    const advice = await expectStatus(200, t.operator.get(`${q.path}/lossy/advice`))
    expect(advice.body.data).toContainEqual(
      expect.objectContaining({ kind: 'period_end', about: 'until', change: { sql: mended } }),
    )
  })

  test('refuses questions about a period until it is mended or the slot says its bound', async () => {
    await q.deploy(lossy)
    const question = 'rides in October 2025'
    const asked = async () => ask(question, 'lossy')
    await expect.poll(async () => (await asked()).body.reason, { timeout: 60_000 }).toBe('period_end')
    expect(await asked()).toMatchObject({
      status: 422,
      body: { error: 'invalid_query', query_used: 'lossy', details: [{ field: 'until' }] },
    })
    expect(JSON.stringify((await asked()).body)).not.toContain('SELECT')
    const given = await ask(question, 'lossy', { parameters: { until: '2025-11-01' } })
    expect(given).toMatchObject({ status: 200, body: { parameters: { since: '2025-10-01', until: '2025-11-01' } } })
    const direct = { since: '2025-10-01', until: '2025-10-31' }
    expect((await q.caller.post('/v1/queries/lossy', direct)).status).toBe(200)

    await q.deploy({ ...lossy, slots: slotsOf(['since', 'until'], 'date', { 'x-bound': 'inclusive' }) })
    await expect.poll(async () => (await asked()).status, { timeout: 60_000 }).toBe(200)
    expect((await asked()).body.parameters).toEqual(direct)

    await q.deploy({ ...lossy, sql: mended })
    const rows = async () => idsIn((await asked()).body.data ?? [])
    await expect.poll(rows, { timeout: 60_000 }).toEqual(idsBetween('2025-10-01', '2025-10-31'))
  })

  test('is read again when the data of a table changes its type', async () => {
    await putTable(t.app, q.projectId, { name: 'visits', rows: [{ seen: '2025-10-01' }] })
    await q.deploy({
      name: 'visits_until',
      description: 'Visits until a day',
      sql: 'SELECT count(*) AS visits FROM visits WHERE seen <= $until',
      slots: slotsOf(['until'], 'date'),
    })
    const bounds = async () => (await t.operator.get(`${q.path}/visits_until`)).body.bounds.until
    expect(await bounds()).toMatchObject({ bound: 'inclusive', problem: null })
    await putTable(t.app, q.projectId, { name: 'visits', rows: [{ seen: '2025-10-01T08:00:00Z' }] })
    await expect.poll(bounds, { timeout: 30_000 }).toMatchObject({ problem: { reason: 'period_end' } })
  })
})

describe('bounds', () => {
  test('stand in the OpenAPI document of the project, and in its tools', async () => {
    const { body } = await t.operator.get(`/v1/projects/${q.projectId}/openapi.json`)
    const { since, until } = body.components.schemas.form_0_days_slots.properties
    expect(since.description).toBe('Start of a range, inclusive: its first day.')
    expect(until.description).toBe('End of a range, exclusive: the day after its last.')
  })

  test('a slot says them only of days and moments', async () => {
    const slots = { properties: { id: { type: 'string', 'x-bound': 'inclusive' } } }
    const refused = await t.operator.post(q.path, {
      name: 'odd',
      sql: 'SELECT id FROM rides WHERE id::text = $id',
      slots,
    })
    expect(refused).toMatchObject({ status: 400, body: { details: [{ field: 'slots.properties.id.x-bound' }] } })
  })

  test('that cannot be read are inclusive, and advice says so', async () => {
    const sql = 'SELECT id FROM rides WHERE epoch(ts) < epoch($until::timestamp)'
    const made = { name: 'unread', description: 'Rides until a day', sql, slots: slotsOf(['until'], 'date') }
    const { body } = await expectStatus(201, t.operator.post(q.path, made))
    expect(body.bounds.until).toMatchObject({ bound: 'inclusive', from: 'assumed', problem: { reason: 'unread' } })
    const advice = await t.operator.get(`${q.path}/unread/advice`)
    expect(advice.body.data).toContainEqual(
      expect.objectContaining({ kind: 'unread_bound', about: 'until', change: null }),
    )
  })

  test('x-bound goes through a definition and back', async () => {
    const path = `/v1/projects/${q.projectId}/definition`
    const sql = 'SELECT id FROM rides WHERE day <= $until'
    const slots = slotsOf(['until'], 'date', { 'x-bound': 'exclusive' })
    const made = await expectStatus(201, t.operator.post(q.path, { name: 'said', description: 'Rides', sql, slots }))
    expect(made.body.bounds.until).toMatchObject({ bound: 'exclusive', from: 'slot', problem: null })
    const { body } = await expectStatus(200, t.operator.get(path))
    expect(JSON.stringify(body)).toContain('"x-bound":"exclusive"')
    const put = await expectStatus(200, t.operator.put(`${path}?check=true`, body))
    expect(put.body.plan.filter(({ action }: { action: string }) => action !== 'unchanged')).toEqual([])
  })
})
