import type { Transaction } from 'kysely'
import type { Role, Tables, Database } from '../../store/index.ts'
import type { Caller } from './caller.ts'
import { requireRole } from './roles.ts'

export type Member = { userId: string; name: string; email: string | null; role: Role; createdAt: Date }

export async function listMembers(app: { store: Database }, caller: Caller, projectId: string): Promise<Member[]> {
  await requireRole(app, caller, projectId, 'viewer')
  return app.store.db
    .selectFrom('members')
    .innerJoin('users', 'users.id', 'members.userId')
    .select(['users.id as userId', 'users.name', 'users.email', 'members.role', 'members.createdAt'])
    .where('members.projectId', '=', projectId)
    .orderBy('members.createdAt')
    .execute()
}

/** The projects that someone is a member of, with their role in each. */
export async function membershipsOf({ db }: Pick<Database, 'db'>, userId: string): Promise<Map<string, Role>> {
  const rows = await db.selectFrom('members').select(['projectId', 'role']).where('userId', '=', userId).execute()
  return new Map(rows.map((row) => [row.projectId, row.role]))
}

/** Within the act that brings them in. Someone who is a member already keeps the role they have. */
export async function addMember(
  transaction: Transaction<Tables>,
  { projectId, userId, role }: { projectId: string; userId: string; role: Role },
): Promise<void> {
  await transaction
    .insertInto('members')
    .values({ projectId, userId, role })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}
