import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { expectStatus, openTestApp, operatorToken, type TestApp } from '../harness/app.ts'
import { openQueryProject, type QueryProject } from '../harness/queries.ts'
import { callBodies, editorBodies, openBodies } from '../neighbours/loads/hostile-bodies.ts'
import { requestsOf, type Load } from '../neighbours/loads/load.ts'

let t: TestApp
let q: QueryProject
let port: number
beforeAll(async () => {
  t = await openTestApp({}, { isShared: true })
  q = await openQueryProject(t)
  await q.deploy({ name: 'echo', sql: 'SELECT $region AS region, $slot_nr AS nr' })
  port = Number(new URL(await t.listen()).port)
})
afterAll(() => t.close())

/** An answer that tells 20 problems of names of 100 characters, twice. */
const maxAnswerChars = 10_000

describe('what is refused is told in short, whatever was sent', () => {
  const sent = async (load: Load): Promise<Array<{ name: string; status: number; chars: number }>> => {
    const as = (secret: string) => ({ authorization: `Bearer ${secret}` })
    const credentials = { nobody: {}, person: {}, key: as(q.secret), operator: as(operatorToken) }
    const ids = { project_id: q.projectId, query_name: 'echo' }
    const found = []
    for (const { method, path, headers, payload } of requestsOf(load, ids, credentials)) {
      const options = { method: method as 'POST', url: path, headers, ...(payload !== undefined && { payload }) }
      const answer = await t.http.inject(options)
      found.push({ name: load.name, status: answer.statusCode, chars: answer.payload.length })
    }
    return found
  }

  test.each([
    ['without a credential', openBodies],
    ['with a key', callBodies],
    ['with a management token', editorBodies],
  ])('%s', async (_, loads) => {
    for (const load of loads) {
      for (const { name, status, chars } of await sent(load)) {
        expect({ name, status }).toEqual({ name, status: load.status })
        expect(chars, name).toBeLessThan(status === 400 ? maxAnswerChars : 500)
      }
    }
  })
})

describe('an error tells 20 problems and counts the rest', () => {
  const names = (length: number) => Object.fromEntries(Array.from({ length }, (_, at) => [`slot_nr_${at}`, 0]))

  test('of fields', async () => {
    const { status, body } = await t.operator.post('/v1/projects', { name: 'x', ...names(480) })
    expect(status).toBe(400)
    expect(body.details).toHaveLength(20)
    expect(body.details[19]).toEqual({ field: 'slot_nr_19', message: 'is not a known field' })
    expect(body.more).toBe(460)
    expect(body.message).toMatch(/slot_nr_9 is not a known field; and 470 more\.$/)
  })

  test('of slots, with the nearest name for the first three', async () => {
    const { status, body } = await q.caller.post('/v1/queries/echo', names(480))
    expect([status, body.reason]).toEqual([400, 'missing_slots'])
    expect(body.details).toHaveLength(20)
    expect(body.more).toBe(462)
    const hints = body.details.filter(({ message }: { message: string }) =>
      message.includes('perhaps you meant slot_nr'),
    )
    expect(hints).toHaveLength(3)
  })

  test('of the parameters of examples and previews', async () => {
    const examples = Array.from({ length: 30 }, () => ({ question: 'which', parameters: names(30) }))
    const written = await t.operator.post(q.path, { name: 'wrong', sql: 'SELECT $slot_nr AS nr', examples })
    expect([written.status, written.body.details.length, written.body.more]).toEqual([400, 20, 880])
    const preview = await t.operator.post(`${q.path}/echo/preview`, { parameters: names(30) })
    expect([preview.status, preview.body.details.length, preview.body.more]).toEqual([400, 20, 12])
  })

  test('of 500 examples with a value that is no choice, three with the nearest one', async () => {
    const region = { type: 'string', enum: Array.from({ length: 1_000 }, (_, at) => `region_${at}`) }
    const slots = { type: 'object', properties: { region }, required: ['region'] }
    const examples = Array.from({ length: 500 }, (_, at) => {
      return { question: `which ${at}`, parameters: { region: `regoin_${at}`, a: 1, b: 2, c: 3 } }
    })
    const written = await t.operator.post(q.path, { name: 'choices', sql: 'SELECT $region AS r', slots, examples })
    expect([written.status, written.body.details.length, written.body.more]).toEqual([400, 20, 1_980])
    const hints = written.body.details.filter(({ message }: { message: string }) =>
      message.includes('perhaps you meant'),
    )
    expect(hints.map(({ field }: { field: string }) => field)).toEqual(['examples.0.parameters.region'])
  })

  test('of fixed parameters', async () => {
    const { status, body } = await q.caller.post('/v1/browser-tokens', { fixed_parameters: names(50) })
    expect([status, body.details.length, body.more]).toEqual([400, 20, 30])
  })

  test('of a definition, item by item', async () => {
    const definition = { definition: 1, queries: Array.from({ length: 1_000 }, (_, at) => ({ name: `q${at}` })) }
    const { status, body } = await t.operator.put(`/v1/projects/${q.projectId}/definition`, definition)
    expect([status, body.details.length]).toEqual([400, 20])
    expect(body.details[0]).toEqual({ field: 'queries.0.sql', message: 'is required' })
  })

  test('fewer than that are told as before, without a count', async () => {
    const { body } = await t.operator.post('/v1/projects', { name: 'x', ...names(20) })
    expect(body.details).toHaveLength(20)
    expect(body).not.toHaveProperty('more')
  })

  test('a name or value is repeated with 100 characters', async () => {
    const { body } = await t.operator.post('/v1/projects', { name: 'x', ['y'.repeat(5_000)]: 1 })
    expect(body.details).toEqual([{ field: `${'y'.repeat(99)}…`, message: 'is not a known field' }])
    const table = await t.operator.post(`${q.path}/inspect`, { sql: `SELECT * FROM ${'z'.repeat(5_000)}` })
    expect(table.status).toBe(400)
    expect(JSON.stringify(table.body)).not.toMatch(/z{101}/)
  })
})

