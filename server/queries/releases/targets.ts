import type { Transaction } from 'kysely'
import { Failure } from '../../failure.ts'
import type { Database, Tables } from '../../store/index.ts'
import { draftOf, noQuery, type Draft } from '../drafts/drafts.ts'
import { readVersions, versionOf, type Version } from '../drafts/version-records.ts'
import type { Place } from '../../ids.ts'

/** The target for one query in an environment. */
export type ReleaseTarget = {
  draft: Draft
  /** A version that exists; null: the draft as it is. */
  frozen: Version | null
  /** It stops answering there. */
  isRemoved: boolean
}

/** How a caller names one. */
export type Wanted = { name: string; version?: number | undefined; remove?: boolean | undefined }

type Reading = Pick<Transaction<Tables>, 'selectFrom'>

export async function findTargets(
  store: Pick<Database, 'db'>,
  projectId: string,
  wanted: readonly Wanted[],
): Promise<ReleaseTarget[]> {
  const drafts = new Map((await readDrafts(store.db, projectId, namesOf(wanted))).map((draft) => [draft.name, draft]))
  const missing = wanted.find(({ name }) => !drafts.has(name))
  if (missing !== undefined) throw noQuery(missing.name)
  const numbered = wanted.flatMap(({ name, version }) => {
    const draft = drafts.get(name)
    return draft === undefined || version === undefined ? [] : [{ draft, version }]
  })
  const versions = await readNumbered(store.db, numbered)
  return wanted.flatMap(({ name, version, remove }) => {
    const draft = drafts.get(name)
    if (draft === undefined) return []
    const frozen = version === undefined ? null : versions.get(draft.id)
    if (frozen === undefined) throw new Failure('not_found', { message: `${name} has no version ${version}.` })
    return [{ draft, frozen, isRemoved: remove === true }]
  })
}

/** Every query whose draft is not what answers in the environment. */
export async function findChanged(
  store: Pick<Database, 'db'>,
  { projectId, environment }: Place,
): Promise<ReleaseTarget[]> {
  const rows = await store.db
    .selectFrom('queries')
    .leftJoin('deployments', (join) =>
      join.onRef('deployments.queryId', '=', 'queries.id').on('deployments.environment', '=', environment),
    )
    .leftJoin('queryVersions', 'queryVersions.id', 'deployments.versionId')
    .selectAll('queries')
    .where('queries.projectId', '=', projectId)
    .whereRef('queryVersions.contentHash', 'is distinct from', 'queries.contentHash')
    .orderBy('queries.name')
    .execute()
  return rows.map((row) => ({ draft: draftOf(row), frozen: null, isRemoved: false }))
}

export type PromoteFrom = { projectId: string; from: string; to: string; prune: boolean }

/** The targets that make one environment answer as another does. */
export async function findPromoted(
  store: Pick<Database, 'db'>,
  { projectId, from, to, prune }: PromoteFrom,
): Promise<ReleaseTarget[]> {
  const rows = await store.db
    .selectFrom('deployments')
    .select(['queryId', 'versionId', 'environment', 'name'])
    .where('projectId', '=', projectId)
    .where('environment', 'in', [from, to])
    .orderBy('name')
    .execute()
  const there = new Map(rows.filter((row) => row.environment === to).map((row) => [row.queryId, row.versionId]))
  const source = rows.filter((row) => row.environment === from)
  const moved = source.filter((row) => there.get(row.queryId) !== row.versionId)
  const promoted = new Set(source.map((row) => row.queryId))
  const gone = prune ? rows.filter((row) => row.environment === to && !promoted.has(row.queryId)) : []
  const drafts = await readDrafts(store.db, projectId, namesOf([...moved, ...gone]))
  const byId = new Map(drafts.map((draft) => [draft.id, draft]))
  const versions = await readVersions(
    store,
    moved.map(({ versionId }) => versionId),
  )
  const byVersion = new Map(versions.map((version) => [version.id, version]))
  return [...moved, ...gone].flatMap(({ queryId, versionId, environment }): ReleaseTarget[] => {
    const draft = byId.get(queryId)
    if (draft === undefined) return []
    if (environment === to) return [{ draft, frozen: null, isRemoved: true }]
    const frozen = byVersion.get(versionId)
    return frozen === undefined ? [] : [{ draft, frozen, isRemoved: false }]
  })
}

/** Drafts of these names in the order of their ids, in which they are locked, too. */
export async function readDrafts(db: Reading, projectId: string, names: string[]): Promise<Draft[]> {
  return (await draftRows(db, projectId, names).execute()).map(draftOf)
}

/** Their rows are the locks under which versions are counted and deployments change. */
export async function lockDrafts(
  transaction: Transaction<Tables>,
  projectId: string,
  targets: readonly ReleaseTarget[],
): Promise<Map<string, Draft>> {
  const names = targets.map(({ draft }) => draft.name)
  const rows = await draftRows(transaction, projectId, names).forUpdate().execute()
  return new Map(rows.map((row) => [row.id, draftOf(row)]))
}

function draftRows(db: Reading, projectId: string, names: string[]) {
  return db
    .selectFrom('queries')
    .selectAll()
    .where('projectId', '=', projectId)
    .where('name', '=', (is) => is.fn.any(is.val(names)))
    .orderBy('id')
}

async function readNumbered(
  db: Reading,
  wanted: Array<{ draft: Draft; version: number }>,
): Promise<Map<string, Version>> {
  if (wanted.length === 0) return new Map()
  const numbers = new Map(wanted.map(({ draft, version }) => [draft.id, version]))
  const rows = await db
    .selectFrom('queryVersions')
    .selectAll()
    .where('queryId', '=', (is) => is.fn.any(is.val([...numbers.keys()])))
    .where('version', '=', (is) => is.fn.any(is.val([...new Set(numbers.values())])))
    .execute()
  const found = rows.map(versionOf).filter(({ queryId, number }) => numbers.get(queryId) === number)
  return new Map(found.map((version) => [version.queryId, version]))
}

function namesOf(wanted: ReadonlyArray<{ name: string }>): string[] {
  return wanted.map(({ name }) => name)
}
