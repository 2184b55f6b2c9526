import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { expectStatus } from '../harness/app.ts'
import { hostileQuestions, unanswerable } from '../harness/hostile-questions.ts'
import { openQueryProject } from '../harness/queries.ts'
import { inRegion, openQuestions } from '../harness/questions.ts'

let { t, q, ask } = {} as Awaited<ReturnType<typeof openQuestions>>
beforeAll(async () => {
  ;({ t, q, ask } = await openQuestions())
}, 90_000)
afterAll(() => t.close())

describe('bad input', () => {
  test('numbers keep every digit, or are asked back: none becomes another one or a failure of ours', async () => {
    await expectStatus(201, t.operator.post(`/v1/projects/${q.projectId}/environments`, { name: 'huge' }))
    const numbered = {
      name: 'order_numbered',
      description: 'One order by its number',
      sql: 'SELECT $number::BIGINT AS number',
      slots: { type: 'object', properties: { number: { type: 'integer' } }, required: ['number'] },
      examples: [
        { question: 'show order 1234', parameters: { number: 1234 } },
        { question: 'what is in order number 77', parameters: { number: 77 } },
      ],
    }
    await q.deploy(numbered, 'huge')
    const there = { 'x-sluice-environment': 'huge' }
    const exact = await ask('show order 9007199254740993', {}, there)
    expect(exact.body).toMatchObject({
      parameters: { number: '9007199254740993' },
      data: [{ number: '9007199254740993' }],
    })
    for (const number of ['99999999999999999999999', '1e400', '-9999999999999999999', '3.5', '0x10', '٣']) {
      const { status, body } = await ask(`show order ${number}`, {}, there)
      expect([400, 422], `${number}: ${JSON.stringify(body)}`).toContain(status)
      expect(body.error).toBe('invalid_query')
    }
  })

  // What bounds their time are the words and spans that are read of them, in test/unit/router/link.test.ts; how long
  // they take is measured by bench/routing. Here the test's own limit ends what hangs.
  test.each(hostileQuestions)('%j is answered or refused, with no failure of ours', async (question) => {
    const { status, body } = await ask(question, { explain: true, time_zone: 'Pacific/Apia' })
    expect([200, 422], JSON.stringify(body)).toContain(status)
    if (status === 422) expect(body.message.length).toBeGreaterThan(20)
  })

  test.each(unanswerable)('%s is refused', async (_, question) => {
    const { status, body } = await ask(question)
    expect({ status, error: body.error }).toEqual({ status: 422, error: 'invalid_query' })
  })

  test('a question that names a query of another project or environment finds nothing of it', async () => {
    const other = await openQueryProject(t)
    await other.deploy({ ...inRegion, name: 'secret_orders', description: 'Secret orders of a region' })
    await q.deploy({ ...inRegion, name: 'staged_orders', description: 'Staged orders' }, 'staging')
    for (const name of ['secret_orders', 'staged_orders']) {
      const { body } = await ask(`run ${name} for the north`, { explain: true })
      expect(JSON.stringify(body)).not.toContain(`"${name}"`)
      expect((await ask('x', { query_name: name })).body.error).toBe('query_not_found')
    }
  })

  test('five hundred at once are each answered or refused', async () => {
    const answers = await Promise.all(
      Array.from({ length: 500 }, (_, at) =>
        ask(at % 2 === 0 ? 'Which orders came from the north?' : `what is ${at}?`),
      ),
    )
    const statuses = new Set(answers.map(({ status }) => status))
    expect([...statuses].every((status) => [200, 422, 503].includes(status))).toBe(true)
    expect(statuses).toContain(200)
  })
})
