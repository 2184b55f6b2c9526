import { Failure } from '../../failure.ts'
import type { Role, Database } from '../../store/index.ts'
import type { Caller } from './caller.ts'

const rank: Record<Role, number> = { viewer: 1, editor: 2, owner: 3 }

/**
 * The caller's role in a project. One who has none gets the same `not_found` as for a project that does not exist.
 */
export async function requireRole(
  app: { store: Database },
  caller: Caller,
  projectId: string,
  least: Role,
): Promise<Role> {
  const role = await findRole(app, caller, projectId)
  if (role === undefined) throw new Failure('not_found', { message: `There is no project ${projectId}.` })
  if (rank[role] < rank[least]) {
    throw new Failure('permission_denied', {
      reason: 'role_too_small',
      message: `This needs the role ${least} in the project; the caller is ${role}.`,
    })
  }
  return role
}

/** For what belongs to the whole installation. */
export function requireAdministrator(caller: Caller): void {
  const may = caller.kind === 'operator' || caller.kind === 'system' || (caller.kind === 'user' && caller.administrator)
  if (!may) {
    throw new Failure('permission_denied', { reason: 'role_too_small', message: 'This needs an administrator.' })
  }
}

/** The rule itself: from the caller and their row in `members` (null: none) to a role in an existing project. */
export function effectiveRole(caller: Caller, projectId: string, memberRole: Role | null): Role | undefined {
  if (caller.kind === 'token' && caller.projectId !== null && caller.projectId !== projectId) return undefined
  const person = personBehind(caller)
  const own = person === null || person.administrator ? 'owner' : memberRole
  if (own === null) return undefined
  return caller.kind === 'token' && rank[caller.role] < rank[own] ? caller.role : own
}

/** Whose membership counts: the user's own, or that of a token's maker; null for the operator and the service. */
export function personBehind(caller: Caller): { userId: string; administrator: boolean } | null {
  if (caller.kind === 'user') return caller
  return caller.kind === 'token' ? caller.maker : null
}

async function findRole(app: { store: Database }, caller: Caller, projectId: string): Promise<Role | undefined> {
  const row = await app.store.db
    .selectFrom('projects')
    .leftJoin('members', (join) =>
      join.onRef('members.projectId', '=', 'projects.id').on('members.userId', '=', personBehind(caller)?.userId ?? ''),
    )
    .select('members.role')
    .where('projects.id', '=', projectId)
    .executeTakeFirst()
  return row === undefined ? undefined : effectiveRole(caller, projectId, row.role)
}
