import type { Selectable, Transaction } from 'kysely'
import { Failure } from '../../failure.ts'
import type { Place } from '../../ids.ts'
import type { Database, Tables } from '../../store/index.ts'
import { liveVersion, type LiveVersion, type ReleaseTrial } from './deployment-index.ts'
import { readVersions } from '../drafts/version-records.ts'

/** A trial as the database has it. */
export type TrialRow = Selectable<Tables['trials']>

type Reader = Pick<Transaction<Tables>, 'selectFrom'>

export function readTrials(db: Reader): Promise<TrialRow[]> {
  return db.selectFrom('trials').selectAll().orderBy('releaseId').execute()
}

export function readTrialOf(db: Reader, { projectId, environment }: Place): Promise<TrialRow | undefined> {
  return db
    .selectFrom('trials')
    .selectAll()
    .where('projectId', '=', projectId)
    .where('environment', '=', environment)
    .executeTakeFirst()
}

/** With its row's lock. */
export function lockTrial(transaction: Transaction<Tables>, releaseId: string): Promise<TrialRow | undefined> {
  return transaction.selectFrom('trials').selectAll().where('releaseId', '=', releaseId).forUpdate().executeTakeFirst()
}

/** Its versions by the names of their queries. */
export function readTrialVersions(
  db: Reader,
  releaseId: string,
): Promise<Array<{ name: string; queryId: string; versionId: string }>> {
  return db
    .selectFrom('trialVersions')
    .select(['name', 'queryId', 'versionId'])
    .where('releaseId', '=', releaseId)
    .orderBy('name')
    .execute()
}

/** As calls need it. `known` are versions that are in memory already. */
export async function loadTrial(
  store: Pick<Database, 'db'>,
  record: TrialRow,
  known: (name: string) => Iterable<LiveVersion>,
): Promise<ReleaseTrial> {
  const rows = await readTrialVersions(store.db, record.releaseId)
  const versions = new Map<string, LiveVersion>()
  for (const { name } of rows) for (const version of known(name)) versions.set(version.id, version)
  const missing = rows.map(({ versionId }) => versionId).filter((id) => !versions.has(id))
  for (const version of await readVersions(store, missing)) versions.set(version.id, liveVersion(version))
  const { releaseId, projectId, environment, kind, share, replayId } = record
  const byName = rows.flatMap(({ name, versionId }) => {
    const version = versions.get(versionId)
    return version === undefined ? [] : [[name, version] as const]
  })
  return { releaseId, projectId, environment, kind, share, replayId, versions: new Map(byName) }
}

export async function insertTrial(
  transaction: Transaction<Tables>,
  {
    rules,
    versions,
    ...record
  }: Omit<TrialRow, 'startedAt' | 'steppedAt'> & {
    at: Date
    versions: Array<{ name: string; queryId: string; versionId: string }>
  },
): Promise<void> {
  const { at, ...rest } = record
  await transaction
    .insertInto('trials')
    .values({ ...rest, rules: JSON.stringify(rules), startedAt: at, steppedAt: at })
    .execute()
  await transaction
    .insertInto('trialVersions')
    .values(versions.map((version) => ({ ...version, releaseId: rest.releaseId })))
    .execute()
}

/** Refuses what would change the queries of a release that is tried out there. */
export async function requireNoTrial(
  transaction: Transaction<Tables>,
  { names, trial, ...place }: Place & { names: ReadonlySet<string>; trial?: unknown },
): Promise<void> {
  const running = await readTrialOf(transaction, place)
  if (running === undefined) return
  const tried = await readTrialVersions(transaction, running.releaseId)
  const touched = tried.find(({ name }) => names.has(name))
  if (touched === undefined && trial === undefined) return
  const what = touched === undefined ? '' : `, with ${touched.name}`
  throw new Failure('conflict', {
    reason: 'release_running',
    message: `The release ${running.releaseId} is being tried out in ${place.environment}${what}. Finish it or roll it back first.`,
    fields: { release_id: running.releaseId },
  })
}
