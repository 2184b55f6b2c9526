import type { AddressInfo } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { expectStatus, openTestApp, operatorToken, type TestApp, type Person } from '../harness/app.ts'
import { enqueue as enqueueJob } from '../harness/jobs.ts'

let t: TestApp
beforeAll(async () => {
  t = await openTestApp({ SLUICE_EVENT_STREAMS: '3' })
})
afterAll(() => t.close())

const enqueue = async (projectId: string, jobType = 'never_run') => (await enqueueJob(t.app, projectId, jobType)).id

/** A job in a final state, without a worker that would bring it there. */
async function finishedJob(projectId: string, status: 'succeeded' | 'failed' | 'cancelled'): Promise<string> {
  const id = await enqueue(projectId)
  await t.app.store.db.updateTable('jobs').set({ status, finishedAt: new Date() }).where('id', '=', id).execute()
  return id
}

describe('GET /v1/jobs/{id}', () => {
  test("200 has the specification's fields and what became of it", async () => {
    const project = await t.project()
    const viewer = await t.member(project, 'viewer')
    const id = await enqueue(project)
    const answer = await viewer.get(`/v1/jobs/${id}`)
    expect(answer).toMatchObject({ status: 200 })
    expect(answer.body).toEqual({
      id: expect.stringMatching(/^job_/),
      job_type: 'never_run',
      status: 'queued',
      project_id: project,
      source: 'datasource',
      source_id: expect.stringMatching(/^ds_/),
      source_event_type: 'http_api',
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      attempt: 1,
      max_attempts: 3,
      progress: 0,
      details: null,
      started_at: null,
      finished_at: null,
      error: null,
      retried_from: null,
    })
  })

  test('404 is the same for a job that does not exist and one of a project the caller is no member of', async () => {
    const outsider = await t.member(await t.project(), 'owner')
    const id = await enqueue(await t.project())
    for (const verb of ['get', 'post'] as const) {
      const path = verb === 'get' ? '' : '/cancel'
      const there = await outsider[verb](`/v1/jobs/${id}${path}`)
      const missing = await outsider[verb](`/v1/jobs/job_0${path}`)
      expect([there.status, missing.status]).toEqual([404, 404])
      expect(there.body.message.replace(id, '')).toBe(missing.body.message.replace('job_0', ''))
    }
  })

  test('401 without a credential', async () => {
    expect((await t.anonymous.get('/v1/jobs/job_0')).status).toBe(401)
  })
})

describe('GET /v1/projects/{id}/jobs', () => {
  test('200 lists newest first, in pages, by status and source', async () => {
    const project = await t.project()
    const ids = [await enqueue(project), await finishedJob(project, 'failed'), await enqueue(project)]
    await enqueue(await t.project())
    const all = await t.operator.get(`/v1/projects/${project}/jobs`)
    expect(all.body.data.map((job: { id: string }) => job.id).toSorted()).toEqual(ids.toSorted())
    const first = await t.operator.get(`/v1/projects/${project}/jobs?limit=2`)
    const second = await t.operator.get(`/v1/projects/${project}/jobs?limit=2&cursor=${first.body.next_cursor}`)
    expect([...first.body.data, ...second.body.data]).toEqual(all.body.data)
    expect(second.body.next_cursor).toBeNull()
    const failed = await t.operator.get(`/v1/projects/${project}/jobs?status=failed`)
    expect(failed.body.data.map((job: { id: string }) => job.id)).toEqual([ids[1]])
    expect((await t.operator.get(`/v1/projects/${project}/jobs?source_id=ds_2`)).body.data).toEqual([])
    const [newest] = all.body.data
    const own = await t.operator.get(`/v1/projects/${project}/jobs?source_id=${newest.source_id}`)
    expect(own.body.data).toEqual([newest])
  })

  test('400 for a status that is none, 404 for a project that is none', async () => {
    const project = await t.project()
    expect(await t.operator.get(`/v1/projects/${project}/jobs?status=done`)).toMatchObject({
      status: 400,
      body: { reason: 'invalid_field' },
    })
    expect((await t.operator.get('/v1/projects/prj_0/jobs')).status).toBe(404)
  })
})

