import type { Transaction } from 'kysely'
import { labelOf, recordAct, type Caller } from '../../access/index.ts'
import { dataChanged } from '../../data/index.ts'
import { Failure } from '../../failure.ts'
import { lockEnvironment, switchEngine } from '../../projects/index.ts'
import type { Dialect, Tables } from '../../store/index.ts'
import { columnsOf, contentOf } from '../drafts/content.ts'
import type { Draft } from '../drafts/drafts.ts'
import type { Inspected } from '../drafts/inspection.ts'
import { applyHere, putRelease, recentCallers, type ReleaseParts } from './release.ts'
import type { ReleaseReport } from './report.ts'
import { lockDrafts, type ReleaseTarget } from './targets.ts'
import { areTextsStill, type QueryText } from './texts.ts'

/** A text as it is to stand on another engine. */
export type MovedText = { text: QueryText; draft: Draft; inspected: Inspected }

export type EngineMove = {
  projectId: string
  from: Dialect
  to: Dialect
  moved: MovedText[]
  /** Texts of queries that stay behind: they stop answering, and their drafts stay as they are. */
  excluded: QueryText[]
  message: string
  details: Record<string, unknown>
}

/** The deployments of an environment after a move. */
type EnvironmentTargets = { environment: string; targets: ReleaseTarget[]; examined: Map<string, Inspected> }

/**
 * Changes the engine of a project as one act: its drafts get their new texts, and what is deployed becomes new versions,
 * in every environment at once. All of it, or nothing where something changed since the texts were read.
 */
export async function releaseMove(app: ReleaseParts, caller: Caller, move: EngineMove): Promise<ReleaseReport[]> {
  const { projectId, from, to, moved, excluded } = move
  const places = placesOf(move)
  const callers = new Map<string, Awaited<ReturnType<typeof recentCallers>>>()
  for (const { environment, targets } of places) {
    const removed = targets.filter(({ isRemoved }) => isRemoved)
    const input = { projectId, environment, act: 'release' as const, targets: removed }
    callers.set(environment, removed.length === 0 ? new Map() : await recentCallers(app, input))
  }
  const texts = [...moved.map(({ text }) => text), ...excluded]
  const reports = await app.store.db.transaction().execute(async (transaction) => {
    await lockDrafts(transaction, projectId, texts.map(targetOf))
    for (const place of places) await lockEnvironment(transaction, { projectId, ...place })
    const isStill = await switchEngine(transaction, { projectId, from, to })
    if (!isStill || !(await areTextsStill(transaction, { projectId, dialect: from, texts }))) throw changedMeanwhile()
    for (const { text, draft, inspected } of moved) {
      if (text.isDraft) await saveDraft(transaction, caller, { draft, inspected })
    }
    const released: ReleaseReport[] = []
    for (const place of places) {
      const { report } = await putRelease(transaction, caller, {
        ...place,
        projectId,
        act: 'release',
        message: move.message,
        // The author of the move knows that a query left out stops answering.
        force: place.targets.some(({ isRemoved }) => isRemoved),
        callers: callers.get(place.environment) ?? new Map(),
        routing: { checked: 0, regressions: [] },
      })
      released.push(report)
    }
    const { details } = move
    await recordAct(transaction, caller, { action: 'project.engine_changed', target: projectId, projectId, details })
    await app.store.notify(transaction, dataChanged, projectId)
    return released
  })
  app.catalogs.forget(projectId)
  for (const { environment } of places) await applyHere(app, { projectId, environment })
  return reports
}

function placesOf({ moved, excluded }: EngineMove): EnvironmentTargets[] {
  const places = new Map<string, EnvironmentTargets>()
  const at = (environment: string): EnvironmentTargets => {
    const place = places.get(environment) ?? { environment, targets: [], examined: new Map() }
    places.set(environment, place)
    return place
  }
  for (const { text, draft, inspected } of moved) {
    for (const { environment } of text.places) {
      const { targets, examined } = at(environment)
      targets.push({ draft, frozen: null, isRemoved: false })
      examined.set(draft.id, inspected)
    }
  }
  for (const text of excluded) {
    for (const { environment } of text.places) at(environment).targets.push({ ...targetOf(text), isRemoved: true })
  }
  return [...places.values()].toSorted((left, right) => (left.environment < right.environment ? -1 : 1))
}

function targetOf({ draft }: QueryText): ReleaseTarget {
  return { draft, frozen: null, isRemoved: false }
}

async function saveDraft(
  transaction: Transaction<Tables>,
  caller: Caller,
  { draft, inspected }: Pick<MovedText, 'draft' | 'inspected'>,
): Promise<void> {
  await transaction
    .updateTable('queries')
    .set((set) => ({
      ...columnsOf(contentOf(draft)),
      reads: JSON.stringify(inspected.tables),
      contentHash: draft.contentHash,
      revision: set('revision', '+', 1),
      updatedAt: set.fn<Date>('now'),
      updatedBy: labelOf(caller),
    }))
    .where('id', '=', draft.id)
    .execute()
}

function changedMeanwhile(): Failure {
  return new Failure('conflict', {
    reason: 'changed_meanwhile',
    message: 'Queries of the project, or what is deployed, changed since they were compared. Check again.',
  })
}
