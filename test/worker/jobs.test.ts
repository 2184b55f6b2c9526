import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { sql } from 'kysely'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { Failure } from '../../server/failure.ts'
import type { JobContext } from '../../server/jobs/index.ts'
import { startRunner } from '../harness/job-runner.ts'
import { enqueue, jobWhen, openJobsDatabase, type JobsDatabase, type Replica } from '../harness/jobs.ts'

let d: JobsDatabase
beforeAll(async () => {
  d = await openJobsDatabase()
})
afterAll(() => d.close())
afterEach(() => d.closeReplicas())

async function startReplica(
  handler: (context: JobContext) => Promise<void>,
  options: Parameters<JobsDatabase['replica']>[0] = {},
): Promise<Replica> {
  const replica = await d.replica(options)
  replica.jobs.register('test', handler)
  await replica.jobs.start()
  return replica
}

/** Ends when the signal says so, as a handler should. */
async function untilStopped({ signal }: JobContext): Promise<void> {
  await wait(60_000, undefined, { signal })
}

/** Ends every connection to the database but the one that says so. */
async function cutConnections({ store }: Replica): Promise<void> {
  await store.pool.query(
    `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`,
  )
}

async function someoneWaits({ store }: Replica): Promise<void> {
  const waiting = async () => {
    const { rows } = await store.pool.query(`select 1 from pg_locks where not granted`)
    return rows.length > 0
  }
  await vi.waitUntil(waiting, { timeout: 20_000, interval: 20 })
}

const finished = (status: string) => (job: { status: string }) => job.status === status

