import { expect, onTestFinished, test, vi } from 'vitest'
import { openTestApp, operatorToken } from '../harness/app.ts'
import { enqueue, jobWhen, openJobsDatabase } from '../harness/jobs.ts'
import { openQueryProject } from '../harness/queries.ts'
import { openSource } from '../harness/source.ts'

test('a job starts within a second after its transaction commits', async () => {
  const d = await openJobsDatabase()
  onTestFinished(() => d.close())
  const replica = await d.replica()
  let startedAtMs = 0
  replica.jobs.register('test', async () => void (startedAtMs = performance.now()))
  await replica.jobs.start()
  // The first one warms the queue.
  const first = await enqueue(replica, d.projectId)
  await jobWhen(replica, first.id, ({ status }) => status === 'succeeded')
  startedAtMs = 0
  await enqueue(replica, d.projectId)
  const committedAtMs = performance.now()
  await vi.waitUntil(() => startedAtMs > 0, { timeout: 10_000, interval: 5 })
  expect(startedAtMs - committedAtMs).toBeLessThan(1_000)
})

test('a stream of events ends within a second after the server begins to close', async () => {
  const t = await openTestApp()
  onTestFinished(() => t.close())
  const project = await t.project()
  const base = await t.listen()
  const stream = await fetch(`${base}/v1/projects/${project}/jobs/events`, {
    headers: { authorization: `Bearer ${operatorToken}`, accept: 'text/event-stream' },
  })
  expect(stream.status).toBe(200)
  const closingAtMs = performance.now()
  const closed = t.http.close()
  await stream.text()
  expect(performance.now() - closingAtMs).toBeLessThan(1_000)
  await closed
})

test('a language model that drips without end costs a question no more than its limit', async () => {
  const model = await openSource()
  onTestFinished(() => model.close())
  const t = await openTestApp({
    SLUICE_OUTBOUND_ALLOW: model.host,
    SLUICE_LLM_BASE_URL: `http://${model.host}/v1`,
    SLUICE_LLM_MODEL: 'tiny',
    SLUICE_LANGUAGE_MODEL_TIMEOUT_MS: '1000',
  })
  onTestFinished(() => t.close())
  const q = await openQueryProject(t)
  const examples = ['list the customers by name', 'which customers are there?', 'all our customers, please']
  const twin = { description: 'Customers by name', examples: examples.map((question) => ({ question })) }
  await q.deploy({ name: 'customers_a', sql: "SELECT 'a' AS x", ...twin })
  await q.deploy({ name: 'customers_b', sql: "SELECT 'b' AS x", ...twin })
  let asked = 0
  model.handle((_request, response) => {
    asked += 1
    // A byte now and then: no single wait is long.
    const timer = setInterval(() => response.write(' '), 50)
    response.on('close', () => clearInterval(timer))
  })
  const ask = () => q.caller.post('/v1/query', { query: 'list the customers by name', project_id: q.projectId })
  await ask()
  const startedMs = performance.now()
  expect((await ask()).body).toMatchObject({ reason: 'ambiguous' })
  const elapsedMs = performance.now() - startedMs
  expect(asked).toBe(2)
  expect(elapsedMs).toBeGreaterThan(900)
  expect(elapsedMs).toBeLessThan(2_500)
})
