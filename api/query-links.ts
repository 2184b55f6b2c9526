import { z } from 'zod'
import { displayName, pageQuery, slug, timestamp } from './envelope.ts'
import { dailyQuota, fixedParameters, rateLimit } from './keys.ts'
import { fixedLimits } from './limits.ts'

export const newQueryLink = z.strictObject({
  query: slug,
  environment: slug.default('production'),
  name: displayName.optional().meta({ description: 'How it is listed. Left out: the name of the query.' }),
  parameters: fixedParameters.optional().meta({ description: 'Values of the slots, the same for every reader.' }),
  expires_at: timestamp.meta({
    description: `When it ends, at most ${fixedLimits.queryLinkDays.value} days from now.`,
  }),
  rate_limit: rateLimit.default({ per_minute: 30, burst: 10 }),
  daily_quota: dailyQuota.default(1_000),
})

export const queryLink = z
  .object({
    id: z.string(),
    name: z.string(),
    query: z.string(),
    environment: z.string(),
    parameters: z.record(z.string(), z.unknown()),
    rate_limit: z.object({ per_minute: z.number(), burst: z.number() }).nullable(),
    daily_quota: z.number().nullable(),
    status: z.enum(['active', 'expired', 'revoked']),
    last4: z.string().meta({ description: 'How its secret ends, to tell links apart.' }),
    created_by: z.string().nullable(),
    created_at: timestamp,
    expires_at: timestamp,
    last_used_at: timestamp.nullable(),
    calls: z.number().meta({ description: 'How often it was opened, refused calls included.' }),
  })
  .meta({ id: 'QueryLink' })

export const createdQueryLink = queryLink
  .extend({
    url: z.string().meta({ description: 'Shown once: JSON. With .csv, .xlsx, .ndjson, .parquet or .arrow, a file.' }),
  })
  .meta({ id: 'CreatedQueryLink' })

export const queryLinksQuery = z.strictObject({
  ...pageQuery,
  query: slug.optional().meta({ description: 'Only links to this query.' }),
})
