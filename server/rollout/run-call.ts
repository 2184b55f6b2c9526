import type { Catalogs, ProjectCatalog } from '../data/index.ts'
import type { QueryEngine } from '../engine/index.ts'
import type { Config } from '../config.ts'
import { Failure, listProblems } from '../failure.ts'
import { checkSlots, type LiveVersion } from '../queries/index.ts'
import type { ReplayOutcome } from '../store/index.ts'
import { compareResults, type Comparison } from './compare/compare.ts'
import { collectSide, type Side } from './compare/side.ts'

/** One call on two versions. */
export type ComparedCall = {
  outcome: ReplayOutcome
  /** Why it was not run or compared. */
  because: string | null
  before: Ran | null
  after: Ran | null
  comparison: Comparison | null
}

/** Result of one version. */
export type Ran = { rowCount: number; bytes: number; elapsedMs: number; truncated: boolean } | { error: CallError }

export type CallError = { code: string; reason: string | null; message: string }

type Parts = { engine: QueryEngine; catalogs: Catalogs; config: Pick<Config, 'limits'> }

export type CallOnTwo = {
  projectId: string
  before: LiveVersion
  after: LiveVersion
  parameters: Record<string, unknown>
  signal?: AbortSignal | undefined
}

/** Results beyond so many rows are compared as a whole. */
const maxDigests = 200_000

/**
 * Runs a call on two versions over the same data, behind the callers, and compares what they answer. Where they differ
 * the older one runs once more: what does not agree with itself (a random sample, the time of day) says nothing of the
 * newer one.
 */
export async function compareCall(app: Parts, call: CallOnTwo): Promise<ComparedCall> {
  const catalog = await app.catalogs.get(call.projectId)
  const execute = (version: LiveVersion): Promise<Executed> =>
    run(app, call, { version, catalog: catalog.together(Object.keys(version.tables)) })
  const before = await execute(call.before)
  const after = await execute(call.after)
  const both = { before: ranOf(before), after: ranOf(after) }
  if ('error' in before || 'error' in after) return { ...both, ...judgeErrors(before, after), comparison: null }
  const keys = keysOf(catalog, call.before)
  const comparison = await compareResults(before.side, after.side, keys)
  if (comparison === null) {
    const because = 'The results are too large to compare while their columns differ.'
    return { ...both, outcome: 'skipped', because, comparison }
  }
  if (comparison.outcome !== 'different') return { ...both, outcome: comparison.outcome, because: null, comparison }
  const again = await execute(call.before)
  const isStable = !('error' in again) && (await compareResults(before.side, again.side, keys))?.outcome !== 'different'
  if (isStable) return { ...both, outcome: 'different', because: null, comparison }
  return { ...both, outcome: 'unstable', because: 'The older version does not answer twice alike.', comparison }
}

/** Larger results are compared by digests instead of row by row. */
const maxTextBytes = 8_388_608

type Executed = { side: Side; elapsedMs: number } | { error: CallError }

async function run(
  app: Parts,
  { projectId, parameters, signal }: CallOnTwo,
  { version, catalog }: { version: LiveVersion; catalog: ProjectCatalog },
): Promise<Executed> {
  const { queryRows, queryBytes, queryTimeoutMs } = app.config.limits
  const bound = checkSlots(version.compiled(), parameters)
  if ('details' in bound) {
    const message = listProblems(bound.details, bound.more).slice(0, 1_000)
    return { error: { code: 'invalid_query', reason: 'invalid_slots', message } }
  }
  try {
    const stream = await app.engine.streamBehind(projectId, catalog, {
      dialect: version.dialect,
      sql: version.sql,
      slots: bound.slots,
      format: 'ndjson',
      maxRows: version.maxRows ?? queryRows,
      maxBytes: version.maxBytes ?? queryBytes,
      timeoutMs: version.timeoutMs ?? queryTimeoutMs,
      ...(signal !== undefined && { signal }),
    })
    const side = collectSide(stream.columns, { maxTextBytes, maxDigests })
    for await (const { bytes } of stream.chunks) side.add(bytes)
    const end = stream.end()
    return { side: side.end(end?.truncated ?? true), elapsedMs: end?.elapsedMs ?? 0 }
  } catch (error) {
    signal?.throwIfAborted()
    if (!(error instanceof Failure)) throw error
    return { error: { code: error.code, reason: error.reason ?? null, message: error.message } }
  }
}

/** Two that fail alike are equal; a newer version that answers where the older one failed is another answer. */
function judgeErrors(before: Executed, after: Executed): Pick<ComparedCall, 'outcome' | 'because'> {
  const busy = [before, after].find((each) => 'error' in each && each.error.code === 'overloaded')
  if (busy !== undefined) return { outcome: 'skipped', because: 'There was no room to run it.' }
  if (!('error' in after)) return { outcome: 'different', because: null }
  const isSame = 'error' in before && before.error.code === after.error.code
  return { outcome: isSame ? 'equal' : 'failed', because: null }
}

function ranOf(executed: Executed): Ran {
  if ('error' in executed) return executed
  const { rowCount, bytes, truncated } = executed.side
  return { rowCount, bytes, truncated, elapsedMs: Math.round(executed.elapsedMs * 10) / 10 }
}

/** Keys that the tables declare for their rows. */
function keysOf(catalog: ProjectCatalog, { tables }: LiveVersion): string[][] {
  return catalog.tables.flatMap(({ name, parted }) => (Object.hasOwn(tables, name) && parted?.key ? [parted.key] : []))
}
