import type { Generated } from 'kysely'
import type { CreatedAt, Json } from './columns.ts'
import type { Role } from './people.ts'

export type KeysTables = {
  apiKeys: ApiKeysTable
  apiKeyPermissions: ApiKeyPermissionsTable
  apiKeyUses: ApiKeyUsesTable
  apiKeyAddresses: ApiKeyAddressesTable
  oauthClients: OAuthClientsTable
  oauthGrants: OAuthGrantsTable
  programSignIns: ProgramSignInsTable
}

type ApiKeysTable = {
  id: string
  name: string
  secretHash: Buffer
  previousHash: Buffer | null
  previousUntil: Date | null
  start: string
  last4: string
  plan: string
  perMinute: number | null
  burst: number | null
  perDay: number | null
  fixedParameters: Json<Record<string, unknown>>
  createdBy: string | null
  createdAt: CreatedAt
  expiresAt: Date | null
  disabledAt: Date | null
  revokedAt: Date | null
  changedAt: Generated<Date>
  tags: Generated<string[]>
  kind: Generated<'key' | 'link'>
}

type ApiKeyPermissionsTable = {
  keyId: string
  position: number
  projectId: string | null
  environments: string[] | null
  queries: string[] | null
}

type ApiKeyUsesTable = {
  keyId: string
  lastUsedAt: Date
  dailyState: number | null
  calls: Generated<number>
}

type ApiKeyAddressesTable = {
  keyId: string
  address: string
  lastUsedAt: Date
}

type OAuthClientsTable = {
  id: string
  name: string
  redirectUris: string[]
  createdAt: CreatedAt
}

type ProgramSignInsTable = {
  id: string
  clientId: string
  userId: string | null
  role: Role | null
  projectId: string | null
  codeHash: Buffer
  redirectUri: string | null
  codeChallenge: string | null
  userCode: string | null
  address: string
  expiresAt: Date
  refusedAt: Date | null
  askedAt: Date | null
  tokenId: string | null
  createdAt: CreatedAt
}

type OAuthGrantsTable = {
  id: string
  clientId: string
  userId: string
  projectId: string
  environment: string
  keyId: string | null
  redirectUri: string
  codeHash: Buffer
  codeChallenge: string
  codeExpiresAt: Date
  codeUsedAt: Date | null
  refreshHash: Buffer | null
  previousRefreshHash: Buffer | null
  refreshedAt: Date | null
  refreshExpiresAt: Date | null
  createdAt: CreatedAt
}
