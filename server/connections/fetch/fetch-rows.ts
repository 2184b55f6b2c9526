import { rm, writeFile } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { fixedLimits } from '../../../api/limits.ts'
import { type HttpConfiguration } from '../../../api/connections.ts'
import type { Config } from '../../config.ts'
import { parseExtractor } from '../../rows/index.ts'
import { receiveAhead } from './ahead.ts'
import { buildRequest, type OutboundRequest } from '../request/build-request.ts'
import { conditional, isUnchanged, validatorsOf } from './conditional.ts'
import {
  bodyOf,
  download,
  isRefusal,
  statusFailure,
  type FetchedRows,
  type FetchOptions,
  type DownloadedRows,
  type LoadRun,
  type LoadState,
} from './download.ts'
import { toFailure } from '../outbound/error.ts'
import { checkSteps } from '../request/steps.ts'
import { fillVariables } from '../request/variables.ts'
import { Failure } from '../../failure.ts'
import { followSteps } from './follow-steps.ts'
import type { BuiltOrigin, FileOrigin } from './row-origin.ts'
import type { LiveData } from '../../data/index.ts'
import type { CallLimits } from '../../engine/index.ts'
import { lookInto, receivedPage, walkPages } from './walk-pages.ts'
import { errorsInstead, hasNoData, nothingSeen, seenWith, type Seen } from './whole.ts'

/**
 * Calls an external API and brings what it answers to disk: the part of execute before anything is stored. Null where
 * the API says that nothing has changed.
 */
export async function fetchRows(template: HttpConfiguration, options: FetchOptions): Promise<FetchedRows | null> {
  const { resumed = null } = options.checkpoint ?? {}
  const at = resumed === null ? (options.at ?? new Date()) : new Date(resumed.at)
  const lastValue = resumed === null ? (options.lastValue ?? null) : resumed.lastValue
  const moment = { at, lastValue, values: options.values, row: options.row }
  const configuration = fillVariables(template, moment)
  parseExtractor(configuration.responsePathExtractor ?? '')
  buildRequest(configuration)
  checkSteps(template, moment)
  const started = performance.now()
  const left = () => Math.max(1, Math.round(options.limits.timeoutMs - (performance.now() - started)))
  const begun: LoadRun = { configuration, options, left, at, lastValue, responseBytes: resumed?.responseBytes ?? 0 }
  let run = begun
  try {
    run = await afterSteps(begun, template, moment)
    const request = buildRequest(run.configuration, await tokenFor(run))
    const found =
      options.pagination === undefined ? await onePage(run, request) : await walkPages(run, request, options.pagination)
    return found === null
      ? null
      : { ...found, responseBytes: run.responseBytes, elapsedMs: Math.round(performance.now() - started) }
  } catch (error) {
    const gone = options.checkpoint === undefined ? [options.rowsPath, options.bodyPath] : [options.bodyPath]
    await Promise.all(gone.map((path) => rm(path, { force: true })))
    // An export that is there no longer is started again by the next attempt.
    if (run.steps !== undefined && isGone(error)) await options.checkpoint?.save(begunAgain(run))
    throw error
  }
}

/** The state of a load that starts its export again. */
function begunAgain({ at, lastValue }: LoadRun): LoadState {
  return { at: at.toISOString(), lastValue, sizeBytes: 0, responseBytes: 0 }
}

function isGone(error: unknown): boolean {
  const status = error instanceof Failure && error.reason === 'status' ? error.fields?.['upstream_status'] : undefined
  return [400, 403, 404, 410].includes(Number(status))
}

async function tokenFor({ configuration, options, left }: LoadRun): Promise<string | undefined> {
  const { place, signal } = options
  const token = await options.tokens.token(configuration, { timeoutMs: left(), signal, place })
  if (!token.ok) throw toFailure(token.error)
  return token.token
}

/** Larger than what says how far an export is: it is none, and is not looked into. */
const lookedAtBytes = 16_777_216

