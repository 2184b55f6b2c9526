import { admitToQuery, resolveCall, withFixedParameters, type Buckets, type KeyCaller } from '../../access/index.ts'
import type { ReadFormat } from '../../engine/index.ts'
import { Failure } from '../../failure.ts'
import { versionFor, type Deployment, type LiveVersion } from '../deployed/deployment-index.ts'
import type { Deployments } from '../deployed/deployments.ts'
import { fileAnswer } from './file-answer.ts'
import type { FileAnswer, KeptFiles } from './kept-files.ts'
import { tellRefusal } from './record.ts'
import { listedSlots } from '../deployed/listed-values.ts'
import { findUnknownValues } from './unknown-values.ts'
import { valuesOfTexts, type TextValues } from '../slots/slot-values.ts'
import { readyAnswer, runQuery, streamQuery } from './run.ts'
import type { Run, RunAnswer, RunParts, StreamAnswer } from './run-types.ts'

/** The input of a direct call, whichever way it came. */
export type Call = {
  name: string
  /** Which way it came. */
  entry?: 'direct' | 'tool'
  /** Where it says it goes; what it leaves out follows from the key. */
  projectId?: string | undefined
  environment?: string | undefined
  /** Pins a version that was live in that environment at some time. */
  version?: number | undefined
  parameters: Readonly<Record<string, unknown>> | TextValues
  /** In parts and in this format; without it, the whole result as JSON. */
  streamAs?: ReadFormat | undefined
  /** As a file of `streamAs`, of which parts can be sent. */
  keepFile?: boolean
  /** Asks for a new execution whatever is kept. */
  fresh: boolean
  signal: () => AbortSignal
}

export type RowsAnswer = RunAnswer | StreamAnswer
export type CallAnswer = RowsAnswer | FileAnswer

export type CallParts = RunParts & {
  keptFiles: KeptFiles
  deployments: Deployments
  buckets: Buckets
}

/**
 * Calls a deployed query: finds it, counts the call against the query's own limit, and answers with what is kept, with
 * the whole result or with a stream. How it ended is told once. An answer that is kept is there without a wait.
 */
export function call(app: CallParts, caller: KeyCaller, input: Call): CallAnswer | Promise<CallAnswer> {
  try {
    const deployment = findDeployment(app, caller, input)
    const version = versionFor(deployment, caller.key.id)
    if (input.version !== undefined || version.rateLimit !== null) {
      return callLater(app, caller, { input, deployment, version })
    }
    return answerAs(app, runOf(caller, input, deployment, version), input)
  } catch (error) {
    tellRefusal(app, caller, { ...input, entry: input.entry ?? 'direct', error })
    throw error
  }
}

async function callLater(
  app: CallParts,
  caller: KeyCaller,
  { input, deployment, version: usual }: { input: Call; deployment: Deployment; version: LiveVersion },
): Promise<CallAnswer> {
  try {
    const version = await findVersion(app, input, { deployment, usual })
    refuseUnfixed(caller, { version, usual })
    const run = runOf(caller, input, deployment, version)
    await limitRun(app, caller, run)
    return await answerAs(app, run, input)
  } catch (error) {
    tellRefusal(app, caller, { ...input, entry: input.entry ?? 'direct', error })
    throw error
  }
}

/** Counts a run against the limit that its query has of its own. */
export async function limitRun(
  app: { buckets: Buckets },
  caller: KeyCaller,
  { name, version: { queryId: id, rateLimit } }: Run,
): Promise<void> {
  if (rateLimit !== null) await admitToQuery(app, caller, { id, name, rateLimit })
}

function answerAs(app: CallParts, run: Run, { streamAs, keepFile }: Call): CallAnswer | Promise<CallAnswer> {
  return keepFile === true && streamAs !== undefined ? fileAnswer(app, run, streamAs) : answerRun(app, run, streamAs)
}