describe('members of a body', () => {
  const names = (length: number) => Object.fromEntries(Array.from({ length }, (_, at) => [`k${at}`, 'v']))

  test('500 in one object are read, one more is refused before anything looks at them', async () => {
    expect((await t.operator.post('/v1/projects', names(500))).body.reason).toBe('invalid_field')
    expect((await t.operator.post('/v1/projects', names(501))).body).toMatchObject({
      reason: 'too_many_members',
      message: 'The body has too many members: more than 500 in one object.',
    })
    expect((await q.caller.post('/v1/queries/echo', names(501))).body).toMatchObject({
      error: 'invalid_query',
      reason: 'too_many_members',
    })
  })

  test('what authors write may have maps of more, and calls lists of more', async () => {
    const slots = { type: 'object', properties: { a: { type: 'string', 'x-synonyms': {} } }, required: ['a'] }
    slots.properties.a['x-synonyms'] = Object.fromEntries(Array.from({ length: 1_000 }, (_, at) => [`v${at}`, ['w']]))
    await expectStatus(201, t.operator.post(q.path, { name: 'synonyms', sql: 'SELECT $a AS a', slots }))
    const lists = ['a', 'b', 'c'].map((name) => [name, Array.from({ length: 10_000 }, (_, at) => at)] as const)
    const item = { type: 'array', items: { type: 'integer' } }
    await q.deploy({
      name: 'lists',
      sql: 'SELECT count(*) AS n FROM orders WHERE list_contains($a, id) AND list_contains($b, id) AND list_contains($c, id)',
      slots: { type: 'object', properties: { a: item, b: item, c: item }, required: ['a', 'b', 'c'] },
    })
    const { body } = await expectStatus(200, q.caller.post('/v1/queries/lists', Object.fromEntries(lists)))
    expect(body.data).toEqual([{ n: 30 }])
  })

  test('a definition of many queries is read, one of a query that holds too much is not', async () => {
    const projectId = await t.project()
    const path = `/v1/projects/${projectId}/definition`
    const example = { question: 'which one', parameters: {} }
    const queries = Array.from({ length: 7 }, (_, at) => {
      const examples = Array.from({ length: 500 }, (_, nr) => ({ ...example, question: `which ${at} ${nr}` }))
      return { name: `q${at}`, sql: 'SELECT 1 AS one', examples }
    })
    await expectStatus(200, t.operator.put(path, { definition: 1, queries }))
    const [first] = queries
    const large = { ...first, examples: Array.from({ length: 7_000 }, () => example) }
    expect((await t.operator.put(path, { definition: 1, queries: [large] })).body.reason).toBe('too_many_members')
  })

  test('a definition is bounded in each of its parts, in the number of them, and in all they hold', async () => {
    const path = `/v1/projects/${q.projectId}/definition`
    const put = async (queries: unknown, more = {}) => {
      const { status, body } = await t.operator.put(path, { definition: 1, queries, ...more })
      return [status, body.reason ?? body.error, body.message]
    }
    const long = 'x'.repeat(2_097_152)
    const tooLong = [413, 'payload_too_large', 'The body has a member or an item of more than 2097152 characters.']
    expect(await put([{ name: 'a', sql: long }])).toEqual(tooLong)
    expect(await put([], { [long]: 1 })).toEqual(tooLong)
    expect((await put([{ name: 'a', sql: long.slice(0, 1_000_000) }])).slice(0, 2)).toEqual([400, 'invalid_field'])
    const tooMany = (what: string) => [400, 'too_many_members', `The body has too many members: more than ${what}.`]
    expect(await put(Array.from({ length: 12_001 }, () => 1))).toEqual(tooMany('12000 in one list or object'))
    const values = Array.from({ length: 100 }, () => Array.from({ length: 10_500 }, () => 1))
    expect(await put(values)).toEqual(tooMany('1000000 in all'))
    expect(await put([Array.from({ length: 12_001 }, () => 1)])).toEqual(tooMany('12000 in one item'))
  })
})

