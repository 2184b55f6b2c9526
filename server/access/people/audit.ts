import { fixedLimits } from '../../../api/limits.ts'
import type { Kysely, Selectable, Transaction } from 'kysely'
import type { Config } from '../../config.ts'
import { newId, timeOfId } from '../../ids.ts'
import { pageAfter, type Page, type Tables, type Database } from '../../store/index.ts'
import { labelOf, type Caller } from './caller.ts'
import { requireAdministrator, requireRole } from './roles.ts'

export type Act = {
  /** `noun.verb` in the past: `project.created`. */
  action: string
  /** Target of the act: an id or a name. */
  target: string
  projectId?: string
  /** Changes, in wire names. Never a secret. */
  details?: Record<string, unknown>
}

export type AuditEntry = Selectable<Tables['auditLog']>

/** Writes an act into the log, in the transaction of the act itself: one is not there without the other. */
export async function recordAct(transaction: Transaction<Tables>, caller: Caller, act: Act): Promise<void> {
  await transaction
    .insertInto('auditLog')
    .values({
      id: newId('audit'),
      actorKind: caller.kind,
      actorId: caller.kind === 'user' ? caller.userId : caller.kind === 'token' ? caller.tokenId : null,
      actorLabel: labelOf(caller),
      projectId: act.projectId ?? null,
      action: act.action,
      target: act.target,
      details: JSON.stringify(act.details ?? {}),
      requestId: caller.requestId,
    })
    .execute()
}

/** When a person has acted so within a time, the earliest first; their tokens count as the person. */
export async function timesOfActs(
  transaction: Transaction<Tables>,
  userId: string,
  { action, withinMs }: { action: string; withinMs: number },
): Promise<number[]> {
  const since = Date.now() - withinMs
  const rows = await transaction
    .selectFrom('auditLog')
    .select('id')
    // Ids grow with time: only the last ones are looked at.
    .where('id', '>=', newId('audit', since))
    .where('action', '=', action)
    .where((is) =>
      is.or([
        is('actorId', '=', userId),
        is('actorId', 'in', is.selectFrom('managementTokens').select('id').where('createdBy', '=', userId)),
      ]),
    )
    .orderBy('id')
    .execute()
  return rows.map(({ id }) => timeOfId('audit', id) ?? since)
}

/** Which entries are looked for. Without a project: all of the installation. */
type AuditFilter = {
  projectId?: string | undefined
  /** Actor: the id of a person or a token, or `operator` or `system`. */
  actor?: string | undefined
  /** Action, or all of a noun (`alert`). */
  action?: string | undefined
  /** To what: a part of its id or name. */
  target?: string | undefined
  from?: Date | undefined
  to?: Date | undefined
}

type Parts = { store: Database }

/** Newest first. One project's for its owners, everything for administrators. */
export async function listAudit(
  app: Parts,
  caller: Caller,
  input: AuditFilter & { limit: number; cursor?: string | undefined },
): Promise<Page<AuditEntry>> {
  await requireReader(app, caller, input.projectId)
  return pageAfter(
    (after, limit) => readEntries(app.store.db, input, { after, limit }),
    input,
    (entry) => entry.id,
  )
}

const pageSize = 1_000

/** All that a filter lets through as far as a file may hold it, newest first, a page at a time. */
export async function exportAudit(
  app: Parts & { config: Pick<Config, 'limits'> },
  caller: Caller,
  filter: AuditFilter,
): Promise<AsyncIterable<AuditEntry[]>> {
  await requireReader(app, caller, filter.projectId)
  return (async function* pages() {
    let after: string | undefined
    for (let left = fixedLimits.auditExportRows.value; left > 0; left -= pageSize) {
      const page = await readEntries(app.store.db, filter, { after, limit: Math.min(left, pageSize) })
      if (page.length > 0) yield page
      if (page.length < pageSize) return
      after = page.at(-1)?.id
    }
  })()
}

const maxChoices = 500

/** Actors and actions in the log, to choose from. */
export async function auditChoices(
  app: Parts,
  caller: Caller,
  { projectId }: { projectId?: string | undefined },
): Promise<{ actors: Array<Pick<AuditEntry, 'actorKind' | 'actorId' | 'actorLabel'>>; actions: string[] }> {
  await requireReader(app, caller, projectId)
  const entries = app.store.db
    .selectFrom('auditLog')
    .$if(projectId !== undefined, (query) => query.where('projectId', '=', projectId ?? ''))
  const [actors, actions] = await Promise.all([
    entries.select(['actorKind', 'actorId', 'actorLabel']).distinct().orderBy('actorLabel').limit(maxChoices).execute(),
    entries.select('action').distinct().orderBy('action').limit(maxChoices).execute(),
  ])
  return { actors, actions: actions.map(({ action }) => action) }
}

async function requireReader(app: Parts, caller: Caller, projectId: string | undefined): Promise<void> {
  if (projectId === undefined) requireAdministrator(caller)
  else await requireRole(app, caller, projectId, 'owner')
}

function readEntries(
  db: Kysely<Tables>,
  { projectId, actor, action, target, from, to }: AuditFilter,
  { after, limit }: { after: string | undefined; limit: number },
): Promise<AuditEntry[]> {
  const part = `%${(target ?? '').replaceAll(/[\\%_]/g, (sign) => `\\${sign}`)}%`
  return db
    .selectFrom('auditLog')
    .selectAll()
    .$if(projectId !== undefined, (query) => query.where('projectId', '=', projectId ?? ''))
    .$if(actor !== undefined, (query) =>
      query.where((row) => row.or([row('actorId', '=', actor ?? ''), row('actorKind', '=', actor as 'operator')])),
    )
    .$if(action !== undefined, (query) =>
      query.where((row) => row.or([row('action', '=', action ?? ''), row('action', 'like', `${action}.%`)])),
    )
    .$if(target !== undefined, (query) =>
      query.where((row) =>
        row.or([row('target', 'ilike', part), row(row.ref('details', '->>').key('name'), 'ilike', part)]),
      ),
    )
    .$if(from !== undefined, (query) => query.where('at', '>=', from ?? new Date(0)))
    .$if(to !== undefined, (query) => query.where('at', '<', to ?? new Date(0)))
    .$if(after !== undefined, (query) => query.where('id', '<', after ?? ''))
    .orderBy('id', 'desc')
    .limit(limit)
    .execute()
}