/** The one way of calls and questions to their rows. */
export function answerRun(app: RunParts, run: Run, streamAs: ReadFormat | undefined): RowsAnswer | Promise<RowsAnswer> {
  if (streamAs !== undefined) return withLateWarnings(app, run, streamQuery(app, run, streamAs))
  const ready = readyAnswer(app, run)
  if (listedSlots(run.version.slots).length === 0) return ready ?? runQuery(app, run)
  return ready !== undefined && ready.answer.rowCount > 0 ? ready : withWarnings(app, run, ready ?? runQuery(app, run))
}

/**
 * An answer without rows says which values of the call no row has; not to a key with fixed values, which other callers'
 * rows are not for.
 */
async function withWarnings(
  app: RunParts,
  { version, caller }: Run,
  running: RunAnswer | Promise<RunAnswer>,
): Promise<RunAnswer> {
  const answered = await running
  if (answered.answer.rowCount > 0 || !mayHearOfValues(caller)) return answered
  const { projectId, parameters } = answered
  const unknown = await findUnknownValues(app, { projectId, version, parameters })
  return unknown === null ? answered : { ...answered, unknown }
}

/** A stream says the same, once it has ended without rows. */
async function withLateWarnings(
  app: RunParts,
  { version, caller }: Run,
  running: Promise<StreamAnswer>,
): Promise<StreamAnswer> {
  const answered = await running
  if (listedSlots(version.slots).length === 0 || !mayHearOfValues(caller)) return answered
  const { projectId, parameters } = answered
  return { ...answered, findUnknown: () => findUnknownValues(app, { projectId, version, parameters }) }
}

function mayHearOfValues(caller: Run['caller']): boolean {
  return Object.keys(caller?.key.fixedParameters ?? {}).length === 0
}

function findDeployment(
  app: { deployments: Deployments },
  { key }: KeyCaller,
  { name, projectId, environment }: Call,
): Deployment {
  const place = resolveCall(key, { projectId, environment, queryName: name }, app.deployments)
  const deployment = app.deployments.find({ projectId: place.projectId, environment: place.environment, name })
  if (deployment === undefined) throw new Failure('query_not_found')
  return deployment
}

async function findVersion(
  app: { deployments: Deployments },
  { version: number }: Call,
  { deployment, usual }: { deployment: Deployment; usual: LiveVersion },
): Promise<LiveVersion> {
  if (number === undefined || number === usual.number) return usual
  const version = await app.deployments.pinned(deployment, number)
  if (version !== undefined) return version
  throw new Failure('query_not_found', {
    message: `Version ${number} of ${deployment.name} was never deployed to ${deployment.environment}.`,
  })
}

/**
 * A version that lacks a slot which the key fixes has the rows of everybody: a key that the present version holds to
 * its own rows may not go back to one from before.
 */
function refuseUnfixed({ key }: KeyCaller, { version, usual }: { version: LiveVersion; usual: LiveVersion }): void {
  if (version === usual) return
  const had = usual.compiled().names
  const has = version.compiled().names
  const lost = Object.keys(key.fixedParameters).filter((name) => had.has(name) && !has.has(name))
  if (lost.length === 0) return
  const slots = lost.join(', ')
  throw new Failure('permission_denied', {
    message: `The API key fixes ${slots}, and version ${version.number} of the query has no such slot: it is not for this key.`,
  })
}

function valuesFor(version: LiveVersion, parameters: Call['parameters']): Readonly<Record<string, unknown>> {
  return parameters instanceof Map ? valuesOfTexts(version.slots, parameters) : (parameters as Record<string, unknown>)
}

function runOf(
  caller: KeyCaller,
  { parameters, fresh, signal, entry = 'direct' }: Call,
  { projectId, environment, name }: Deployment,
  version: LiveVersion,
): Run {
  return {
    projectId,
    environment,
    name,
    version,
    parameters: withFixedParameters(caller.key, valuesFor(version, parameters), version.compiled().names),
    caller,
    requestId: caller.requestId,
    entry,
    fresh,
    signal,
  }
}
