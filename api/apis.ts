import { z } from 'zod'
import { apiConfiguration } from './connections.ts'
import { slug, timestamp } from './envelope.ts'

/** The wire of what several connections share: base address, headers, authentication, rate. */

export const apiRate = z
  .strictObject({
    requests: z.int().min(1).max(10_000).optional(),
    per: z.enum(['second', 'minute', 'hour', 'day'], 'must be second, minute, hour or day').default('second'),
    concurrency: z.int().min(1).max(100).optional().meta({ description: 'Calls at once.' }),
  })
  .refine(({ requests, concurrency }) => requests !== undefined || concurrency !== undefined, {
    error: 'needs requests, concurrency or both',
  })
  .meta({
    description: 'The most calls that go there, over all its connections: `5` per `second`, `2` at once.',
    anyOf: [{ required: ['requests'] }, { required: ['concurrency'] }],
  })
export type ApiRate = z.output<typeof apiRate>

const tries = z.int().min(1).max(10)

export const newApi = z.strictObject({
  name: slug.meta({ description: 'What a connection writes as `api`.' }),
  config: apiConfiguration,
  rate: apiRate.nullable().optional(),
  tries: tries.nullable().optional().meta({ description: 'How often a call is tried in all. Null: as usual.' }),
})

/** `***` keeps a stored secret, for the same address. Its connections follow a new name. */
export const changeApi = newApi.partial()

export const definedApi = z
  .strictObject({
    name: newApi.shape.name,
    config: apiConfiguration.meta({ description: '`***` keeps a stored secret, for the same address.' }),
    rate: apiRate.nullable().default(null),
    tries: tries.nullable().default(null),
  })
  .meta({ id: 'DefinedApi', description: 'What several connections share; each names it as `config.api`.' })
export type DefinedApi = z.output<typeof definedApi>

export const api = z
  .object({
    id: z.string(),
    name: z.string(),
    config: z.record(z.string(), z.unknown()).meta({ description: 'Secrets read `***`.' }),
    rate: apiRate.nullable(),
    tries: z.int().nullable(),
    paused_until: timestamp.nullable().meta({ description: 'The API said that it takes no calls before.' }),
    connections: z.int().meta({ description: 'How many connections use it.' }),
    created_at: timestamp,
    updated_at: timestamp,
  })
  .meta({ id: 'Api' })
