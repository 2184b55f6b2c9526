import type { Generated } from 'kysely'
import type { CreatedAt, Json } from './columns.ts'

export type KeysTables = {
  api_keys: ApiKeysTable
  api_key_permissions: ApiKeyPermissionsTable
  api_key_uses: ApiKeyUsesTable
}

type ApiKeysTable = {
  id: string
  name: string
  secret_hash: Buffer
  previous_hash: Buffer | null
  previous_until: Date | null
  start: string
  last4: string
  plan: string
  per_minute: number | null
  burst: number | null
  per_day: number | null
  fixed_parameters: Json<Record<string, unknown>>
  created_by: string | null
  created_at: CreatedAt
  expires_at: Date | null
  disabled_at: Date | null
  revoked_at: Date | null
  changed_at: Generated<Date>
}

type ApiKeyPermissionsTable = {
  key_id: string
  position: number
  project_id: string | null
  environments: string[] | null
  queries: string[] | null
}

type ApiKeyUsesTable = {
  key_id: string
  last_used_at: Date
  daily_state: number | null
}
