import { placeFor, resolveCall, withFixedParameters, type KeyCaller } from '../access/index.ts'
import type { App } from '../app.ts'
import { Failure } from '../failure.ts'
import type { Deployment, LiveVersion } from './deployment-index.ts'
import type { Run } from './run.ts'

export type DirectCall = {
  name: string
  /** Where it says it goes; what it leaves out follows from the key. */
  projectId?: string | undefined
  environment?: string | undefined
  /** Pins a version that was live in that environment at some time. */
  version?: number | undefined
  parameters: Readonly<Record<string, unknown>>
  fresh: boolean
  signal: () => AbortSignal
}

type Parts = Pick<App, 'deployments' | 'observe'>

/** From what a direct call says to what is to be run, or the refusal. Waits only for a version that is pinned. */
export function directRun(app: Parts, caller: KeyCaller, call: DirectCall): Run | Promise<Run> {
  try {
    const { name, projectId, environment } = call
    const place = resolveCall(caller.key, { projectId, environment, queryName: name }, app.deployments)
    const deployment = app.deployments.find({ projectId: place.projectId, environment: place.environment, name })
    if (deployment === undefined) throw new Failure('query_not_found')
    if (call.version === undefined) return runOf(caller, call, deployment, deployment.version)
    return pinnedRun(app, caller, { call, deployment, version: call.version })
  } catch (error) {
    throw told(app, caller, call, error)
  }
}

async function pinnedRun(
  app: Parts,
  caller: KeyCaller,
  { call, deployment, version: number }: { call: DirectCall; deployment: Deployment; version: number },
): Promise<Run> {
  try {
    const version = await app.deployments.pinned(deployment, number)
    if (version !== undefined) return runOf(caller, call, deployment, version)
    throw new Failure('query_not_found', {
      message: `Version ${number} of ${deployment.name} was never deployed to ${deployment.environment}.`,
    })
  } catch (error) {
    throw told(app, caller, call, error)
  }
}

function runOf(
  { key, requestId }: KeyCaller,
  { parameters, fresh, signal }: DirectCall,
  { projectId, environment, name }: Deployment,
  version: LiveVersion,
): Run {
  return {
    projectId,
    environment,
    name,
    version,
    parameters: withFixedParameters(key, parameters, version.compiled().names),
    keyId: key.id,
    requestId,
    entry: 'direct',
    fresh,
    signal,
  }
}

function told(app: Parts, caller: KeyCaller, call: DirectCall, error: unknown): unknown {
  if (error instanceof Failure) tellRefusal(app, caller, { ...call, entry: 'direct', failure: error })
  return error
}

export type RefusedCall = Pick<DirectCall, 'projectId' | 'environment'> & {
  entry: Run['entry']
  name: string | null
  failure: Failure
}

/** A call that came to no run is a call all the same. */
export function tellRefusal(
  app: Pick<App, 'observe'>,
  caller: KeyCaller,
  { entry, name, failure, ...address }: RefusedCall,
): void {
  app.observe({
    kind: 'query-answered',
    requestId: caller.requestId,
    entry,
    ...placeFor(caller.key, address),
    query: name,
    version: null,
    keyId: caller.key.id,
    code: failure.code,
    reason: failure.reason ?? null,
    totalMs: 0,
    queueMs: 0,
    sqlMs: 0,
    rows: 0,
    bytes: 0,
    cache: null,
  })
}