/** The run of the request for rows, once those before it are done. */
async function afterSteps(
  run: LoadRun,
  template: HttpConfiguration,
  moment: { at: Date; lastValue: LoadRun['lastValue'] },
): Promise<LoadRun> {
  if (template.steps === undefined) return run
  const { checkpoint, pageValues, rowsPath, signal } = run.options
  if (checkpoint?.resumed === null) await writeFile(rowsPath, '')
  const followed = await followSteps(
    { template, moment, resumed: checkpoint?.resumed?.steps },
    {
      leftMs: run.left,
      nowMs: Date.now,
      wait: (ms) => delay(ms, undefined, { signal }).catch(() => signal?.throwIfAborted()),
      async call(configuration, paths) {
        const step = { ...run, configuration }
        const sent = await download(step, buildRequest(configuration, await tokenFor(step)))
        run.responseBytes = step.responseBytes
        if (isRefusal(sent) || sent.decodedBytes > lookedAtBytes) return { sent, outline: null, values: {} }
        return { sent, ...(await pageValues({ body: bodyOf(step, sent), paths, rowPaths: [] })) }
      },
      async save(steps) {
        const { lastValue, responseBytes } = run
        await checkpoint?.save({ at: run.at.toISOString(), lastValue, sizeBytes: 0, responseBytes, steps })
      },
    },
  )
  if (followed.kind === 'ready') return { ...run, configuration: followed.configuration, steps: followed.state }
  if (followed.kind === 'refused') throw statusFailure(followed.sent)
  if (followed.kind === 'failed') {
    await checkpoint?.save(begunAgain(run))
    throw new Failure('upstream_error', { reason: 'upstream_errors', message: followed.message })
  }
  const hint =
    checkpoint === undefined
      ? 'Refresh the datasource instead: that may take hours.'
      : 'The next attempt goes on waiting for it.'
  throw new Failure('upstream_timeout', { message: followed.kind === 'late' ? `${followed.message} ${hint}` : hint })
}

async function onePage(run: LoadRun, request: OutboundRequest): Promise<DownloadedRows | null> {
  const { bodyPath, signal, validators } = run.options
  // Included resources stand behind the rows.
  const ahead = run.configuration.included === true ? undefined : run.options.ahead
  await using body = receiveAhead(bodyPath, ahead, { bodyOf: (head) => bodyOf(run, head), signal })
  const sent = await download(run, conditional(request, validators), { sink: body.sink })
  if (isUnchanged(sent, request, validators)) return null
  if (isRefusal(sent)) throw statusFailure(sent)
  const source = { kind: 'answer' as const, ...bodyOf(run, sent) }
  const looked = await lookInto(run, sent, { isFirst: true })
  const seen = (rowCount: number): Seen => {
    const found = seenWith(nothingSeen, receivedPage(run, sent, { looked, rowCount }))
    if (rowCount === 0 && found.errors !== null) throw errorsInstead(new URL(sent.url).host, found.errors, 1)
    return found
  }
  if (looked.outline !== null && hasNoData(looked.outline)) seen(0)
  const converted = await body.converted()
  return { source, converted, pages: 1, truncated: false, seen, validators: validatorsOf(request, sent) }
}

/** Rows that the engine made of other tables are whole, or it failed. */
export async function rowsOfTables(
  from: BuiltOrigin,
  path: string,
  { base, limits }: { base: LiveData | null; limits: CallLimits },
): Promise<FetchedRows> {
  const started = performance.now()
  const written = await from.write(path, base, limits)
  const seen = (rows: number): Seen => ({ ...nothingSeen, rows })
  const elapsedMs = Math.round(performance.now() - started)
  const source = { kind: 'table' as const, path, ...written }
  return { source, pages: 1, truncated: false, seen, validators: null, responseBytes: written.sizeBytes, elapsedMs }
}

/** A file is there already. */
export function rowsOfFile({ limits }: Config, from: FileOrigin): FetchedRows {
  const { path, contentType, extractor, sizeBytes } = from
  const maxDepth = fixedLimits.jsonDepth.value
  const body = { path, contentType, extractor, maxDepth, maxBytes: limits.loadResponseBytes }
  const source = { kind: 'answer' as const, ...body }
  const seen = (rows: number): Seen => ({ ...nothingSeen, rows })
  return { source, pages: 1, truncated: false, seen, validators: null, responseBytes: sizeBytes, elapsedMs: 0 }
}
