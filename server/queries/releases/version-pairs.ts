import type { Catalogs } from '../../data/index.ts'
import type { QueryEngine } from '../../engine/index.ts'
import { Failure } from '../../failure.ts'
import type { Database } from '../../store/index.ts'
import { liveVersion, type LiveVersion } from '../deployed/deployment-index.ts'
import type { Deployments } from '../deployed/deployments.ts'
import { readDraft, type Draft } from '../drafts/drafts.ts'
import { notDeployed } from './report.ts'
import { examine, type Inspected } from '../drafts/inspection.ts'
import { readVersion } from '../drafts/versions.ts'
import type { Place } from '../../ids.ts'

/** The live version, and the one to take its place. */
export type VersionPair = { name: string; before: LiveVersion; after: LiveVersion }

type Parts = { store: Database; catalogs: Catalogs; engine: QueryEngine; deployments: Deployments }

/** The drafts, or versions where they are named, beside what answers in an environment. `all`: those that differ. */
export async function findVersionPairs(
  app: Parts,
  {
    projectId,
    environment,
    queries,
  }: Place & { queries: Array<{ name: string; version?: number | undefined }> | 'all' },
): Promise<VersionPair[]> {
  const live = app.deployments.list(projectId, environment)
  const wanted = queries === 'all' ? live.map(({ name }) => ({ name, version: undefined })) : queries
  const candidates: VersionPair[] = []
  for (const { name, version } of wanted) {
    const before = app.deployments.find({ projectId, environment, name })?.version
    if (before === undefined) throw notDeployed(name, environment)
    const draft = await readDraft(app, { projectId, name })
    if (queries === 'all' && draft.contentHash === before.contentHash) continue
    const after =
      version === undefined
        ? draftAsVersion(draft, await examine(app, projectId, draft))
        : liveVersion(await readVersion(app, draft.id, { name, number: version }))
    candidates.push({ name, before, after })
  }
  return candidates
}

/** As it would be frozen now; it has no number yet. */
export function draftAsVersion(draft: Draft, { columns, tables }: Pick<Inspected, 'columns' | 'tables'>): LiveVersion {
  return liveVersion({
    ...draft,
    id: `draft ${draft.id}`,
    queryId: draft.id,
    number: 0,
    columns,
    tables,
    createdBy: draft.updatedBy,
  })
}

/** A version as a record can hold it, and back. */
export function storedVersion(version: LiveVersion): unknown {
  const { compiled: _compiled, ...rest } = version
  return rest
}

export function restoredVersion(stored: unknown): LiveVersion {
  if (typeof stored !== 'object' || stored === null) throw new Failure('internal_error')
  const version = stored as Omit<LiveVersion, 'compiled' | 'createdAt'> & { createdAt: string }
  return liveVersion({ ...version, createdAt: new Date(version.createdAt) })
}