/** What comes back while the body is still under way. */
function answerBeforeEnd(head: string, begun: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => void socket.write(`${head}\r\n\r\n${begun}`))
    socket.once('data', (data) => {
      socket.destroy()
      resolve(String(data))
    })
    socket.once('error', reject)
  })
}

describe('a body without a credential is refused before the rest of it has come', () => {
  const head = (path: string) => `POST ${path} HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\ncontent-type: application/json`
  const paths = ['/v1/session', '/v1/invitations/read', '/v1/shared-references/read', '/oauth/register', '/oauth/token']

  test.each(paths)('%s', async (path) => {
    expect(await answerBeforeEnd(`${head(path)}\r\ncontent-length: 16385`, '{')).toMatch(/^HTTP\/1\.1 413 /)
    const chunk = `4001\r\n${' '.repeat(0x4001)}\r\n`
    expect(await answerBeforeEnd(`${head(path)}\r\ntransfer-encoding: chunked`, chunk)).toMatch(/^HTTP\/1\.1 413 /)
  })

  test('one of 16 kB is read', async () => {
    const payload = JSON.stringify({ token: 'x' }).padEnd(16_384)
    const answer = await t.http.inject({
      method: 'POST',
      url: paths[1] ?? '',
      payload,
      headers: { 'content-type': 'application/json' },
    })
    expect(answer.statusCode).not.toBe(413)
  })

  test('nothing is read of one to nowhere', async () => {
    expect(await answerBeforeEnd(`${head('/v1/nowhere')}\r\ncontent-length: 800000`, '{')).toMatch(/^HTTP\/1\.1 404 /)
  })
})

describe('the diff of two versions', () => {
  const lines = (count: number, from: number) =>
    `SELECT 1 AS c\n${Array.from({ length: count }, (_, at) => `-- ${from + at}`).join('\n')}`
  const diff = async (name: string, before: string, after: string) => {
    await q.deploy({ name, sql: before })
    await q.deploy({ name, sql: after })
    return (await expectStatus(200, t.operator.get(`${q.path}/${name}/diff?from=1&to=2`))).body
  }

  test('beyond 300 lines says that all is replaced, and is still a patch', async () => {
    const body = await diff('replaced', lines(5_500, 100_000), lines(5_500, 200_000))
    expect(body.replaced).toEqual(['sql'])
    const [from, to, place, ...rest] = body.diff.split('\n') as string[]
    expect([from, to, place]).toEqual(['--- sql of version 1', '+++ sql of version 2', '@@ -1,5501 +1,5501 @@'])
    expect(rest.filter((line) => line.startsWith('-'))).toHaveLength(5_501)
    expect(rest.filter((line) => line.startsWith('+'))).toHaveLength(5_501)
  })

  test('up to that compares line by line', async () => {
    const body = await diff('compared', lines(5_000, 100_000), `${lines(4_900, 100_000)}\n-- end`)
    expect(body.replaced).toEqual([])
    expect(body.diff.split('\n').length).toBeLessThan(200)
  })
})
