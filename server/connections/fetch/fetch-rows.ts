import { rm } from 'node:fs/promises'
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
} from './download.ts'
import { toFailure } from '../outbound/error.ts'
import { fillVariables } from '../request/variables.ts'
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
  const configuration = fillVariables(template, { at, lastValue, values: options.values, row: options.row })
  parseExtractor(configuration.responsePathExtractor ?? '')
  buildRequest(configuration)
  const started = performance.now()
  const left = () => Math.max(1, Math.round(options.limits.timeoutMs - (performance.now() - started)))
  const { place, signal } = options
  const token = await options.tokens.token(configuration, { timeoutMs: left(), signal, place })
  if (!token.ok) throw toFailure(token.error)
  const run: LoadRun = { configuration, options, left, at, lastValue, responseBytes: resumed?.responseBytes ?? 0 }
  const request = buildRequest(configuration, token.token)
  try {
    const found =
      options.pagination === undefined ? await onePage(run, request) : await walkPages(run, request, options.pagination)
    return found === null
      ? null
      : { ...found, responseBytes: run.responseBytes, elapsedMs: Math.round(performance.now() - started) }
  } catch (error) {
    const gone = options.checkpoint === undefined ? [options.rowsPath, options.bodyPath] : [options.bodyPath]
    await Promise.all(gone.map((path) => rm(path, { force: true })))
    throw error
  }
}

async function onePage(run: LoadRun, request: OutboundRequest): Promise<DownloadedRows | null> {
  const { bodyPath, ahead, signal, validators } = run.options
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
