import type { z } from 'zod'
import { apiKey, type changeApiKey, type reach } from '../../../../api/keys.ts'
import type * as access from '../../../access/index.ts'
import { toWire } from '../../../../api/wire-codec.ts'

type Changes = { [Name in keyof access.KeyInput]?: access.KeyInput[Name] | undefined }

export function keyInputOf(body: z.output<typeof changeApiKey>): Changes {
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
    tags: body.tags,
    expiresAt: expiresAt === undefined || expiresAt === null ? expiresAt : new Date(expiresAt),
  }
}

export function wirePermissions(permissions: readonly access.Permission[]): z.output<typeof apiKey>['permissions'] {
  return toWire(
    apiKey.shape.permissions,
    permissions.map(({ projectId, environments, queries }) => ({
      projectId,
      environments: environments === '*' ? environments : [...environments],
      ...(queries !== null && { queries: [...queries] }),
    })),
  )
}

const keyFacts = apiKey.omit({ permissions: true })

export function wireKey({ permissions, rate, perDay, ...key }: access.ApiKey): z.output<typeof apiKey> {
  const facts = toWire(keyFacts, { ...key, rateLimit: rate, dailyQuota: perDay })
  return { ...facts, permissions: wirePermissions(permissions) }
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
