import type { ColumnType, Generated } from 'kysely'
import type { CreatedAt } from './columns.ts'

export type PeopleTables = {
  installation: InstallationTable
  users: UsersTable
  sessions: SessionsTable
  projects: ProjectsTable
  members: MembersTable
  environments: EnvironmentsTable
  links: LinksTable
  management_tokens: ManagementTokensTable
  audit_log: AuditLogTable
  vault_check: VaultCheckTable
}

export type Role = 'owner' | 'editor' | 'viewer'

type InstallationTable = {
  only_row: Generated<boolean>
  created_at: CreatedAt
  example: 'wanted' | 'done' | 'off'
  example_project_id: string | null
  example_key_id: string | null
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
  allowed_origins: Generated<string[]>
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

type VaultCheckTable = {
  only_row: Generated<boolean>
  sealed: Buffer
}
