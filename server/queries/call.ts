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

/** From what a direct call says to what is to be run, or the refusal. */
export async function directRun(
  app: Pick<App, 'deployments' | 'observe'>,
  caller: KeyCaller,
  call: DirectCall,
): Promise<Run> {
  const { name, fresh, signal } = call
  const { key } = caller
  try {
    const place = resolveCall(key, { ...call, queryName: name }, app.deployments)
    const deployment = app.deployments.find({ ...place, name })
    if (deployment === undefined) throw new Failure('query_not_found')
    const version = await chooseVersion(app, deployment, call.version)
    const parameters = withFixedParameters(key, call.parameters, [...version.compiled().names])
    return {
      ...place,
      name,
      version,
      parameters,
      keyId: key.id,
      requestId: caller.requestId,
      entry: 'direct',
      fresh,
      signal,
    }
  } catch (error) {
    if (error instanceof Failure) tellRefusal(app, caller, { ...call, entry: 'direct', failure: error })
    throw error
  }
}

async function chooseVersion(
  app: Pick<App, 'deployments'>,
  deployment: Deployment,
  pinned: number | undefined,
): Promise<LiveVersion> {
  if (pinned === undefined) return deployment.version
  const version = await app.deployments.pinned(deployment, pinned)
  if (version !== undefined) return version
  throw new Failure('query_not_found', {
    message: `Version ${pinned} of ${deployment.name} was never deployed to ${deployment.environment}.`,
  })
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
