import type { Transaction } from 'kysely'
import { Failure } from '../../failure.ts'
import type { Role, Tables } from '../../store/index.ts'
import { endClientsOf } from '../oauth/grants.ts'
import { recordAct } from '../people/audit.ts'
import type { Caller } from '../people/caller.ts'
import { listMembers, type Member } from '../people/members.ts'
import { requireRole } from '../people/roles.ts'

/** With the role of an owner ends the access of clients that this person let into the project. */
type Parts = Parameters<typeof endClientsOf>[0]

export async function changeRole(
  app: Parts,
  caller: Caller,
  input: { projectId: string; userId: string; role: Role },
): Promise<Member> {
  await requireRole(app, caller, input.projectId, 'owner')
  const ended = await app.store.db.transaction().execute(async (transaction) => {
    const before = await lockMember(transaction, input)
    if (input.role !== 'owner') await refuseLastOwner(transaction, input, before)
    await transaction
      .updateTable('members')
      .set({ role: input.role })
      .where('projectId', '=', input.projectId)
      .where('userId', '=', input.userId)
      .execute()
    await recordAct(transaction, caller, {
      action: 'member.changed',
      target: input.userId,
      projectId: input.projectId,
      details: { from: before, to: input.role },
    })
    return input.role === 'owner' ? [] : endClientsOf(app, transaction, input)
  })
  for (const keyId of ended) await app.keys.refresh(keyId)
  const changed = (await listMembers(app, caller, input.projectId)).find((member) => member.userId === input.userId)
  if (changed === undefined) throw noMember()
  return changed
}

/** Owners remove anyone; everyone may leave. */
export async function removeMember(
  app: Parts,
  caller: Caller,
  input: { projectId: string; userId: string },
): Promise<void> {
  const leaving = caller.kind === 'user' && caller.userId === input.userId
  await requireRole(app, caller, input.projectId, leaving ? 'viewer' : 'owner')
  const ended = await app.store.db.transaction().execute(async (transaction) => {
    await refuseLastOwner(transaction, input, await lockMember(transaction, input))
    await transaction
      .deleteFrom('members')
      .where('projectId', '=', input.projectId)
      .where('userId', '=', input.userId)
      .execute()
    await recordAct(transaction, caller, {
      action: 'member.removed',
      target: input.userId,
      projectId: input.projectId,
    })
    return endClientsOf(app, transaction, input)
  })
  for (const keyId of ended) await app.keys.refresh(keyId)
}

/** Locks every owner's row too: two owners who remove each other at once must not both succeed. */
async function lockMember(
  transaction: Transaction<Tables>,
  { projectId, userId }: { projectId: string; userId: string },
): Promise<Role> {
  const rows = await transaction
    .selectFrom('members')
    .select(['userId', 'role'])
    .where('projectId', '=', projectId)
    .where((where) => where.or([where('userId', '=', userId), where('role', '=', 'owner')]))
    .orderBy('userId')
    .forUpdate()
    .execute()
  const row = rows.find((each) => each.userId === userId)
  if (row === undefined) throw noMember()
  return row.role
}

async function refuseLastOwner(
  transaction: Transaction<Tables>,
  input: { projectId: string; userId: string },
  role: Role,
): Promise<void> {
  if (role !== 'owner') return
  const other = await transaction
    .selectFrom('members')
    .select('userId')
    .where('projectId', '=', input.projectId)
    .where('role', '=', 'owner')
    .where('userId', '<>', input.userId)
    .executeTakeFirst()
  if (other === undefined) {
    throw new Failure('conflict', {
      reason: 'last_owner',
      message: 'A project keeps at least one owner. Make someone else an owner first.',
    })
  }
}

function noMember(): Failure {
  return new Failure('not_found', { message: 'This project has no such member.' })
}