describe('a job', () => {
  test('starts after its transaction commits, with its input, and succeeds', async () => {
    const seen: JobContext['job'][] = []
    const replica = await startReplica(async ({ job }) => void seen.push(job))
    const job = await enqueue(replica, d.projectId)
    const done = await jobWhen(replica, job.id, finished('succeeded'))
    expect(done).toMatchObject({ attempt: 1, progress: 1, error: null, worker: null })
    expect(seen.at(-1)).toMatchObject({ id: job.id, status: 'running', input: {} })
    // Told after it is written: whoever reads the record may be first.
    await vi.waitFor(() =>
      expect(replica.observations).toContainEqual(
        expect.objectContaining({ kind: 'job-finished', jobId: job.id, status: 'succeeded' }),
      ),
    )
  })

  test('never was when its transaction does not commit', async () => {
    const runs: string[] = []
    const replica = await startReplica(async ({ job }) => void runs.push(job.id))
    let lost = ''
    const aborted = replica.store.db.transaction().execute(async (transaction) => {
      const source = { source: 'datasource', sourceId: 'ds_1', sourceEventType: 'http_api' }
      const job = await replica.jobs.enqueue(transaction, { projectId: d.projectId, jobType: 'test', ...source })
      lost = job.id
      throw new Error('no')
    })
    await expect(aborted).rejects.toThrow('no')
    const after = await enqueue(replica, d.projectId)
    await jobWhen(replica, after.id, finished('succeeded'))
    expect(runs).toEqual([after.id])
    const row = await replica.store.db.selectFrom('jobs').select('id').where('id', '=', lost).executeTakeFirst()
    expect(row).toBeUndefined()
  })

  test('that fails goes back to the queue with the next attempt, and fails for good after the last', async () => {
    const attempts: number[] = []
    const replica = await startReplica(async ({ job }) => {
      attempts.push(job.attempt)
      throw new Failure('upstream_error', { reason: 'dns_error', message: 'api.example.org has no address.' })
    })
    const job = await enqueue(replica, d.projectId, 'test', 2)
    const waiting = await jobWhen(replica, job.id, ({ status, attempt }) => status === 'queued' && attempt === 2)
    expect(waiting.error).toEqual({
      code: 'upstream_error',
      reason: 'dns_error',
      message: 'api.example.org has no address.',
    })
    const failed = await jobWhen(replica, job.id, finished('failed'))
    expect(failed.finishedAt).not.toBeNull()
    expect(attempts).toEqual([1, 2])
    const told = replica.observations.filter((event) => event.kind === 'job-failed')
    expect(told.map(({ final }) => final)).toEqual([false, true])
  })

  test('that fails through our own fault says so without a detail', async () => {
    const replica = await startReplica(async () => {
      throw new Error('password=hunter2 in row 7')
    })
    const job = await enqueue(replica, d.projectId, 'test', 1)
    const failed = await jobWhen(replica, job.id, finished('failed'))
    expect(failed.error).toEqual({ code: 'internal_error', message: expect.not.stringContaining('hunter2') })
  })

  test('of a type that nobody knows fails instead of waiting for ever', async () => {
    const replica = await startReplica(async () => undefined)
    const job = await enqueue(replica, d.projectId, 'unheard_of', 1)
    expect(await jobWhen(replica, job.id, finished('failed'))).toMatchObject({ error: { code: 'internal_error' } })
  })

  test('that runs past its limit is stopped and counts as failed', async () => {
    const replica = await startReplica(untilStopped, { timeoutMs: 200 })
    const job = await enqueue(replica, d.projectId, 'test', 1)
    expect(await jobWhen(replica, job.id, finished('failed'))).toMatchObject({ error: { code: 'timeout' } })
  })

  test('that does not heed its signal is failed for good, so that it never runs beside itself', async () => {
    const released = Promise.withResolvers<void>()
    let runs = 0
    const replica = await startReplica(
      async () => {
        runs += 1
        await released.promise
      },
      { timeoutMs: 100, graceMs: 100 },
    )
    const job = await enqueue(replica, d.projectId, 'test', 3)
    const failed = await jobWhen(replica, job.id, finished('failed'))
    released.resolve()
    expect(failed).toMatchObject({ attempt: 1, error: { code: 'timeout' } })
    expect(runs).toBe(1)
  })

  test('tells its progress, throttled and never backwards', async () => {
    const go = Promise.withResolvers<void>()
    const told: number[] = []
    const replica = await startReplica(async ({ progress }) => {
      for (let step = 0; step <= 1_000; step += 1) progress(0.1 + step / 10_000)
      progress(Number.NaN)
      progress(-1)
      await go.promise
    })
    const stop = replica.jobs.watch(d.projectId, { onJob: (job) => void told.push(job.progress), onEnd: () => {} })
    const job = await enqueue(replica, d.projectId)
    const running = await jobWhen(replica, job.id, ({ progress }) => progress > 0)
    expect(running.progress).toBeCloseTo(0.1)
    go.resolve()
    await jobWhen(replica, job.id, finished('succeeded'))
    await vi.waitUntil(() => told.at(-1) === 1, { timeout: 60_000 })
    stop()
    // Queued, running, one step and the end.
    expect(told.length).toBe(4)
    expect(told).toEqual(told.toSorted())
  })

  test('whose project is deleted ends with it', async () => {
    const replica = await startReplica(untilStopped)
    await replica.store.db.insertInto('projects').values({ id: 'prj_short', name: 'Short' }).execute()
    const job = await enqueue(replica, 'prj_short')
    await jobWhen(replica, job.id, finished('running'))
    await replica.store.db.deleteFrom('projects').where('id', '=', 'prj_short').execute()
    await replica.close()
    expect(replica.observations.some((event) => event.kind === 'job-lost')).toBe(true)
  })
})

