import type { Value } from '../../../api/wire-codec.ts'
import type { historyEntry, liveDeployment } from '../../../api/queries.ts'
import { createTwoFilesPatch } from 'diff'
import { requireRole, type Caller } from '../../access/index.ts'
import { Failure } from '../../failure.ts'
import { yieldToEventLoop } from '../../flow/index.ts'
import { newestFirst, pageAfter, type Page, type Database } from '../../store/index.ts'
import { writtenContent, type QueryContent } from './content.ts'
import { readDraft } from './drafts.ts'
import { versionOf, type Version } from './version-records.ts'

export type VersionEntry = { number: number; createdAt: Date; createdBy: string; environments: string[] }
export type HistoryEntry = Value<typeof historyEntry>
export type DeploymentEntry = Value<typeof liveDeployment>

type Named = { projectId: string; name: string }
type Paged = { limit: number; cursor?: string | undefined }

/** Newest first, each with where it is live. */
export async function listVersions(
  app: { store: Database },
  caller: Caller,
  input: Named & Paged,
): Promise<Page<VersionEntry>> {
  await requireRole(app, caller, input.projectId, 'viewer')
  const { id } = await readDraft(app, input)
  const page = await pageAfter(
    (after, limit) =>
      app.store.db
        .selectFrom('queryVersions')
        .select(['version as number', 'createdAt', 'createdBy'])
        .where('queryId', '=', id)
        .$if(after !== undefined, (query) => query.where('version', '<', Number(after)))
        .orderBy('version', 'desc')
        .limit(limit)
        .execute(),
    input,
    (version) => String(version.number),
  )
  const live = await liveIn(app, id)
  const items = page.items.map(({ number, createdAt, createdBy }) => {
    return { number, createdAt, createdBy, environments: live.get(number) ?? [] }
  })
  return { ...page, items }
}

export async function findVersion(
  app: { store: Database },
  caller: Caller,
  input: Named & { number: number },
): Promise<Version & { environments: string[] }> {
  await requireRole(app, caller, input.projectId, 'viewer')
  const { id } = await readDraft(app, input)
  const version = await readVersion(app, id, input)
  return { ...version, environments: (await liveIn(app, id)).get(version.number) ?? [] }
}

/** Lines that may differ before a part counts as replaced: the work of comparing grows with their square. */
const maxEdits = 300

/** A unified diff, and the parts of it that show every line as replaced because too many differ. */
type VersionsDiff = { diff: string; replaced: Array<'sql' | 'slots' | 'settings'> }

/** The differences between a version and another, or the draft. */
export async function diffVersions(
  app: { store: Database },
  caller: Caller,
  input: Named & { from: number; to: number | 'draft' },
): Promise<VersionsDiff> {
  await requireRole(app, caller, input.projectId, 'viewer')
  const draft = await readDraft(app, input)
  const from = await readVersion(app, draft.id, { name: input.name, number: input.from })
  const to = input.to === 'draft' ? draft : await readVersion(app, draft.id, { name: input.name, number: input.to })
  const label = input.to === 'draft' ? 'draft' : `version ${input.to}`
  const parts = [
    ['sql', from.sql, to.sql],
    ['slots', JSON.stringify(from.slots, null, 2), JSON.stringify(to.slots, null, 2)],
    ['settings', settingsOf(from), settingsOf(to)],
  ] as const
  const patches: string[] = []
  const replaced: VersionsDiff['replaced'] = []
  for (const [part, before, after] of parts.filter((each) => each[1] !== each[2])) {
    await yieldToEventLoop()
    const names = [`${part} of version ${input.from}`, `${part} of ${label}`] as const
    const patch = createTwoFilesPatch(...names, `${before}\n`, `${after}\n`, '', '', { maxEditLength: maxEdits })
    if (patch === undefined) replaced.push(part)
    patches.push(patch?.replace(/^=+\n/, '').trimEnd() ?? replacement(names, before, after))
  }
  return { diff: patches.join('\n'), replaced }
}

function replacement([from, to]: readonly [string, string], before: string, after: string): string {
  const [removed, added] = [before.split('\n'), after.split('\n')]
  const head = `--- ${from}\n+++ ${to}\n@@ -1,${removed.length} +1,${added.length} @@`
  return [head, ...removed.map((line) => `-${line}`), ...added.map((line) => `+${line}`)].join('\n')
}

/** All but the SQL and the slots, which have parts of their own. */
function settingsOf(content: QueryContent): string {
  const { sql: _sql, slots: _slots, ...settings } = writtenContent(content)
  return JSON.stringify({ ...settings, examples: content.examples }, null, 2)
}

/** Everything that was done to a query's deployments, newest first. */
export async function listHistory(
  app: { store: Database },
  caller: Caller,
  input: Named & Paged,
): Promise<Page<HistoryEntry>> {
  await requireRole(app, caller, input.projectId, 'viewer')
  const { id } = await readDraft(app, input)
  return newestFirst(
    app.store.db
      .selectFrom('deploymentActs')
      .select(['id', 'act', 'environment', 'version', 'previousVersion', 'at', 'by', 'releaseId'])
      .where('queryId', '=', id),
    input,
  )
}

/** The live versions of a project, by name and environment. */
export async function listDeployments(
  app: { store: Database },
  caller: Caller,
  input: { projectId: string; environment?: string | undefined } & Paged,
): Promise<Page<DeploymentEntry>> {
  await requireRole(app, caller, input.projectId, 'viewer')
  return pageAfter(
    (after, limit) => {
      const [name = '', environment = ''] = after?.split(' ') ?? []
      return app.store.db
        .selectFrom('deployments')
        .innerJoin('queryVersions', 'queryVersions.id', 'deployments.versionId')
        .select([
          'deployments.name',
          'deployments.environment',
          'queryVersions.version',
          'queryVersions.description',
          'deployments.deployedAt',
          'deployments.deployedBy',
        ])
        .where('deployments.projectId', '=', input.projectId)
        .$if(input.environment !== undefined, (query) =>
          query.where('deployments.environment', '=', input.environment ?? ''),
        )
        .$if(after !== undefined, (query) =>
          query.where((where) =>
            where.or([
              where('deployments.name', '>', name),
              where.and([where('deployments.name', '=', name), where('deployments.environment', '>', environment)]),
            ]),
          ),
        )
        .orderBy('deployments.name')
        .orderBy('deployments.environment')
        .limit(limit)
        .execute()
    },
    input,
    (entry) => `${entry.name} ${entry.environment}`,
  )
}

export async function readVersion(
  app: { store: Database },
  queryId: string,
  { name, number }: { name: string; number: number },
): Promise<Version> {
  const row = await app.store.db
    .selectFrom('queryVersions')
    .selectAll()
    .where('queryId', '=', queryId)
    .where('version', '=', number)
    .executeTakeFirst()
  if (row === undefined) throw new Failure('not_found', { message: `${name} has no version ${number}.` })
  return versionOf(row)
}

/** A cursor that someone made up is the end of the list, not a failure of ours. */
async function liveIn(app: { store: Database }, queryId: string): Promise<Map<number, string[]>> {
  const rows = await app.store.db
    .selectFrom('deployments')
    .innerJoin('queryVersions', 'queryVersions.id', 'deployments.versionId')
    .select(['queryVersions.version', 'deployments.environment'])
    .where('deployments.queryId', '=', queryId)
    .orderBy('deployments.environment')
    .execute()
  const places = new Map<number, string[]>()
  for (const { version, environment } of rows) places.set(version, [...(places.get(version) ?? []), environment])
  return places
}
