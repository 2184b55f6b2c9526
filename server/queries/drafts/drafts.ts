import { createHash } from 'node:crypto'
import type { Selectable, Transaction } from 'kysely'
import { fixedLimits } from '../../../api/limits.ts'
import type { SlotsSchema } from '../../../api/slots.ts'
import { labelOf, recordAct, requireRole, type Caller } from '../../access/index.ts'
import { Failure } from '../../failure.ts'
import { newId } from '../../ids.ts'
import { engineOf } from '../../projects/index.ts'
import {
  refuseTaken,
  pageOf,
  requireRoomInProject,
  withinBytes,
  type Page,
  type QueryColumns,
  type Tables,
  type Database,
} from '../../store/index.ts'
import { columnsOf, contentOf, withContent, writtenContent, type QueryContent } from './content.ts'
import { examine } from './inspection.ts'
import type { Catalogs } from '../../data/index.ts'
import type { QueryEngine } from '../../engine/index.ts'
import type { Config } from '../../config.ts'

export type Draft = QueryContent & Omit<Selectable<Tables['queries']>, keyof QueryColumns | 'reads'>

/** A draft with where it is live, as lists and forms show it. */
export type Query = Draft & { deployments: Array<{ environment: string; version: number }>; changed: boolean }

type Parts = { store: Database; catalogs: Catalogs; engine: QueryEngine }
type MakingParts = Parts & { config: Pick<Config, 'limits'> }
type Named = { projectId: string; name: string }
/** For a draft over tables that have no data yet: nobody can say more of it than its author, until it is released. */
type Unexamined = { unexamined?: { slots: SlotsSchema } | undefined }

/** Whether there is a draft of this name, deployed or not. */
export async function hasQuery({ db }: Pick<Database, 'db'>, named: Named): Promise<boolean> {
  return (await rowNamed(db, named).clearSelect().select('id').executeTakeFirst()) !== undefined
}

export async function createQuery(
  app: MakingParts,
  caller: Caller,
  input: Named &
    Omit<QueryContent, 'slots' | 'dialect'> & { slots?: SlotsSchema | undefined; tags?: string[] } & Unexamined,
): Promise<Query> {
  const { projectId, name, unexamined, tags = [], ...given } = input
  await requireRole(app, caller, projectId, 'editor')
  const { engine: dialect } = await app.catalogs.get(projectId)
  const examined = unexamined ?? (await examine(app, projectId, { ...given, dialect }))
  const content = { ...given, dialect, slots: examined.slots }
  await refuseTakenName(
    app.store.db.transaction().execute(async (transaction) => {
      await requireRoomInProject(transaction, {
        projectId,
        table: 'queries',
        most: app.config.limits.queriesPerProject,
        what: 'Queries of a project are',
      })
      // Under the lock of the line above: a move to another engine is before it or sees it.
      if ((await engineOf({ db: transaction }, projectId)) !== dialect) throw changedMeanwhile(name)
      const values = {
        id: newId('query'),
        projectId,
        name,
        ...columnsOf(content),
        tags: [...new Set(tags)],
        reads: 'tables' in examined ? JSON.stringify(examined.tables) : null,
        contentHash: contentHashOf(content),
        updatedBy: labelOf(caller),
      }
      await withinDraftBytes(transaction, values, () => transaction.insertInto('queries').values(values).execute())
      await recordAct(transaction, caller, { action: 'query.created', target: name, projectId })
    }),
    name,
  )
  return withDeployments(app, await readDraft(app, input))
}

/** Fields that are not given stay. `revision` is the edit the caller saw: a later one of someone else is not undone. */
export async function changeQuery(
  app: Parts,
  caller: Caller,
  input: Named & { revision?: number | undefined; changes: Partial<Omit<QueryContent, 'dialect'>> } & Unexamined,
): Promise<Query> {
  const { projectId, name, changes } = input
  await requireRole(app, caller, projectId, 'editor')
  const before = await readDraft(app, input)
  const { engine } = await app.catalogs.get(projectId)
  // SQL that is given is for the engine that the project is on now, whatever the draft was written for.
  const dialect = changes.sql === undefined ? before.dialect : engine
  const content = { ...contentOf(before), ...changes, dialect }
  const examined = input.unexamined === undefined ? await examine(app, projectId, content) : null
  await app.store.db.transaction().execute(async (transaction) => {
    const saved = await withinDraftBytes(transaction, before, () =>
      transaction
        .updateTable('queries')
        .set((set) => ({
          ...columnsOf(content),
          reads: examined === null ? null : JSON.stringify(examined.tables),
          contentHash: contentHashOf(content),
          revision: set('revision', '+', 1),
          updatedAt: set.fn<Date>('now'),
          updatedBy: labelOf(caller),
        }))
        .where('id', '=', before.id)
        // Also without If-Match, what was inspected together is saved together.
        .where('revision', '=', input.revision ?? before.revision)
        .executeTakeFirst(),
    )
    if (saved.numUpdatedRows === 0n) throw changedMeanwhile(name)
    await recordAct(transaction, caller, {
      action: 'query.changed',
      target: name,
      projectId,
      details: { fields: Object.keys(changes) },
    })
  })
  return withDeployments(app, await readDraft(app, input))
}