describe('POST /v1/jobs/{id}/cancel', () => {
  test('200 cancels a queued job at once, again without effect, and writes it down', async () => {
    const project = await t.project()
    const editor = await t.member(project, 'editor')
    const id = await enqueue(project)
    const cancelled = await editor.post(`/v1/jobs/${id}/cancel`)
    expect(cancelled).toMatchObject({ status: 200, body: { id, status: 'cancelled' } })
    expect(cancelled.body.finished_at).not.toBeNull()
    expect((await editor.post(`/v1/jobs/${id}/cancel`)).body).toEqual(cancelled.body)
    const { body: audit } = await t.operator.get(`/v1/audit?project_id=${project}`)
    expect(audit.data[0]).toMatchObject({ action: 'job.cancelled', target: id, actor: { id: editor.userId } })
  })

  test('409 for a job that has finished, which stays as it is', async () => {
    const id = await finishedJob(await t.project(), 'succeeded')
    expect(await t.operator.post(`/v1/jobs/${id}/cancel`)).toMatchObject({
      status: 409,
      body: { error: 'conflict', reason: 'job_finished' },
    })
    expect((await t.operator.get(`/v1/jobs/${id}`)).body.status).toBe('succeeded')
  })

  test('403 for a viewer, who cannot retry either', async () => {
    const project = await t.project()
    const viewer = await t.member(project, 'viewer')
    const id = await enqueue(project)
    for (const verb of ['cancel', 'retry']) expect((await viewer.post(`/v1/jobs/${id}/${verb}`)).status).toBe(403)
    expect((await viewer.get(`/v1/jobs/${id}`)).body.status).toBe('queued')
  })
})

describe('POST /v1/jobs/{id}/retry', () => {
  test('201 makes a new job that names the old one, which does not change', async () => {
    const project = await t.project()
    const editor = await t.member(project, 'editor')
    for (const status of ['failed', 'cancelled', 'succeeded'] as const) {
      const id = await finishedJob(project, status)
      const retried = await editor.post(`/v1/jobs/${id}/retry`)
      expect(retried).toMatchObject({ status: 201, body: { status: 'queued', attempt: 1, retried_from: id } })
      expect(retried.body.id).not.toBe(id)
      expect((await editor.get(`/v1/jobs/${id}`)).body.status).toBe(status)
    }
    const { body: audit } = await t.operator.get(`/v1/audit?project_id=${project}`)
    expect(audit.data[0]).toMatchObject({ action: 'job.retried' })
  })

  test('409 for a job that is not finished, and while a retry is not', async () => {
    const project = await t.project()
    const unfinished = { status: 409, body: { reason: 'job_unfinished' } }
    expect(await t.operator.post(`/v1/jobs/${await enqueue(project)}/retry`)).toMatchObject(unfinished)
    const id = await finishedJob(project, 'failed')
    const answers = await Promise.all([1, 2].map(() => t.operator.post(`/v1/jobs/${id}/retry`)))
    expect(answers.map(({ status }) => status).toSorted()).toEqual([201, 409])
  })
})

test('a job runs from queued to succeeded under the eyes of the API, and is counted', async () => {
  const project = await t.project()
  t.app.jobs.register('quick', () => wait(1))
  await t.app.jobs.start()
  const id = await enqueue(project, 'quick')
  const done = await vi.waitFor(async () => {
    const { body } = await t.operator.get(`/v1/jobs/${id}`)
    expect(body.status).toBe('succeeded')
    return body
  }, 60_000)
  expect(done).toMatchObject({ progress: 1, error: null, started_at: expect.any(String) })
  expect((await t.anonymous.get('/metrics')).body).toContain('sluice_jobs_total{job_type="quick",end="succeeded"} 1')
  expect((await t.anonymous.get('/readyz')).body.checks).toMatchObject({ queue: { ok: true } })
})

