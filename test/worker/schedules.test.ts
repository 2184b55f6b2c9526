import fc from 'fast-check'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { Failure } from '../../server/failure.ts'
import { nextRun } from '../../server/jobs/index.ts'
import { openJobsDatabase, type JobsDatabase, type Replica } from '../harness/jobs.ts'

const noon = new Date('2026-03-28T12:00:00Z')

describe('nextRun', () => {
  test.each([
    ['* * * * *', 'UTC', '2026-03-28T12:01:00.000Z'],
    ['0 6 * * 1-5', 'UTC', '2026-03-30T06:00:00.000Z'],
    ['@daily', 'America/New_York', '2026-03-29T04:00:00.000Z'],
    // Clocks go forward from 2:00 to 3:00 that night: a time that does not exist comes when it would have.
    ['30 2 * * *', 'Europe/Berlin', '2026-03-29T01:00:00.000Z'],
    ['0 12 29 2 *', 'UTC', '2028-02-29T12:00:00.000Z'],
  ])('%s in %s', (cron, timeZone, expected) => {
    expect(nextRun(cron, timeZone, noon).toISOString()).toBe(expected)
  })

  test.each([
    ['*/5 * * * * *', 'UTC', 'schedule'],
    ['x', 'UTC', 'schedule'],
    ['', 'UTC', 'schedule'],
    ['61 * * * *', 'UTC', 'schedule'],
    ['@secondly', 'UTC', 'schedule'],
    ['@reboot', 'UTC', 'schedule'],
    ['2027-01-01T00:00:00', 'UTC', 'schedule'],
    ['0 0 30 2 *', 'UTC', 'schedule'],
    ['* * * * *', 'Mars/Base', 'schedule_time_zone'],
    ['* * * * *', '', 'schedule_time_zone'],
  ])('refuses %j in %j', (cron, timeZone, field) => {
    const refused = expect.objectContaining({ code: 'invalid_request', details: [expect.objectContaining({ field })] })
    expect(() => nextRun(cron, timeZone, noon)).toThrow(refused)
  })

  test('is later than its beginning by a minute at least from time to time, whatever the text', () => {
    const field = fc.oneof(fc.constantFrom('*', '*/7', '1-5', '0', 'MON', 'L', '?'), fc.string({ maxLength: 6 }))
    fc.assert(
      fc.property(fc.array(field, { minLength: 1, maxLength: 7 }), (fields) => {
        try {
          const first = nextRun(fields.join(' '), 'Europe/Berlin', noon)
          const second = nextRun(fields.join(' '), 'Europe/Berlin', first)
          expect(first.getTime()).toBeGreaterThan(noon.getTime())
          expect(second.getTime() - first.getTime()).toBeGreaterThanOrEqual(60_000)
        } catch (error) {
          if (!(error instanceof Failure)) throw error
        }
      }),
      { numRuns: 200 },
    )
  })
})

describe('schedules', () => {
  let d: JobsDatabase
  beforeAll(async () => {
    d = await openJobsDatabase()
  })
  afterAll(() => d.close())
  afterEach(() => d.closeReplicas())

  async function datasource({ store }: Replica, id: string, schedule: string, dueAt: Date): Promise<void> {
    await store.db
      .insertInto('datasources')
      .values({
        id,
        projectId: d.projectId,
        name: id,
        kind: 'http_api',
        tableName: id,
        schedule,
        nextRefreshAt: dueAt,
      })
      .execute()
  }

  const jobsOf = ({ store }: Replica, id: string) =>
    store.db.selectFrom('jobs').selectAll().where('sourceId', '=', id).orderBy('id').execute()
  const nextOf = ({ store }: Replica, id: string) =>
    store.db.selectFrom('datasources').select('nextRefreshAt').where('id', '=', id).executeTakeFirstOrThrow()

  test('after downtime one run catches up, on however many replicas, and the next time is ahead', async () => {
    const replicas = [await d.replica(), await d.replica(), await d.replica()]
    const [first] = replicas as [Replica]
    await datasource(first, 'ds_late', '*/10 * * * *', new Date(Date.now() - 86_400_000))
    const gate = Promise.withResolvers<void>()
    for (const { jobs } of replicas) jobs.register('refresh_datasource', () => gate.promise)
    await Promise.all(replicas.map(({ jobs }) => jobs.start()))
    const jobs = await vi.waitFor(async () => {
      const found = await jobsOf(first, 'ds_late')
      expect(found.length).toBeGreaterThan(0)
      return found
    }, 60_000)
    expect(jobs).toMatchObject([
      { jobType: 'refresh_datasource', source: 'datasource', sourceEventType: 'schedule', projectId: d.projectId },
    ])
    const { nextRefreshAt: next } = await nextOf(first, 'ds_late')
    expect(next?.getTime()).toBeGreaterThan(Date.now())
    expect(next?.getTime()).toBeLessThanOrEqual(Date.now() + 600_000)

    // Due again while the first still runs: skipped, not queued behind it.
    for (const each of replicas) each.advance(1_200_000)
    await vi.waitFor(
      async () => {
        const { nextRefreshAt: later } = await nextOf(first, 'ds_late')
        expect(later?.getTime()).toBeGreaterThan(Date.now() + 1_200_000)
      },
      { timeout: 60_000 },
    )
    expect((await jobsOf(first, 'ds_late')).length).toBe(1)
    gate.resolve()
  })

  test('one that cannot be read does not hold up the others, and is told', async () => {
    const first = await d.replica()
    const past = new Date(Date.now() - 1_000)
    await datasource(first, 'ds_bad', 'every now and then', past)
    await datasource(first, 'ds_good', '@hourly', past)
    first.jobs.register('refresh_datasource', async () => undefined)
    await first.jobs.start()
    await vi.waitFor(async () => expect((await jobsOf(first, 'ds_good')).length).toBe(1), 10_000)
    expect(await jobsOf(first, 'ds_bad')).toEqual([])
    expect((await nextOf(first, 'ds_bad')).nextRefreshAt).toBeNull()
    expect(first.observations).toContainEqual(expect.objectContaining({ kind: 'fault', where: 'schedules' }))
  })
})
