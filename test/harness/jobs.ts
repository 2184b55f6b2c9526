import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { vi } from 'vitest'
import { runDueSchedules } from '../../server/connections/index.ts'
import { openJobs, type JobRecord, type Jobs } from '../../server/jobs/index.ts'
import type { Observation } from '../../server/observe.ts'
import { openDatabase, type Database } from '../../server/store/index.ts'
import { createDatabase } from './database.ts'

export type Replica = {
  store: Database
  jobs: Jobs
  observations: Observation[]
  /** Moves the clock of schedules. */
  advance(ms: number): void
  close(): Promise<void>
}

type ReplicaOptions = { concurrency?: number; timeoutMs?: number; graceMs?: number; dataDir?: string }

export type JobsDatabase = {
  url: string
  projectId: string
  /** One process's worth of jobs on the shared database, with a data folder of its own. */
  replica(options?: ReplicaOptions): Promise<Replica>
  /** Between tests: what one left running would take the jobs of the next. */
  closeReplicas(): Promise<void>
  close(): Promise<void>
}

/** A database with one project, and as many replicas as a test wants. */
export async function openJobsDatabase(): Promise<JobsDatabase> {
  const database = await createDatabase()
  const folders: string[] = []
  let replicas: Replica[] = []
  const projectId = 'prj_test'
  const replica = async (options: ReplicaOptions = {}): Promise<Replica> => {
    const { concurrency = 2, timeoutMs = 20_000, graceMs = 1_000 } = options
    const dataDir = options.dataDir ?? (await mkdtemp(join(tmpdir(), 'sluice-jobs-')))
    folders.push(dataDir)
    const observations: Observation[] = []
    const observe = (event: Observation) => void observations.push(event)
    const store = await openDatabase({ dataDir, databaseUrl: database.url, connections: 4, timeoutMs: 5_000, observe })
    let movedMs = 0
    const now = () => Date.now() + movedMs
    const limits = { timeoutMs, graceMs }
    const jobs = await openJobs({ store, observe, concurrency, limits, leaseSeconds: 10, retrySeconds: 1 })
    jobs.registerSchedules(() => runDueSchedules({ store, jobs, now, observe }))
    const close = async () => {
      await jobs.close()
      await store.close()
    }
    const opened = { store, jobs, observations, advance: (ms: number) => void (movedMs += ms), close }
    replicas.push(opened)
    return opened
  }
  const first = await replica()
  await first.store.db.insertInto('projects').values({ id: projectId, name: 'Test' }).execute()
  await first.close()
  const closeReplicas = async (): Promise<void> => {
    for (const each of replicas) await each.close()
    replicas = []
  }
  return {
    url: database.url,
    projectId,
    replica,
    closeReplicas,
    async close() {
      await closeReplicas()
      await database.drop()
      for (const folder of folders) await rm(folder, { recursive: true, force: true })
    },
  }
}

type Enqueuer = { store: Database; jobs: Jobs }

export function enqueue({ store, jobs }: Enqueuer, projectId: string, jobType = 'test', maxAttempts = 3) {
  // Each for a source of its own: jobs of one kind for one source take turns.
  const source = { source: 'datasource', sourceId: `ds_${randomUUID()}`, sourceEventType: 'http_api' }
  return store.db
    .transaction()
    .execute((transaction) => jobs.enqueue(transaction, { projectId, jobType, ...source, maxAttempts }))
}

/** The job once it is as wanted, or an error that shows how it is. */
export async function jobWhen(
  { store }: Pick<Enqueuer, 'store'>,
  jobId: string,
  wanted: (job: { status: JobRecord['status']; attempt: number; progress: number }) => boolean,
) {
  return vi.waitFor(
    async () => {
      const job = await store.db.selectFrom('jobs').selectAll().where('id', '=', jobId).executeTakeFirstOrThrow()
      if (!wanted(job)) throw new Error(`The job is ${JSON.stringify(job)}`)
      return job
    },
    { timeout: 60_000, interval: 20 },
  )
}
