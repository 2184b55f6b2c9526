import { fixedLimits } from '../../api/limits.ts'
import { maxRedirects } from './outbound/redirect.ts'
import { rm, writeFile } from 'node:fs/promises'
import type { ApiConfiguration, HttpConfiguration, TestConnectionAnswer } from '../../api/connections.ts'
import { personOf, requireRole, type Attempts, type Caller, type Vault } from '../access/index.ts'
import type { Files } from '../files/index.ts'
import type { TableBuilder } from '../engine/index.ts'
import { Failure } from '../failure.ts'
import { probe, type PeekAsked } from './probe.ts'
import { startOf } from './request/last-value.ts'
import { exampleWindow } from './fetch/windows.ts'
import { namedValuesFor } from './apis/named-values.ts'
import {
  apiNamed,
  apiTried,
  givenRequest,
  openRequest,
  selectRequests,
  type StoredRequest,
} from './apis/shared-apis.ts'
import type { Preview } from '../rows/index.ts'
import type { Database, LoadRule } from '../store/index.ts'
import type { Paces } from './outbound/pace.ts'
import type { Outbound } from './outbound/send.ts'
import type { TokenSource } from './oauth/token-source.ts'
import type { Clock } from '../clock.ts'
import type { Config } from '../config.ts'

type TestApp = {
  store: Database
  vault: Vault
  outbound: Outbound
  tokens: TokenSource
  paces: Paces
  files: Files
  builder: TableBuilder
  connectionTests: Attempts
  config: Config
  now: Clock
}

/** Calls an external API and tells what came back, without storing anything. */
export async function testConnection(
  app: TestApp,
  caller: Caller,
  input: {
    configuration: HttpConfiguration
    /** The API that it names, in place of the stored one. */
    apiConfiguration?: ApiConfiguration | undefined
    /** Whose variables and secrets the request may name. */
    projectId?: string | undefined
    /** Where in the project the secrets shown as `***` are stored. */
    datasourceId?: string | undefined
    signal?: AbortSignal | undefined
    /** The value of `{{last_value}}`. */
    lastValue?: string | number | undefined
    /** Whether to say what the answer looks like. */
    detect?: boolean | undefined
  },
): Promise<TestConnectionAnswer> {
  const { limits } = app.config
  const { projectId, datasourceId } = input
  if (projectId === undefined) countTest(app, caller)
  else await requireRole(app, caller, projectId, 'editor')
  const isStored = projectId !== undefined && datasourceId !== undefined
  const stored = isStored ? await findStored(app, { projectId, datasourceId }) : undefined
  const { api: name } = input.configuration
  const api =
    input.apiConfiguration === undefined
      ? await apiNamed(app, projectId, input.configuration)
      : await apiTried(app, projectId, { name, config: input.apiConfiguration })
  const { configuration, hasApiAuth } = givenRequest({ configuration: input.configuration, api }, stored).origin
  const isGranted = configuration.authType === 'OAuth2 Authorization Code' && projectId !== undefined
  const apiId = hasApiAuth && api?.id !== '' ? api?.id : undefined
  const place = isGranted ? { projectId, datasourceId, apiId } : undefined
  const values = await namedValuesFor(app, projectId, configuration)
  return probe(configuration, {
    values,
    outbound: app.outbound,
    tokens: app.tokens,
    place,
    pace: app.paces.of(api),
    limits: {
      timeoutMs: limits.testTimeoutMs,
      previewBytes: limits.testPreviewBytes,
      redirects: maxRedirects,
      retries: (api?.tries ?? limits.outboundTries) - 1,
      maxDepth: fixedLimits.jsonDepth.value,
    },
    at: new Date(app.now()),
    row: exampleWindow(app.now()),
    lastValue: startOf(loadOf(input.lastValue) ?? stored?.load ?? { mode: 'replace' }, null),
    peek: (bytes, asked) =>
      peekAt(app, bytes, { asked, scope: projectId ?? callerScope(caller), signal: input.signal }),
    detects: input.detect,
    signal: input.signal,
  })
}

/** Without a project no role is asked for, so that each person has a number of tests. The operator has no limit. */
function countTest({ connectionTests }: TestApp, caller: Caller): void {
  if (caller.kind === 'operator' || caller.kind === 'system') return
  const waitSeconds = connectionTests.waitSeconds(callerScope(caller))
  if (waitSeconds > 0) {
    const message = `You have tested many connections. Wait ${waitSeconds} s, or name a project that you build in as project_id.`
    throw new Failure('rate_limit_exceeded', { message, retryAfterSeconds: waitSeconds })
  }
  connectionTests.recordFailure(callerScope(caller))
}

/** Whose turn it is in the executors, and who is counted, where no project is named. */
function callerScope(caller: Caller): string {
  return personOf(caller) ?? (caller.kind === 'token' ? caller.tokenId : 'system')
}

async function peekAt(
  { files, builder, config: { limits } }: TestApp,
  bytes: Buffer,
  { asked, scope, signal }: { asked: PeekAsked; scope: string; signal: AbortSignal | undefined },
): Promise<Preview> {
  const { contentType, extractor, maxDepth, ...call } = asked
  const path = files.temporaryPath('body')
  try {
    await writeFile(path, bytes, { mode: 0o600 })
    const body = {
      path,
      contentType,
      extractor: extractor === '' ? undefined : extractor,
      maxDepth,
      maxBytes: limits.executeResponseBytes,
    }
    const reading = { body, workPath: files.temporaryPath('peek'), readBytes: limits.testPreviewBytes }
    return await builder.peek(
      scope,
      { ...call, ...reading },
      { timeoutMs: limits.testTimeoutMs, ...(signal && { signal }) },
    )
  } finally {
    await rm(path, { force: true })
  }
}

async function findStored(
  app: { store: Database; vault: Vault },
  { projectId, datasourceId }: { projectId: string; datasourceId: string },
): Promise<StoredRequest & { load: LoadRule }> {
  const row = await selectRequests(app.store.db)
    .select('load')
    .where('datasources.projectId', '=', projectId)
    .where('datasources.id', '=', datasourceId)
    .executeTakeFirst()
  if (row === undefined) throw new Failure('not_found', { message: `The project has no datasource ${datasourceId}.` })
  return { ...openRequest(app.vault, row), load: row.load }
}

/** As if a load began there. */
function loadOf(initialValue: string | number | undefined): LoadRule | undefined {
  return initialValue === undefined ? undefined : { mode: 'append', cursor: { field: '', initialValue } }
}
