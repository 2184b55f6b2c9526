import type { HttpConfiguration, TestConnectionAnswer } from '../../api/connections.ts'
import { requireRole, type Caller, type Vault } from '../access/index.ts'
import { Failure } from '../failure.ts'
import { probe } from './probe.ts'
import { namedValuesFor } from './named-values.ts'
import { openConfiguration } from './stored-configuration.ts'
import { restoreConfiguration } from './secrets/mask.ts'
import { namesIn } from './variables.ts'
import type { Database } from '../store/index.ts'
import type { Outbound } from './outbound/send.ts'
import type { TokenSource } from './oauth.ts'
import type { Clock } from '../clock.ts'
import type { Config } from '../config.ts'

/** Calls an external API and tells what came back, without storing anything. */
export async function testConnection(
  app: { store: Database; vault: Vault; outbound: Outbound; tokens: TokenSource; config: Config; now: Clock },
  caller: Caller,
  input: {
    configuration: HttpConfiguration
    /** Where the secrets shown as `***` are stored. */
    stored?: { projectId: string; datasourceId: string } | undefined
    /** Whose variables and secrets the request may name. */
    projectId?: string | undefined
    signal?: AbortSignal | undefined
    /** Whether to say what the answer looks like. */
    detect?: boolean | undefined
  },
): Promise<TestConnectionAnswer> {
  const { limits } = app.config
  const stored = input.stored === undefined ? undefined : await findStored(app, caller, input.stored)
  const configuration = restoreConfiguration(input.configuration, stored)
  // Only who may build with a project's secrets learns whether there is such a project.
  const needsProject = namesIn(configuration).length > 0 || configuration.environment !== undefined
  if (needsProject && input.projectId !== undefined) await requireRole(app, caller, input.projectId, 'editor')
  const values = await namedValuesFor(app, input.projectId, configuration)
  return probe(configuration, {
    values,
    outbound: app.outbound,
    tokens: app.tokens,
    limits: {
      timeoutMs: limits.testTimeoutMs,
      previewBytes: limits.testPreviewBytes,
      redirects: limits.outboundRedirects,
      retries: limits.outboundTries - 1,
      maxDepth: limits.jsonDepth,
    },
    at: new Date(app.now()),
    detects: input.detect,
    signal: input.signal,
  })
}

async function findStored(
  app: { store: Database; vault: Vault },
  caller: Caller,
  { projectId, datasourceId }: { projectId: string; datasourceId: string },
): Promise<HttpConfiguration | undefined> {
  await requireRole(app, caller, projectId, 'editor')
  const row = await app.store.db
    .selectFrom('datasources')
    .select('sealedSecrets')
    .where('projectId', '=', projectId)
    .where('id', '=', datasourceId)
    .executeTakeFirst()
  if (row === undefined) throw new Failure('not_found', { message: `The project has no datasource ${datasourceId}.` })
  return row.sealedSecrets === null ? undefined : openConfiguration(app.vault, row.sealedSecrets)
}
