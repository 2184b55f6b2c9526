import type { Kysely, Transaction } from 'kysely'
import { newId } from '../ids.ts'
import { pageAfter, type Page, type Tables, type Database } from '../store/index.ts'
import { labelOf, type Caller } from './caller.ts'
import { requireAdministrator, requireRole } from './roles.ts'

export type Act = {
  /** `noun.verb` in the past: `project.created`. */
  action: string
  /** What it was done to: an id or a name. */
  target: string
  projectId?: string
  /** What changed, in wire names. Never a secret. */
  details?: Record<string, unknown>
}

export type AuditEntry = {
  id: string
  at: Date
  actorKind: 'user' | 'token' | 'operator' | 'system'
  actorId: string | null
  actorLabel: string
  projectId: string | null
  action: string
  target: string
  details: Record<string, unknown>
  requestId: string | null
}

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

/** Newest first. One project's for its owners, everything for administrators. */
export async function listAudit(
  app: { store: Database },
  caller: Caller,
  input: { projectId?: string | undefined; limit: number; cursor?: string | undefined },
): Promise<Page<AuditEntry>> {
  if (input.projectId === undefined) requireAdministrator(caller)
  else await requireRole(app, caller, input.projectId, 'owner')
  return pageAfter(auditQuery(app.store.db, input.projectId), input, (entry) => entry.id)
}

function auditQuery(db: Kysely<Tables>, projectId: string | undefined) {
  return (after: string | undefined, limit: number): Promise<AuditEntry[]> =>
    db
      .selectFrom('auditLog')
      .select([
        'id',
        'at',
        'actorKind',
        'actorId',
        'actorLabel',
        'projectId',
        'action',
        'target',
        'details',
        'requestId',
      ])
      .$if(projectId !== undefined, (query) => query.where('projectId', '=', projectId ?? ''))
      .$if(after !== undefined, (query) => query.where('id', '<', after ?? ''))
      .orderBy('id', 'desc')
      .limit(limit)
      .execute()
}