describe('cancelling', () => {
  const cancel = (replica: Replica, jobId: string) =>
    replica.store.db.transaction().execute((transaction) => replica.jobs.cancel(transaction, jobId))

  test('ends a queued job at once, and it never runs', async () => {
    const runs: string[] = []
    const replica = await d.replica()
    const job = await enqueue(replica, d.projectId)
    expect(await cancel(replica, job.id)).toMatchObject({ status: 'cancelled' })
    replica.jobs.register('test', async ({ job }) => void runs.push(job.id))
    await replica.jobs.start()
    const after = await enqueue(replica, d.projectId)
    await jobWhen(replica, after.id, finished('succeeded'))
    expect(runs).toEqual([after.id])
  })

  test('stops a running job, also from another replica', async () => {
    const replica = await startReplica(untilStopped)
    const other = await d.replica()
    const job = await enqueue(replica, d.projectId)
    await jobWhen(replica, job.id, finished('running'))
    expect(await cancel(other, job.id)).toMatchObject({ status: 'running' })
    const cancelled = await jobWhen(replica, job.id, finished('cancelled'))
    expect(cancelled).toMatchObject({ attempt: 1, error: null })
    expect(cancelled.finishedAt).not.toBeNull()
    expect(await cancel(other, job.id)).toMatchObject({ status: 'cancelled' })
  })

  test('of a job that does not heed it takes effect after a grace', async () => {
    const released = Promise.withResolvers<void>()
    const replica = await startReplica(() => released.promise, { graceMs: 100 })
    const job = await enqueue(replica, d.projectId)
    await jobWhen(replica, job.id, finished('running'))
    await cancel(replica, job.id)
    expect(await jobWhen(replica, job.id, finished('cancelled'))).toMatchObject({ attempt: 1 })
    released.resolve()
  })
})

