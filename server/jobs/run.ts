import { failures } from '../../api/failures.ts'
import { Failure } from '../failure.ts'
import { asDiskFailure } from '../process/index.ts'
import { asStoreFailure, type JobError } from '../store/index.ts'
import type { JobContext, JobHandler } from './job.ts'
import type { Outcome } from './records.ts'

/** Why a run is asked to end before its work is done. */
export type StopReason = 'cancelled' | 'timeout' | 'stopping' | 'lost'

export type JobRun = {
  /** Outcome of the job; `lost`: nothing may be written. `cause` is for the log. */
  ended: Promise<{ outcome: Outcome | 'lost'; cause?: unknown }>
  /** When the handler itself is through, which a handler that does not heed its signal can delay. */
  released: Promise<void>
  stop(reason: StopReason): void
}

export type RunLimits = {
  /** Longest time an attempt may take. */
  timeoutMs: number
  /** How long a handler may take to heed its signal. */
  graceMs: number
}

/** Runs a handler under a deadline and turns however it ends into an outcome. */
export function startRun(
  handler: JobHandler,
  context: Pick<JobContext, 'job' | 'progress'>,
  { timeoutMs, graceMs }: RunLimits,
): JobRun {
  const controller = new AbortController()
  const stubborn = Promise.withResolvers<'stubborn'>()
  const timers: NodeJS.Timeout[] = []
  let reason: StopReason | undefined
  const stop = (why: StopReason) => {
    // A lost claim outweighs all else: nothing may be written any more.
    if (reason !== undefined && why !== 'lost') return
    reason = why
    if (controller.signal.aborted) return
    controller.abort(new Error(sentences[why]))
    timers.push(setTimeout(() => stubborn.resolve('stubborn'), graceMs))
  }
  timers.push(setTimeout(() => stop('timeout'), timeoutMs))
  const work = attempt(() => handler({ ...context, signal: controller.signal }))
  const ended = Promise.race([work, stubborn.promise]).then((end) => {
    for (const timer of timers) clearTimeout(timer)
    const cause = typeof end === 'object' ? end.error : undefined
    return { outcome: outcomeOf(end, reason, timeoutMs), cause }
  })
  return { ended, released: work.then(() => undefined), stop }
}

type End = 'done' | 'stubborn' | { error: unknown }

const sentences: Record<StopReason, string> = {
  cancelled: 'The job was cancelled.',
  timeout: 'The job ran past its time limit.',
  stopping: 'The service stops.',
  lost: 'The job was given to another worker.',
}

async function attempt(work: () => Promise<void>): Promise<End> {
  try {
    await work()
    return 'done'
  } catch (error) {
    return { error }
  }
}

function outcomeOf(end: End, reason: StopReason | undefined, timeoutMs: number): Outcome | 'lost' {
  if (reason === 'lost') return 'lost'
  // Work that is done stays done, whatever was asked while it ended.
  if (end === 'done') return { status: 'succeeded' }
  if (reason === 'cancelled') return { status: 'cancelled' }
  if (reason === 'timeout') {
    const message = `The job ran longer than ${Math.round(timeoutMs / 1000)} s and was stopped.`
    // One that does not stop must not be started a second time beside itself.
    return { status: 'failed', error: { code: 'timeout', message }, final: end === 'stubborn' }
  }
  // Left as it is: the next start finds it running with nobody who runs it.
  if (end === 'stubborn') return 'lost'
  if (reason === 'stopping') return { status: 'queued' }
  return { status: 'failed', error: jobErrorOf(end.error), final: cannotHeal(end.error) }
}

/** Errors that come again each time: a value that the database cannot hold, and input that is refused as it stands. */
function cannotHeal(error: unknown): boolean {
  if (error instanceof Failure) return error.code === 'invalid_request' || error.code === 'invalid_query'
  const code: unknown = error instanceof Error && 'severity' in error && 'code' in error ? error.code : undefined
  return typeof code === 'string' && code.startsWith('22')
}

/** Error as the user reads it: a failure's own words, and of anything else only that it was ours. */
function jobErrorOf(error: unknown): JobError {
  const ours = error instanceof Failure && error.code !== 'internal_error' ? error : undefined
  const failure: Failure = ours ?? asDiskFailure(error) ?? asStoreFailure(error) ?? new Failure('internal_error')
  const row = failures[failure.code]
  return {
    code: 'wire' in row ? row.wire : failure.code,
    ...(failure.reason !== undefined && { reason: failure.reason }),
    message: failure.code === 'internal_error' ? 'Something went wrong on our side.' : failure.message,
  }
}
