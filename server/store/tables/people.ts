import type { ColumnType, Generated } from 'kysely'
import type { CreatedAt } from './columns.ts'

export type PeopleTables = {
  installation: InstallationTable
  users: UsersTable
  sessions: SessionsTable
  projects: ProjectsTable
  members: MembersTable
  environments: EnvironmentsTable
  sharedReferences: SharedReferencesTable
  links: LinksTable
  managementTokens: ManagementTokensTable
  auditLog: AuditLogTable
  vaultCheck: VaultCheckTable
}

export type Role = 'owner' | 'editor' | 'viewer'

type InstallationTable = {
  onlyRow: Generated<boolean>
  createdAt: CreatedAt
  example: 'wanted' | 'done' | 'off'
  exampleProjectId: string | null
  exampleKeyId: string | null
}

type UsersTable = {
  id: string
  email: string | null
  name: string
  passwordHash: string | null
  administrator: Generated<boolean>
  createdAt: CreatedAt
}

type SessionsTable = {
  idHash: Buffer
  userId: string
  createdAt: CreatedAt
  expiresAt: Date
}

type ProjectsTable = {
  id: string
  name: string
  allowedOrigins: Generated<string[]>
  queryLinks: Generated<boolean>
  engine: Generated<'duckdb' | 'trino'>
  createdAt: CreatedAt
}

type MembersTable = {
  projectId: string
  userId: string
  role: Role
  createdAt: CreatedAt
}

type EnvironmentsTable = {
  projectId: string
  name: string
  position: number
  createdAt: CreatedAt
}

type SharedReferencesTable = {
  projectId: string
  environment: string
  secretHash: Buffer
  createdAt: CreatedAt
}

type LinksTable = {
  id: string
  secretHash: Buffer
  userId: string | null
  projectId: string | null
  role: Role | null
  email: string | null
  createdBy: string | null
  createdAt: CreatedAt
  expiresAt: Date
  usedAt: Date | null
}

type ManagementTokensTable = {
  id: string
  name: string
  secretHash: Buffer
  start: string
  last4: string
  projectId: string | null
  role: Role
  createdBy: string | null
  createdAt: CreatedAt
  expiresAt: Date | null
  revokedAt: Date | null
  lastUsedAt: Date | null
}

type AuditLogTable = {
  id: string
  at: CreatedAt
  actorKind: 'user' | 'token' | 'operator' | 'system'
  actorId: string | null
  actorLabel: string
  projectId: string | null
  action: string
  target: string
  details: ColumnType<Record<string, unknown>, string | undefined, never>
  requestId: string | null
}

type VaultCheckTable = {
  onlyRow: Generated<boolean>
  sealed: Buffer
}
