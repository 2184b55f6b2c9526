import { createHash } from 'node:crypto'
import { fromKysely, PgBoss } from 'pg-boss'
import type { Observe } from '../observe.ts'
import type { Database } from '../store/index.ts'
import type { JobRecord, JobTransaction } from './job.ts'

/** The right to run a job, once: `retryCount` fences it, so that a claim which lapsed settles nothing. */
export type JobTicket = { id: string; retryCount: number; jobId: string }

/** pg-boss as a queue of tickets, one for each job that is not finished. States and attempts are in our own records. */
export type Queue = {
  /** Commits with the job's record. */
  put(transaction: JobTransaction, job: JobRecord): Promise<void>
  /** The next ticket that is due, of a project that is not among `except`. Nobody else's once the transaction commits. */
  take(transaction: JobTransaction, except: string[]): Promise<JobTicket | undefined>
  /** Renews claims; answers the ids of those that still stood. */
  renew(tickets: JobTicket[]): Promise<Set<string>>
  finish(transaction: JobTransaction, ticket: JobTicket): Promise<void>
  /** Due again in a moment, as if it had not been taken: its turn has not come. */
  postpone(transaction: JobTransaction, ticket: JobTicket, job: JobRecord): Promise<void>
  /** Due again after a pause that doubles with each try. */
  putBack(transaction: JobTransaction, ticket: JobTicket): Promise<void>
  /** The same for a job whose holder is known to be dead. */
  putBackOrphan(transaction: JobTransaction, jobId: string): Promise<void>
  withdraw(transaction: JobTransaction, jobId: string): Promise<void>
  /**
   * Waits for whoever has the ticket in hand. To be called before the job's record is locked: a worker takes the ticket
   * first and the record then, and two who lock in different orders wait for each other.
   */
  lock(transaction: JobTransaction, jobId: string): Promise<void>
  ping(): Promise<void>
  close(): Promise<void>
}

type Options = {
  store: Pick<Database, 'pool'>
  observe: Observe
  /** A claim that is not renewed for this long lapses, and another worker may take the job. */
  leaseSeconds: number
  /** The pause before the first repetition. */
  retrySeconds: number
}

const name = 'jobs'
const nilId = '00000000-0000-0000-0000-000000000000'
const daySeconds = 86_400
const postponedSeconds = 1

export async function openQueue({ store, observe, leaseSeconds, retrySeconds }: Options): Promise<Queue> {
  const boss = new PgBoss({
    db: { executeSql: (text, values) => store.pool.query(text, values) },
    schema: 'pgboss',
    schedule: false,
    // How soon a lapsed claim is noticed. One process at a time does it, whichever comes first.
    superviseIntervalSeconds: 5,
    monitorIntervalSeconds: 5,
    // Jobs that wait for other jobs, which ours do not.
    flowIntervalSeconds: daySeconds,
  })
  boss.on('error', (error) => observe({ kind: 'fault', where: 'jobs', error }))
  await boss.start()
  const settings = {
    heartbeatSeconds: leaseSeconds,
    retryDelay: retrySeconds,
    retryBackoff: true,
    retryDelayMax: 600,
    // How often a job is tried is for its record to say; a ticket only ever ends with its job.
    retryLimit: 10_000,
    expireInSeconds: daySeconds,
    retentionSeconds: 365 * daySeconds,
    deleteAfterSeconds: daySeconds,
  }
  await boss.createQueue(name, settings)
  await boss.updateQueue(name, settings)
  const ping = async () => void (await boss.findJobs(name, { id: nilId }))
  // Fills the library's cache of queues, which it otherwise reads on another connection in the middle of a transaction.
  await ping()

  const put = async (transaction: JobTransaction, job: JobRecord, options: { startAfter?: number } = {}) => {
    const group = { id: job.projectId }
    await boss.send(name, { jobId: job.id }, { id: ticketId(job.id), group, db: fromKysely(transaction), ...options })
  }

  return {
    ping,
    put,
    async postpone(transaction, ticket, job) {
      await boss.deleteJob(name, ticket.id, { db: fromKysely(transaction) })
      await put(transaction, job, { startAfter: postponedSeconds })
    },
    async take(transaction, except) {
      const options = { ignoreGroups: except, db: fromKysely(transaction) }
      const [job] = await boss.fetch<{ jobId: string }>(name, options)
      return job === undefined ? undefined : { id: job.id, retryCount: job.retryCount, jobId: job.data.jobId }
    },
    async renew(tickets) {
      const { settled } = (await boss.touch(name, tickets)) as { settled?: string[] }
      return new Set(settled)
    },
    async finish(transaction, ticket) {
      await boss.complete(name, ticket, null, { db: fromKysely(transaction) })
    },
    async putBack(transaction, ticket) {
      await boss.fail(name, ticket, null, { db: fromKysely(transaction) })
    },
    async putBackOrphan(transaction, jobId) {
      await boss.fail(name, ticketId(jobId), null, { db: fromKysely(transaction) })
    },
    async withdraw(transaction, jobId) {
      await boss.cancel(name, ticketId(jobId), { db: fromKysely(transaction) })
    },
    lock: lockTicket,
    close: () => boss.stop({ graceful: false, close: false }),
  }
}

async function lockTicket(transaction: JobTransaction, jobId: string): Promise<void> {
  const text = 'select id from pgboss.job where name = $1 and id = $2 for update'
  await fromKysely(transaction).executeSql(text, [name, ticketId(jobId)])
}

/** pg-boss takes UUIDs for ids. Made from the job's own id, so that each finds the other. */
function ticketId(jobId: string): string {
  const hex = createHash('sha256').update(jobId).digest('hex')
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20, 32)].join('-')
}
