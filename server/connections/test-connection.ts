import type { HttpConfiguration, TestConnectionAnswer } from '../../api/connections.ts'
import type { App } from '../app.ts'
import { requireRole, type Caller } from '../access/index.ts'
import { Failure } from '../failure.ts'
import { probe } from './probe.ts'
import { openConfiguration, restoreSecrets } from './stored-configuration.ts'

/** Calls an external API and tells what came back, without storing anything. */
export async function testConnection(
  app: Pick<App, 'store' | 'vault' | 'outbound' | 'tokens' | 'config'>,
  caller: Caller,
  input: {
    configuration: HttpConfiguration
    /** Where the secrets shown as `***` are stored. */
    stored?: { projectId: string; datasourceId: string } | undefined
    signal?: AbortSignal | undefined
  },
): Promise<TestConnectionAnswer> {
  const { limits } = app.config
  const stored = input.stored === undefined ? undefined : await findStored(app, caller, input.stored)
  return probe(restoreSecrets(input.configuration, stored), {
    outbound: app.outbound,
    tokens: app.tokens,
    limits: {
      timeoutMs: limits.testTimeoutMs,
      previewBytes: limits.testPreviewBytes,
      redirects: limits.outboundRedirects,
      retries: limits.outboundTries - 1,
    },
    signal: input.signal,
  })
}

async function findStored(
  app: Pick<App, 'store' | 'vault'>,
  caller: Caller,
  { projectId, datasourceId }: { projectId: string; datasourceId: string },
): Promise<HttpConfiguration | undefined> {
  await requireRole(app, caller, projectId, 'editor')
  const row = await app.store.db
    .selectFrom('datasources')
    .select('sealed_secrets')
    .where('project_id', '=', projectId)
    .where('id', '=', datasourceId)
    .executeTakeFirst()
  if (row === undefined) throw new Failure('not_found', { message: `The project has no datasource ${datasourceId}.` })
  return row.sealed_secrets === null ? undefined : openConfiguration(app.vault, row.sealed_secrets)
}