const weights = {
  queries: `octet_length(sql) + octet_length(description) + octet_length(slots::text)
    + octet_length(examples::text) + coalesce(octet_length(chart::text), 0)`,
}

/** A definition holds all of them at once. */
async function withinDraftBytes<Result>(
  transaction: Transaction<Tables>,
  { projectId, id }: { projectId: string; id: string },
  write: () => Promise<Result>,
): Promise<Result> {
  const room = { weights, most: fixedLimits.draftBytes.value, what: 'Queries of a project' }
  return withinBytes(transaction, { ...room, projectId, table: 'queries', key: 'id', value: id }, write)
}

export async function deleteQuery(app: { store: Database }, caller: Caller, input: Named): Promise<void> {
  await requireRole(app, caller, input.projectId, 'editor')
  await app.store.db.transaction().execute(async (transaction) => {
    const { id } = await lockDraft(transaction, input)
    const live = await transaction.selectFrom('deployments').select('environment').where('queryId', '=', id).execute()
    if (live.length > 0) {
      const places = live.map((each) => each.environment).join(', ')
      throw new Failure('conflict', {
        reason: 'in_use',
        message: `${input.name} is deployed in ${places}. Undeploy it first.`,
      })
    }
    await transaction.deleteFrom('queries').where('id', '=', id).execute()
    await recordAct(transaction, caller, { action: 'query.deleted', target: input.name, projectId: input.projectId })
  })
}

export async function findQuery(app: { store: Database }, caller: Caller, input: Named): Promise<Query> {
  await requireRole(app, caller, input.projectId, 'viewer')
  return withDeployments(app, await readDraft(app, input))
}

/** By name. */
export async function listQueries(
  app: { store: Database },
  caller: Caller,
  input: { projectId: string; limit: number; cursor?: string | undefined },
): Promise<Page<Query>> {
  await requireRole(app, caller, input.projectId, 'viewer')
  const drafts = app.store.db.selectFrom('queries').selectAll().where('projectId', '=', input.projectId)
  const page = await pageOf(drafts, input, 'name')
  return { ...page, items: await addDeployments(app, page.items.map(draftOf)) }
}

export async function readDraft(app: { store: Database }, named: Named): Promise<Draft> {
  return draftNamed(await rowNamed(app.store.db, named).executeTakeFirst(), named)
}

/** The draft's row is the lock under which versions are counted and deployments change. */
export async function lockDraft(transaction: Transaction<Tables>, named: Named): Promise<Draft> {
  return draftNamed(await rowNamed(transaction, named).forUpdate().executeTakeFirst(), named)
}

function rowNamed(db: Pick<Transaction<Tables>, 'selectFrom'>, { projectId, name }: Named) {
  return db.selectFrom('queries').selectAll().where('projectId', '=', projectId).where('name', '=', name)
}

function draftNamed(row: Selectable<Tables['queries']> | undefined, { name }: Named): Draft {
  if (row === undefined) throw noQuery(name)
  return draftOf(row)
}

export async function refuseTakenName<Result>(act: Promise<Result>, name: string): Promise<Result> {
  return refuseTaken(act, 'queries_project_id_name_key', `The project has a query ${name} already.`)
}

export function changedMeanwhile(name: string): Failure {
  return new Failure('conflict', {
    reason: 'changed_meanwhile',
    message: `${name} was changed meanwhile. Read it again and repeat your change.`,
  })
}

/** Names a content: the same name is the same content. */
export function contentHashOf(content: QueryContent): string {
  return createHash('sha256')
    .update(JSON.stringify(writtenContent(content)))
    .digest('base64url')
}

export function draftOf({ reads: _reads, ...row }: Selectable<Tables['queries']>): Draft {
  return withContent(row)
}

export async function withDeployments(app: { store: Database }, draft: Draft): Promise<Query> {
  const [query] = await addDeployments(app, [draft])
  if (query === undefined) throw noQuery(draft.name)
  return query
}

async function addDeployments(app: { store: Database }, drafts: Draft[]): Promise<Query[]> {
  if (drafts.length === 0) return []
  const ids = drafts.map((draft) => draft.id)
  const live = await app.store.db
    .selectFrom('deployments')
    .innerJoin('queryVersions', 'queryVersions.id', 'deployments.versionId')
    .select(['deployments.queryId', 'deployments.environment', 'queryVersions.version'])
    .where('deployments.queryId', 'in', ids)
    .orderBy('deployments.environment')
    .execute()
  const newest = await app.store.db
    .selectFrom('queryVersions')
    .distinctOn('queryId')
    .select(['queryId', 'contentHash'])
    .where('queryId', 'in', ids)
    .orderBy('queryId')
    .orderBy('version', 'desc')
    .execute()
  return drafts.map((draft) => ({
    ...draft,
    deployments: live
      .filter((each) => each.queryId === draft.id)
      .map(({ environment, version }) => ({ environment, version })),
    changed: newest.find((each) => each.queryId === draft.id)?.contentHash !== draft.contentHash,
  }))
}

export function noQuery(name: string): Failure {
  return new Failure('not_found', { message: `The project has no query ${name}.` })
}