describe('GET /v1/projects/{id}/jobs/events', () => {
  type Event = { event?: string; data?: { id: string; status: string } }

  /** Reads a stream over a real connection, as a browser does. */
  async function listen(base: string, project: string, headers?: Record<string, string>) {
    const leaving = new AbortController()
    const response = await fetch(`${base}/v1/projects/${project}/jobs/events`, {
      headers: headers ?? { authorization: `Bearer ${operatorToken}`, accept: 'text/event-stream' },
      signal: leaving.signal,
    })
    const events: Event[] = []
    const read = async () => {
      let text = ''
      for await (const chunk of response.body ?? []) {
        text += Buffer.from(chunk).toString()
        const blocks = text.split('\n\n')
        text = blocks.pop() ?? ''
        for (const block of blocks) {
          const data = /^data: (.*)$/m.exec(block)?.[1]
          const event = /^event: (.*)$/m.exec(block)?.[1]
          if (event !== undefined && data !== undefined) events.push({ event, data: JSON.parse(data) })
        }
      }
    }
    const ended = read().catch(() => undefined)
    const leave = (): void => leaving.abort()
    // Also where the test fails before it leaves: the next ones need the place.
    onTestFinished(leave)
    return { response, events, ended, leave }
  }

  const statuses = (events: Event[], id: string) =>
    events.filter(({ data }) => data?.id === id).map(({ data }) => data?.status)

  let base: string
  let served: TestApp
  beforeAll(async () => {
    served = await openTestApp({ SLUICE_EVENT_STREAMS: '3' })
    served.app.jobs.register('quick', () => wait(1))
    await served.http.listen({ port: 0, host: '127.0.0.1' })
    base = `http://127.0.0.1:${(served.http.server.address() as AddressInfo).port}`
  })
  afterAll(() => served.close())

  test('tells of unfinished jobs first, then of every change, and of no other project', async () => {
    const project = await served.project()
    const waiting = await enqueueJob(served.app, project, 'quick')
    const stream = await listen(base, project)
    expect(stream.response.headers.get('content-type')).toContain('text/event-stream')
    await vi.waitUntil(() => stream.events.length > 0, { timeout: 60_000 })
    // Once or twice: that it was queued may be heard of when the stream has already told it.
    expect(new Set(statuses(stream.events, waiting.id))).toEqual(new Set(['queued']))
    const foreign = await enqueueJob(served.app, await served.project(), 'quick')
    await served.app.jobs.start()
    const job = await enqueueJob(served.app, project, 'quick')
    await vi.waitUntil(() => statuses(stream.events, job.id).includes('succeeded'), { timeout: 60_000 })
    expect(statuses(stream.events, job.id)).toEqual(['queued', 'running', 'succeeded'])
    expect(statuses(stream.events, foreign.id)).toEqual([])
    const record = await expectStatus(200, served.operator.get(`/v1/jobs/${job.id}`))
    // The two may end in either order.
    const last = stream.events.findLast(({ data }) => (data as { id?: string }).id === job.id)
    expect(last).toEqual({ event: 'job', data: record.body })
    stream.leave()
  })

  test('503 beyond the limit, and a stream that is left makes room', async () => {
    const project = await served.project()
    // The stream that the test before has left may still hold its place.
    await vi.waitFor(async () => {
      const streams = await Promise.all([1, 2, 3, 4].map(() => listen(base, project)))
      for (const { leave } of streams) leave()
      expect(streams.map(({ response }) => response.status).toSorted()).toEqual([200, 200, 200, 503])
    }, 60_000)
    await vi.waitFor(async () => {
      const again = await listen(base, project)
      again.leave()
      expect(again.response.status).toBe(200)
    }, 60_000)
  })

  test.each([
    [
      'leaves the project',
      (project: string, { userId }: Person) => served.operator.delete(`/v1/projects/${project}/members/${userId}`),
    ],
    [
      'signs out',
      (_project: string, _person: Person, cookie: string) =>
        served.anonymous.delete('/v1/session', undefined, { cookie }),
    ],
  ])('ends for a reader who %s, before anything else is told', async (_name, lose) => {
    const project = await served.project()
    await served.member(project, 'owner')
    const person = await served.member(project, 'viewer')
    const { email, password } = person
    const signedIn = await expectStatus(201, served.anonymous.post('/v1/session', { email, password }))
    const [cookie = ''] = String(signedIn.headers['set-cookie']).split(';')
    const stream = await listen(base, project, { cookie })
    const seen = await enqueueJob(served.app, project, 'quick')
    await vi.waitUntil(() => statuses(stream.events, seen.id).length > 0, { timeout: 60_000 })
    expect((await lose(project, person, cookie)).status).toBe(204)
    served.advance(1_001)
    const hidden = await enqueueJob(served.app, project, 'quick')
    await stream.ended
    expect(statuses(stream.events, hidden.id)).toEqual([])
  })

  test('404 for a project the caller is no member of', async () => {
    const outsider = await served.member(await served.project(), 'owner')
    expect((await outsider.get(`/v1/projects/${await served.project()}/jobs/events`)).status).toBe(404)
  })

  test('ends when the server closes', async () => {
    const stream = await vi.waitFor(async () => {
      const opened = await listen(base, await served.project())
      expect(opened.response.status).toBe(200)
      return opened
    }, 60_000)
    await Promise.all([stream.ended, served.http.close()])
  })
})
