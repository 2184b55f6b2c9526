import { outcomeOf, tellCall, type CallRecord } from './record.ts'
import type { CacheState, Run, RunParts } from './run-types.ts'

type Measured = { rows: number; bytes: number }
type Executed = { sqlMs: number; cache: CacheState | null }
export type Watch = {
  done(measured: Measured & Executed): void
  failed(error: unknown, measured?: Measured): void
}

/** Says once how a run went, whichever way it ended. */
export function watchRun(app: RunParts, run: Run): Watch {
  const startedMs = performance.now()
  noteCaller(app, run)
  return {
    done: (measured) => tellRun(app, run, { startedMs, ...answered(run), ...measured }),
    failed(error, measured = { rows: 0, bytes: 0 }) {
      tellRun(app, run, { startedMs, ...outcomeOf(error), ...measured, sqlMs: 0, cache: null })
    },
  }
}

export function noteCaller(app: RunParts, { caller, environment, version }: Run): void {
  if (caller === null || environment === null) return
  app.queryCallers.note({ queryId: version.queryId, environment, keyId: caller.key.id })
}

type Outcome = Pick<CallRecord, 'code' | 'reason'>

export function answered({ caveat }: Run): Outcome {
  return { code: null, reason: caveat ?? null }
}

export function tellRun(app: RunParts, run: Run, ended: Outcome & Measured & Executed & { startedMs: number }): void {
  const { routeMs, version } = run
  const { sqlMs } = ended
  const runMs = performance.now() - ended.startedMs
  tellCall(app, run.caller, {
    requestId: run.requestId,
    projectId: run.projectId,
    environment: run.environment,
    query: run.name === '' ? null : run.name,
    version: version.number,
    keyId: run.caller?.key.id ?? null,
    entry: run.entry,
    question: run.question,
    routeMs,
    code: ended.code,
    reason: ended.reason,
    totalMs: runMs + (routeMs ?? 0),
    queueMs: Math.max(0, runMs - sqlMs),
    sqlMs,
    rows: ended.rows,
    bytes: ended.bytes,
    cache: ended.cache,
  })
  if (!app.callWatch.isOn) return
  if (ended.code === null) app.callWatch.received(run)
  else app.callWatch.receivedFailed(run)
}
