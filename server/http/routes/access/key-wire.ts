import type { z } from 'zod'
import { apiKey, type changeApiKey, type createdApiKey, type reach } from '../../../../api/keys.ts'
import type * as access from '../../../access/index.ts'
import { toWire, type FromWire } from '../../../../api/wire-codec.ts'

type Changes = { [Name in keyof access.KeyInput]?: access.KeyInput[Name] | undefined }

export function keyInputOf(body: FromWire<z.output<typeof changeApiKey>>): Changes {
  const { permissions, rateLimit: rate, dailyQuota: perDay, expiresAt, ...rest } = body
  return {
    ...rest,
    rate,
    perDay,
    permissions: permissions?.map(({ queries = null, ...reached }) => ({ ...reached, queries })),
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

export function wireCreatedKey({ secret, ...key }: access.ApiKey & { secret: string }): z.output<typeof createdApiKey> {
  return { ...wireKey(key), secret }
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
