import { setTimeout as wait } from 'node:timers/promises'
import type { Transaction } from 'kysely'
import { labelOf, requireRole, type Caller, type Vault } from '../access/index.ts'
import type { Clock } from '../clock.ts'
import type { Config } from '../config.ts'
import type { Catalogs } from '../data/index.ts'
import type { QueryEngine } from '../engine/index.ts'
import { Failure } from '../failure.ts'
import { within } from '../flow/index.ts'
import type { JobContext, Jobs } from '../jobs/index.ts'
import { findVersionPairs, type VersionPair, type Deployments, type Rehearsal } from '../queries/index.ts'
import type { Database, Tables } from '../store/index.ts'
import { addComparedCall, type CountsByQuery } from './counts.ts'
import { fillRedacted } from './fill-redacted.ts'
import { readRecordedCalls, type RecordedCall } from './recorded-calls.ts'
import type { CallRecorder } from './recorder.ts'
import {
  insertReplay,
  keepCalls,
  replayedCall,
  maxReplayedCalls,
  readPlan,
  readReplay,
  reportOf,
  type ReplayedCall,
  type ReplayRecord,
} from './replay-records.ts'
import { compareCall, type ComparedCall } from './run-call.ts'
import { readReplaySettings } from './settings.ts'

type Parts = {
  store: Database
  vault: Vault
  engine: QueryEngine
  catalogs: Catalogs
  deployments: Deployments
  jobs: Jobs
  recorder: CallRecorder
  config: Config
  now: Clock
}

/** The work of a replay as a job. */
export const replayJob = 'replay_calls'

/** Runs recorded calls on drafts or versions beside what answers now; answers with what there is after a while. */
export async function startReplay(
  app: Parts,
  caller: Caller,
  input: {
    projectId: string
    environment: string
    queries: Array<{ name: string; version?: number | undefined }> | 'all'
  },
): Promise<ReplayRecord> {
  await requireRole(app, caller, input.projectId, 'editor')
  const { recording } = await readReplaySettings(app.store, input.projectId)
  if (!recording) {
    throw new Failure('conflict', {
      reason: 'not_recording',
      message:
        'The project records no calls. Switch it on in its replay settings; calls made from then on can be run again.',
    })
  }
  const plan = await findVersionPairs(app, input)
  return replay(app, caller, { ...input, plan })
}

/**
 * Runs the recorded calls of what is to change, as a job, and waits for it no longer than the limit: what is not done
 * by then goes on, and its record says so.
 */
export async function replay(
  app: Parts,
  caller: Caller,
  { projectId, environment, plan }: { projectId: string; environment: string; plan: VersionPair[] },
): Promise<ReplayRecord> {
  await app.recorder.flush()
  const ended = watchEnds(app.jobs, projectId)
  try {
    const { id, jobId } = await app.store.db.transaction().execute(async (transaction) => {
      const record = {
        projectId,
        environment,
        kind: 'replay' as const,
        releaseId: null,
        createdBy: labelOf(caller),
        plan,
      }
      const replayId = await insertReplay(transaction, record)
      const job = await app.jobs.enqueue(transaction, {
        projectId,
        jobType: replayJob,
        source: 'replay',
        // Replays of one project take turns.
        sourceId: projectId,
        sourceEventType: 'release',
        input: { replay_id: replayId },
      })
      await transaction.updateTable('replays').set({ jobId: job.id }).where('id', '=', replayId).execute()
      return { id: replayId, jobId: job.id }
    })
    await within(app.config.limits.replayWaitMs, ended.of(jobId), () => undefined)
    const found = await readReplay(app.store, id)
    if (found === undefined) throw new Failure('not_found')
    return found
  } finally {
    ended.stop()
  }
}

/** For the check of a release. */
export function createRehearsal(app: Parts): Rehearsal {
  return {
    async run(caller, { projectId, environment, candidates }) {
      const { recording } = await readReplaySettings(app.store, projectId)
      if (!recording || candidates.length === 0) return null
      return reportOf(await replay(app, caller, { projectId, environment, plan: candidates }))
    },
  }
}

/** Hears from before a job is there, so that no end of it is missed. */
function watchEnds(jobs: Jobs, projectId: string): { of(jobId: string): Promise<void>; stop: () => void } {
  const finished = new Set<string>()
  let wake: () => void = () => undefined
  const stop = jobs.watch(projectId, {
    onJob: ({ id, status }) => {
      if (status !== 'queued' && status !== 'running') finished.add(id)
      wake()
    },
    // Missed calls are in the record; the caller reads them at the limit.
    onEnd: () => undefined,
  })
  return {
    of: (jobId) =>
      new Promise((resolve) => {
        wake = () => {
          if (finished.has(jobId)) resolve()
        }
        wake()
      }),
    stop,
  }
}