describe('workers', () => {
  test('run no job twice at once and each once, whatever the number of replicas', async () => {
    const running = new Set<string>()
    const overlaps: string[] = []
    const done: string[] = []
    let most = 0
    const together = Promise.withResolvers<void>()
    const handler = async ({ job }: JobContext): Promise<void> => {
      if (running.has(job.id)) overlaps.push(job.id)
      running.add(job.id)
      most = Math.max(most, running.size)
      // None ends before two of them run at once.
      if (running.size > 1) together.resolve()
      await together.promise
      await wait(30)
      running.delete(job.id)
      done.push(job.id)
    }
    const first = await startReplica(handler)
    await startReplica(handler)
    await startReplica(handler)
    const ids: string[] = []
    for (let count = 0; count < 40; count += 1) ids.push((await enqueue(first, d.projectId)).id)
    await vi.waitUntil(() => done.length >= ids.length, { timeout: 60_000 })
    for (const id of ids) await jobWhen(first, id, finished('succeeded'))
    expect(overlaps).toEqual([])
    expect(done.toSorted()).toEqual(ids.toSorted())
    expect(most).toBeLessThanOrEqual(6)
  })

  test('run jobs of one kind for one source one after the other', async () => {
    let running = 0
    let most = 0
    const done: string[] = []
    const handler = async ({ job }: JobContext): Promise<void> => {
      most = Math.max(most, (running += 1))
      await wait(50)
      running -= 1
      done.push(job.id)
    }
    const first = await startReplica(handler)
    await startReplica(handler)
    const source = { source: 'datasource', sourceId: 'ds_same', sourceEventType: 'http_api' }
    const ids: string[] = []
    for (let count = 0; count < 3; count += 1) {
      const put = { projectId: d.projectId, jobType: 'test', ...source }
      const job = await first.store.db.transaction().execute((transaction) => first.jobs.enqueue(transaction, put))
      ids.push(job.id)
    }
    for (const id of ids) await jobWhen(first, id, finished('succeeded'))
    expect(done.toSorted()).toEqual(ids.toSorted())
    expect(most).toBe(1)
  })

  test('let a project that has nothing running go first', async () => {
    const order: string[] = []
    const gate = Promise.withResolvers<void>()
    const replica = await d.replica({ concurrency: 2 })
    await replica.store.db.insertInto('projects').values({ id: 'prj_small', name: 'Small' }).execute()
    for (let count = 0; count < 3; count += 1) await enqueue(replica, d.projectId)
    await enqueue(replica, 'prj_small')
    replica.jobs.register('test', async ({ job }) => {
      order.push(job.projectId)
      await gate.promise
    })
    await replica.jobs.start()
    await vi.waitUntil(() => order.length === 2, { timeout: 60_000 })
    expect(order.toSorted()).toEqual(['prj_small', d.projectId])
    gate.resolve()
    await vi.waitUntil(() => order.length === 4, { timeout: 60_000 })
  })

  test('that stop put their jobs back without counting an attempt, and another goes on', async () => {
    const replica = await startReplica(untilStopped)
    const job = await enqueue(replica, d.projectId)
    await jobWhen(replica, job.id, finished('running'))
    await replica.close()
    const second = await startReplica(async () => undefined)
    expect(await jobWhen(second, job.id, finished('succeeded'))).toMatchObject({ attempt: 1 })
  })

  test('that went silent lose their job after the lease, and their late result does not count', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'sluice-silent-'))
    const frozen = startRunner(folder, { databaseUrl: d.url, enqueue: 1 })
    try {
      const { jobId = '' } = await frozen.said(({ kind }) => kind === 'began')
      frozen.signal('SIGSTOP')
      const second = await startReplica(async () => undefined)
      const done = await jobWhen(second, jobId, finished('succeeded'))
      expect(done.attempt).toBe(2)
      frozen.signal('SIGCONT')
      await frozen.said(({ kind }) => kind === 'job-lost')
      expect(await jobWhen(second, jobId, finished('succeeded'))).toEqual(done)
    } finally {
      await frozen.end('SIGKILL')
      await rm(folder, { recursive: true })
    }
  })

  test('finish what they have although the database was away for a moment', async () => {
    const go = Promise.withResolvers<void>()
    const replica = await startReplica(() => go.promise)
    const job = await enqueue(replica, d.projectId)
    await jobWhen(replica, job.id, finished('running'))
    await cutConnections(replica)
    go.resolve()
    expect(await jobWhen(replica, job.id, finished('succeeded'))).toMatchObject({ attempt: 1 })
  })

  // A worker takes the ticket and then the record. Who locks them the other way round waits for it while it waits for them.
  test.for(['cancelling it', 'writing its result'])('take a ticket before the record, as %s does', async (act) => {
    const go = Promise.withResolvers<void>()
    const isRunning = act === 'writing its result'
    const replica = isRunning ? await startReplica(() => go.promise) : await d.replica()
    const job = await enqueue(replica, d.projectId)
    if (isRunning) await jobWhen(replica, job.id, finished('running'))
    const { db } = replica.store
    let cancelled: Promise<unknown> = Promise.resolve()
    await db.transaction().execute(async (worker) => {
      await sql`select id from pgboss.job where data ->> 'jobId' = ${job.id} for update`.execute(worker)
      if (isRunning) go.resolve()
      else cancelled = db.transaction().execute((transaction) => replica.jobs.cancel(transaction, job.id))
      await someoneWaits(replica)
      // Refused at once where the other one has it already.
      await sql`select id from jobs where id = ${job.id} for update nowait`.execute(worker)
    })
    await cancelled
    const end = isRunning ? 'succeeded' : 'cancelled'
    expect(await jobWhen(replica, job.id, finished(end))).toMatchObject({ status: end })
  })
})

describe('watching', () => {
  test('hears of changes on another replica, and is told to begin again after a gap', async () => {
    const first = await startReplica(async () => undefined)
    const second = await d.replica()
    const told: string[] = []
    let ended = 0
    second.jobs.watch(d.projectId, { onJob: (job) => void told.push(job.status), onEnd: () => void (ended += 1) })
    await enqueue(first, d.projectId)
    await vi.waitUntil(() => told.length === 3, { timeout: 60_000 })
    expect(told).toEqual(['queued', 'running', 'succeeded'])
    await cutConnections(first)
    await vi.waitUntil(() => ended === 1, { timeout: 60_000 })
    expect(ended).toBe(1)
  })
})
