import { systemCaller } from '../access/index.ts'
import { openPeriodic, type Periodic } from '../flow/index.ts'
import type { Observe } from '../observe.ts'
import {
  endTrial,
  listTrials,
  noteTrial,
  stepTrial,
  type Deployments,
  type DeployGate,
  type TrialRecord,
} from '../queries/index.ts'
import { takeLease, type Database } from '../store/index.ts'
import { figuresByVersion, type Usage } from '../usage/index.ts'
import { comparedCalls, totalOf } from './counts.ts'
import { hasSeenEnough, judgeTrial, type Compared, type QueryFigures } from './judge-trial.ts'
import { readReplay } from './replay-records.ts'

/** Steps releases that are tried out up, or takes them back. */
export type Canaries = {
  /** Judges each as of now, unless another process is at it: false then. */
  judge(): Promise<boolean>
  /** From now on this process does it by itself. */
  start(): void
  close(): Promise<void>
}

type Parts = {
  store: Database
  usage: Usage
  deployments: Deployments
  deployGate: DeployGate
  observe: Observe
  now: () => number
}

const leaseName = 'canaries'
/** Shares are counted in ten-thousandths. */
const all = 10_000

export function openCanaries(app: Parts, intervalMs: number): Canaries {
  let judging: Periodic | undefined
  const judge = async (): Promise<boolean> => {
    const trials = await listTrials(app)
    await finishReplays(app.store, trials)
    if (trials.length === 0) return true
    await using lease = await takeLease(app.store, leaseName)
    if (lease === undefined) return false
    // Calls seen by this process count too; without the flush the round is a second behind.
    await app.usage.flush().catch(() => undefined)
    for (const trial of trials) {
      await judgeOne(app, trial).catch((error: unknown) => app.observe({ kind: 'fault', where: 'canaries', error }))
    }
    return true
  }
  return {
    judge,
    start() {
      const onError = (error: unknown): void => app.observe({ kind: 'fault', where: 'canaries', error })
      judging = openPeriodic({ everyMs: intervalMs, work: judge, onError })
    },
    close: async () => judging?.close(),
  }
}

/**
 * Evidence against a canary is looked at first; then, where its time has come and enough was seen, it gets a larger
 * share.
 */
async function judgeOne(app: Parts, trial: TrialRecord): Promise<void> {
  const { releaseId, rules, share, steppedAt } = trial
  const at = new Date(app.now())
  const queries = await figuresOf(app, trial, at)
  const compared = await comparedOf(app, trial)
  await noteTrial(app, { releaseId, queries, compared, judgedAt: at.toISOString() })
  if (trial.kind === 'shadow') return
  const because = judgeTrial(rules, queries, compared)
  if (because !== null) {
    await endTrial(app, systemCaller, { releaseId, as: 'rolled_back', because, at })
    return
  }
  if (rules.step === null || at.getTime() - steppedAt.getTime() < rules.step.seconds * 1000) return
  if (!hasSeenEnough(rules, queries)) return
  const next = Math.min(all, share + Math.round(rules.step.percent * 100))
  if (share >= all) await endTrial(app, systemCaller, { releaseId, as: 'released', because: null, at })
  else await stepTrial(app, systemCaller, { releaseId, from: share, to: next, at })
}

/** Since it got its share, on the version that is tried out and on the one before. */
async function figuresOf(app: Parts, trial: TrialRecord, to: Date): Promise<QueryFigures[]> {
  const figures = await figuresByVersion(app.store, trial, { from: trial.steppedAt, to })
  const of = (query: string, version: number | null) => {
    const found = figures.find((each) => each.query === query && each.version === version)
    return found ?? { calls: 0, errors: 0, p95Ms: null }
  }
  return trial.versions.map(({ name, version, previousVersion }) => {
    return { query: name, after: of(name, version), before: of(name, previousVersion) }
  })
}

async function comparedOf(app: Parts, { replayId }: TrialRecord): Promise<Compared> {
  const replay = replayId === null ? undefined : await readReplay(app.store, replayId)
  const counts = totalOf(replay?.counts ?? {})
  return { calls: comparedCalls(counts), different: counts.different + counts.failed, dropped: counts.dropped }
}

/** Finishes replays of releases that are no longer tried out, however they ended. */
async function finishReplays({ db }: Database, trials: TrialRecord[]): Promise<void> {
  const running = trials.flatMap(({ replayId }) => replayId ?? [])
  await db
    .updateTable('replays')
    .set({ status: 'finished', finishedAt: new Date() })
    .where('status', '=', 'running')
    .where('kind', '!=', 'replay')
    .$if(running.length > 0, (query) => query.where('id', 'not in', running))
    .execute()
}