const saveMs = 1_000
const dayMs = 86_400_000

/** Does the work of one replay. Begun again after a crash, it begins from the first call. */
export async function runReplay(app: Parts, { job, signal, progress }: JobContext): Promise<void> {
  const record = await readReplay(app.store, String(job.input['replay_id']))
  if (record === undefined || record.status === 'finished') return
  const { id, projectId, environment } = record
  const plan = await readPlan(app.store, id)
  const settings = await readReplaySettings(app.store, projectId)
  const calls = await readRecordedCalls(app, {
    projectId,
    environment,
    queryIds: plan.map(({ before }) => before.queryId),
    from: new Date(app.now() - settings.days * dayMs),
    limit: settings.recording ? settings.maxCalls : 0,
  })
  await app.store.db.deleteFrom('replayCalls').where('replayId', '=', id).execute()
  const tally = openTally(app, { id, projectId, total: calls.length })
  try {
    const pace = openPace(app.config.limits.replayCallsPerSecond)
    for (const [at, call] of calls.entries()) {
      await pace(signal)
      const candidate = plan.find(({ before }) => before.queryId === call.queryId)
      if (candidate === undefined) continue
      const redacted = new Set(settings.redactedSlots)
      tally.add(candidate, call, await compareRecorded(app, { projectId, candidate, call, redacted, signal }))
      progress((at + 1) / calls.length)
      await tally.save('running', saveMs)
    }
    await tally.save('finished')
  } catch (error) {
    await tally.save('stopped')
    throw error
  }
}

/** A replay whose job ended before it could say how far it came: cancelled in the queue, or lost with its process. */
export async function endReplay(transaction: Transaction<Tables>, { input }: JobContext['job']): Promise<void> {
  await transaction
    .updateTable('replays')
    .set((row) => ({ status: 'stopped', finishedAt: row.fn<Date>('now', []) }))
    .where('id', '=', String(input['replay_id']))
    .where('status', '=', 'running')
    .execute()
}

type Recorded = {
  projectId: string
  candidate: VersionPair
  call: RecordedCall
  redacted: ReadonlySet<string>
  signal: AbortSignal
}

async function compareRecorded(
  app: Parts,
  { projectId, candidate, call, redacted, signal }: Recorded,
): Promise<ComparedCall> {
  const { before, after } = candidate
  const filled = fillRedacted(call.parameters, before, redacted)
  if (filled.missing !== null) {
    const because = `The value of ${filled.missing} is not recorded, and no example of the query has one.`
    return { outcome: 'skipped', because, before: null, after: null, comparison: null }
  }
  return compareCall(app, { projectId, before, after, parameters: filled.parameters, signal })
}

/** Counts as calls are compared, and writes it down now and then. */
function openTally(app: Parts, { id, projectId, total }: { id: string; projectId: string; total: number }) {
  const counts: CountsByQuery = {}
  let unwritten: ReplayedCall[] = []
  let storedCount = 0
  let savedMs = performance.now()
  return {
    add(pair: VersionPair, call: RecordedCall, compared: ComparedCall): void {
      addComparedCall(counts, pair.name, compared)
      if (compared.outcome === 'equal' || storedCount >= maxReplayedCalls) return
      storedCount += 1
      const { parameters, times, at: calledAt, keyId } = call
      unwritten.push(replayedCall(pair, { ...compared, parameters, times, calledAt, keyId }))
    },
    /** With `everyMs`, only where the last one is so long ago. */
    async save(status: ReplayRecord['status'], everyMs = 0): Promise<void> {
      if (everyMs > 0 && performance.now() - savedMs < everyMs) return
      savedMs = performance.now()
      const calls = unwritten
      unwritten = []
      await app.store.db.transaction().execute(async (transaction) => {
        await keepCalls({ transaction, vault: app.vault }, { projectId, replayId: id }, calls)
        await transaction
          .updateTable('replays')
          .set({
            total,
            status,
            counts: JSON.stringify(counts),
            finishedAt: status === 'running' ? null : new Date(app.now()),
          })
          .where('id', '=', id)
          .execute()
      })
    },
  }
}

/** Waits for the next turn, so that a replay takes no more than its share of the machine. */
function openPace(perSecond: number): (signal: AbortSignal) => Promise<void> {
  let nextMs = performance.now()
  return async (signal) => {
    signal.throwIfAborted()
    const pauseMs = nextMs - performance.now()
    nextMs = Math.max(nextMs, performance.now()) + 1_000 / perSecond
    if (pauseMs > 0) await wait(pauseMs, undefined, { signal })
  }
}
