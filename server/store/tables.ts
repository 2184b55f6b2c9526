import type { ColumnType, Generated } from 'kysely'

/**
 * The tables as Kysely sees them, in the database's own names. `test/api/tables.test.ts` compares this file with the
 * migrated database, column by column.
 */
export type Tables = {
  installation: InstallationTable
  users: UsersTable
  sessions: SessionsTable
  projects: ProjectsTable
  members: MembersTable
  environments: EnvironmentsTable
  links: LinksTable
  management_tokens: ManagementTokensTable
  audit_log: AuditLogTable
}

export type Role = 'owner' | 'editor' | 'viewer'

/** Set by the database when it is not given. */
type CreatedAt = ColumnType<Date, Date | undefined, never>

type InstallationTable = {
  only_row: Generated<boolean>
  created_at: CreatedAt
  example: 'wanted' | 'done' | 'off'
}

type UsersTable = {
  id: string
  email: string | null
  name: string
  password_hash: string | null
  administrator: Generated<boolean>
  created_at: CreatedAt
}

type SessionsTable = {
  id_hash: Buffer
  user_id: string
  created_at: CreatedAt
  expires_at: Date
}

type ProjectsTable = {
  id: string
  name: string
  created_at: CreatedAt
}

type MembersTable = {
  project_id: string
  user_id: string
  role: Role
  created_at: CreatedAt
}

type EnvironmentsTable = {
  project_id: string
  name: string
  position: number
  created_at: CreatedAt
}

type LinksTable = {
  id: string
  secret_hash: Buffer
  user_id: string | null
  project_id: string | null
  role: Role | null
  email: string | null
  created_by: string | null
  created_at: CreatedAt
  expires_at: Date
  used_at: Date | null
}

type ManagementTokensTable = {
  id: string
  name: string
  secret_hash: Buffer
  start: string
  last4: string
  project_id: string | null
  role: Role
  created_by: string | null
  created_at: CreatedAt
  expires_at: Date | null
  revoked_at: Date | null
  last_used_at: Date | null
}

type AuditLogTable = {
  id: string
  at: CreatedAt
  actor_kind: 'user' | 'token' | 'operator' | 'system'
  actor_id: string | null
  actor_label: string
  project_id: string | null
  action: string
  target: string
  details: ColumnType<Record<string, unknown>, string | undefined, never>
  request_id: string | null
}
