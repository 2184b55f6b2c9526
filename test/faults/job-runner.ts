import { once } from 'node:events'
import { setTimeout as wait } from 'node:timers/promises'
import { openJobs } from '../../server/jobs/index.ts'
import { openDatabase } from '../../server/store/index.ts'

/**
 * A process that runs jobs and says what it does, to be killed or frozen in the middle. `hang`: first attempts last
 * until the process is continued after a stop. `work`: every attempt takes a few milliseconds.
 */
const [dataDir = '', databaseUrl = '', manner = 'hang', enqueueCount = '0', lease = '10'] = process.argv.slice(2)

function say(event: Record<string, unknown>): void {
  process.stdout.write(`${JSON.stringify(event)}\n`)
}

const observe = (event: Record<string, unknown>) => say({ ...event, error: undefined })
const store = await openDatabase({
  dataDir,
  databaseUrl: databaseUrl === '' ? undefined : databaseUrl,
  connections: 4,
  timeoutMs: 5_000,
  observe,
})
const limits = { timeoutMs: 60_000, graceMs: 1_000 }
const jobs = await openJobs({
  store,
  observe,
  concurrency: 2,
  limits,
  leaseSeconds: Number(lease),
  retrySeconds: 1,
})
jobs.register('test', async ({ job }) => {
  say({ kind: 'began', jobId: job.id, attempt: job.attempt })
  if (manner === 'hang' && job.attempt === 1) await once(process, 'SIGCONT')
  else await wait(30)
  say({ kind: 'ended', jobId: job.id, attempt: job.attempt })
})
if (Number(enqueueCount) > 0) {
  await store.db
    .insertInto('projects')
    .values({ id: 'prj_test', name: 'Test' })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
  await store.db.transaction().execute(async (transaction) => {
    const source = { source: 'datasource', sourceId: 'ds_1', sourceEventType: 'http_api' }
    for (let count = 0; count < Number(enqueueCount); count += 1)
      await jobs.enqueue(transaction, { projectId: 'prj_test', jobType: 'test', ...source, maxAttempts: 50 })
  })
}
await jobs.start()
const tell = async () => {
  const rows = await store.db.selectFrom('jobs').select(['id', 'status', 'attempt', 'error']).orderBy('id').execute()
  say({ kind: 'jobs', jobs: rows })
}
await tell()
const telling = setInterval(() => void tell().catch(() => undefined), 50)
process.once('SIGTERM', () => {
  clearInterval(telling)
  void jobs.close().then(() => store.close())
})
