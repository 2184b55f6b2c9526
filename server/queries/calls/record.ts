import { placeFor, type KeyCaller } from '../../access/index.ts'
import { Failure } from '../../failure.ts'
import type { Observation, Observe } from '../../observe.ts'

export type CallRecord = Omit<Extract<Observation, { kind: 'query-answered' }>, 'kind'>

/** Says how a call ended: once, whoever comes first. A preview has no caller with a key and is told as it comes. */
export function tellCall(app: { observe: Observe }, caller: KeyCaller | null, record: CallRecord): void {
  if (caller !== null) {
    if (caller.isRecorded) return
    caller.isRecorded = true
  }
  // In this order V8 copies the record as a whole; with `kind` first it adds each field by itself, for every call.
  app.observe({ ...record, kind: 'query-answered' })
}

export type RefusedCall = {
  entry: CallRecord['entry']
  /** Where it said it goes, as far as it came to be known. */
  projectId?: string | undefined
  environment?: string | undefined
  name: string | null
  error: unknown
  question?: CallRecord['question']
  routeMs?: number | undefined
}

/** A call that came to no run is a call all the same. For verbs, and for a transport that refuses one before any verb. */
export function tellRefusal(app: { observe: Observe }, caller: KeyCaller, refused: RefusedCall): void {
  const { entry, name, error, question, routeMs, projectId, environment } = refused
  tellCall(app, caller, {
    requestId: caller.requestId,
    entry,
    ...placeFor(caller.key, { projectId, environment }),
    query: name,
    version: null,
    keyId: caller.key.id,
    question,
    routeMs,
    ...outcomeOf(error),
    totalMs: routeMs ?? 0,
    queueMs: 0,
    sqlMs: 0,
    rows: 0,
    bytes: 0,
    cache: null,
  })
}

export function outcomeOf(error: unknown): Pick<CallRecord, 'code' | 'reason'> {
  if (error instanceof Failure) return { code: error.code, reason: error.reason ?? null }
  // A hang-up aborts the signal of the call, and code that waits on it ends with the signal's own reason.
  const isAborted = error instanceof Error && error.name === 'AbortError'
  return { code: isAborted ? 'cancelled' : 'internal_error', reason: null }
}
