import type { z } from 'zod'
import type { apiKey, changeApiKey, reach } from '../../../api/keys.ts'
import type * as access from '../../access/index.ts'

type Changes = { [Name in keyof access.KeyInput]?: access.KeyInput[Name] | undefined }

export function inputOf(body: z.output<typeof changeApiKey>): Changes {
  const { name, plan, permissions, rate_limit: rate, daily_quota: perDay, expires_at: expiresAt } = body
  return {
    name,
    plan,
    permissions: permissions?.map(({ project_id: projectId, environments, queries = null }) => ({
      projectId,
      environments,
      queries,
    })),
    rate: rate && { perMinute: rate.per_minute, burst: rate.burst },
    perDay,
    fixedParameters: body.fixed_parameters,
    expiresAt: expiresAt === undefined || expiresAt === null ? expiresAt : new Date(expiresAt),
  }
}

export function wirePermissions(permissions: readonly access.Permission[]): z.output<typeof apiKey>['permissions'] {
  return permissions.map(({ projectId, environments, queries }) => ({
    project_id: projectId,
    environments: environments === '*' ? environments : [...environments],
    ...(queries !== null && { queries: [...queries] }),
  }))
}

export function wireKey(key: access.ApiKey): z.output<typeof apiKey> {
  return {
    id: key.id,
    name: key.name,
    start: key.start,
    last4: key.last4,
    permissions: wirePermissions(key.permissions),
    fixed_parameters: key.fixedParameters,
    plan: key.plan,
    rate_limit: key.rate && { per_minute: key.rate.perMinute, burst: key.rate.burst },
    daily_quota: key.perDay,
    status: key.status,
    created_by: key.createdBy,
    created_at: key.createdAt.toISOString(),
    expires_at: key.expiresAt?.toISOString() ?? null,
    last_used_at: key.lastUsedAt?.toISOString() ?? null,
    previous_secret_until: key.previousSecretUntil?.toISOString() ?? null,
  }
}

export function wireReach({ projectId, projectName, environments }: access.Reach): z.output<typeof reach> {
  return {
    project_id: projectId,
    project_name: projectName,
    environments: environments.map(({ name, queries, deployed }) => ({
      name,
      queries: queries === '*' ? queries : [...queries],
      deployed,
    })),
  }
}
