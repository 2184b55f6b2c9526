import { rm, writeFile } from 'node:fs/promises'
import type { HttpConfiguration, TestConnectionAnswer } from '../../api/connections.ts'
import { requireRole, type Caller, type Vault } from '../access/index.ts'
import type { Files, Peeked, TableBuilder } from '../data/index.ts'
import { Failure } from '../failure.ts'
import { probe } from './probe.ts'
import { startOf } from './request/last-value.ts'
import { namedValuesFor } from './sources/named-values.ts'
import { openConfiguration } from './sources/stored-configuration.ts'
import { restoreConfiguration } from './secrets/mask.ts'
import { namesIn } from './request/variables.ts'
import type { Database, LoadRule } from '../store/index.ts'
import type { Outbound } from './outbound/send.ts'
import type { TokenSource } from './oauth/token-source.ts'
import type { GrantPlace } from './oauth/token.ts'
import type { Clock } from '../clock.ts'
import type { Config } from '../config.ts'

type TestApp = {
  store: Database
  vault: Vault
  outbound: Outbound
  tokens: TokenSource
  files: Files
  builder: TableBuilder
  config: Config
  now: Clock
}

/** Calls an external API and tells what came back, without storing anything. */
export async function testConnection(
  app: TestApp,
  caller: Caller,
  input: {
    configuration: HttpConfiguration
    /** Where the secrets shown as `***` are stored. */
    stored?: { projectId: string; datasourceId: string } | undefined
    /** Whose variables and secrets the request may name. */
    projectId?: string | undefined
    signal?: AbortSignal | undefined
    /** What `{{last_value}}` stands for. */
    lastValue?: string | number | undefined
    /** Whether to say what the answer looks like. */
    detect?: boolean | undefined
  },
): Promise<TestConnectionAnswer> {
  const { limits } = app.config
  const stored = input.stored === undefined ? undefined : await findStored(app, caller, input.stored)
  const configuration = restoreConfiguration(input.configuration, stored?.configuration)
  // Only who may build with a project's secrets learns whether there is such a project.
  const needsProject = namesIn(configuration).length > 0 || configuration.environment !== undefined
  if (needsProject && input.projectId !== undefined) await requireRole(app, caller, input.projectId, 'editor')
  const place = await grantPlace(app, caller, { configuration, projectId: input.projectId, stored: input.stored })
  const values = await namedValuesFor(app, input.projectId, configuration)
  return probe(configuration, {
    values,
    outbound: app.outbound,
    tokens: app.tokens,
    place,
    limits: {
      timeoutMs: limits.testTimeoutMs,
      previewBytes: limits.testPreviewBytes,
      redirects: limits.outboundRedirects,
      retries: limits.outboundTries - 1,
      maxDepth: limits.jsonDepth,
    },
    at: new Date(app.now()),
    lastValue: startOf(loadOf(input.lastValue) ?? stored?.load ?? { mode: 'replace' }, null),
    peek: (bytes, contentType, extractor) =>
      peekAt(app, bytes, {
        contentType,
        extractor,
        scope: input.projectId ?? callerScope(caller),
        signal: input.signal,
      }),
    detects: input.detect,
    signal: input.signal,
  })
}

/** Rows that are shown of a file that holds more. */
const peekedChars = 1_048_576

/** Whose turn it is in the executors, where no project is named. */
function callerScope(caller: Caller): string {
  return caller.kind === 'user' ? caller.userId : caller.kind === 'token' ? caller.tokenId : 'system'
}

async function peekAt(
  { files, builder, config: { limits } }: TestApp,
  bytes: Buffer,
  asked: { contentType: string; extractor: string | undefined; scope: string; signal: AbortSignal | undefined },
): Promise<Peeked> {
  const { contentType, extractor, scope, signal } = asked
  const path = files.temporaryPath('body')
  try {
    await writeFile(path, bytes, { mode: 0o600 })
    const body = { path, contentType, extractor, maxDepth: limits.jsonDepth, maxBytes: limits.executeResponseBytes }
    const call = { body, workPath: files.temporaryPath('peek'), maxChars: peekedChars }
    return await builder.peek(scope, call, { timeoutMs: limits.testTimeoutMs, ...(signal && { signal }) })
  } finally {
    await rm(path, { force: true })
  }
}

/** Only who may build in a project learns what was granted there. */
async function grantPlace(
  app: { store: Database },
  caller: Caller,
  {
    configuration,
    projectId,
    stored,
  }: {
    configuration: HttpConfiguration
    projectId: string | undefined
    stored: { projectId: string; datasourceId: string } | undefined
  },
): Promise<GrantPlace | undefined> {
  if (configuration.authType !== 'OAuth2 Authorization Code' || projectId === undefined) return undefined
  await requireRole(app, caller, projectId, 'editor')
  return { projectId, datasourceId: stored?.datasourceId }
}

async function findStored(
  app: { store: Database; vault: Vault },
  caller: Caller,
  { projectId, datasourceId }: { projectId: string; datasourceId: string },
): Promise<{ configuration: HttpConfiguration | undefined; load: LoadRule }> {
  await requireRole(app, caller, projectId, 'editor')
  const row = await app.store.db
    .selectFrom('datasources')
    .select(['sealedSecrets', 'load'])
    .where('projectId', '=', projectId)
    .where('id', '=', datasourceId)
    .executeTakeFirst()
  if (row === undefined) throw new Failure('not_found', { message: `The project has no datasource ${datasourceId}.` })
  const { sealedSecrets, load } = row
  return { configuration: sealedSecrets === null ? undefined : openConfiguration(app.vault, sealedSecrets), load }
}

/** As if a load began there. */
function loadOf(initialValue: string | number | undefined): LoadRule | undefined {
  return initialValue === undefined ? undefined : { mode: 'append', cursor: { field: '', initialValue } }
}
