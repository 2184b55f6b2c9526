import { z } from 'zod'
import { displayName, slug, timestamp } from './envelope.ts'
import { fixedLimits } from './limits.ts'

const environments = z.union(
  [z.literal('*'), z.array(slug).min(1).max(fixedLimits.permissionEnvironments.value)],
  'must be "*" or a list of environments',
)
const permission = z.strictObject({
  project_id: z.string().min(1).max(100).meta({ description: 'A project, or "*" for every one, now and later.' }),
  environments,
  queries: z
    .array(slug)
    .min(1)
    .max(fixedLimits.permissionQueries.value)
    .optional()
    .meta({ description: 'Only these queries. Left out: all that are deployed there.' }),
})
const permissions = z
  .array(permission)
  .min(1)
  .max(fixedLimits.keyPermissions.value)
  .meta({ description: 'What the key reaches; the lines add up.' })

export const rateLimit = z.strictObject({
  per_minute: z.int().min(1).max(1_000_000),
  burst: z.int().min(1).max(1_000_000).meta({ description: 'Calls at once before the rate holds.' }),
})
export const dailyQuota = z.int().min(1).max(1_000_000_000)

const scalar = z.union([z.string().max(10_000), z.number(), z.boolean()])
export const fixedParameters = z
  .record(slug, z.union([scalar, z.array(scalar).max(1_000)]))
  .refine(
    (value) => Object.keys(value).length <= fixedLimits.fixedParameters.value,
    `must have at most ${fixedLimits.fixedParameters.value} names`,
  )
  .meta({
    description: 'Slots whose value the key decides. A caller who sends one of them is refused.',
    maxProperties: fixedLimits.fixedParameters.value,
  })

const tagList = z
  .array(z.string().trim().min(1).max(40))
  .max(fixedLimits.keyTags.value)
  .refine((all) => new Set(all).size === all.length, 'name a tag twice')
  .meta({ description: 'Words by which people find and group keys.', uniqueItems: true })

export const newApiKey = z.strictObject({
  name: displayName,
  permissions,
  plan: z.string().max(63).optional().meta({ description: 'One of GET /v1/plans. Left out: the default one.' }),
  rate_limit: rateLimit.optional().meta({ description: 'Instead of the rate of the plan.' }),
  daily_quota: dailyQuota.optional().meta({ description: 'Calls from midnight to midnight, UTC.' }),
  expires_at: timestamp.optional(),
  fixed_parameters: fixedParameters.optional(),
  tags: tagList.optional(),
})

export const changeApiKey = z.strictObject({
  name: displayName.optional(),
  permissions: permissions.optional(),
  plan: z.string().max(63).optional(),
  rate_limit: rateLimit.nullable().optional().meta({ description: 'Null: as the plan says.' }),
  daily_quota: dailyQuota.nullable().optional().meta({ description: 'Null: as the plan says.' }),
  expires_at: timestamp.nullable().optional().meta({ description: 'Null: never.' }),
  fixed_parameters: fixedParameters.optional(),
  tags: tagList.optional(),
})

export const newBrowserToken = z.strictObject({
  project_id: z.string().min(1).max(100).optional().meta({ description: "The key's only project if left out." }),
  environment: slug.optional().meta({ description: "The key's only environment if left out, else production." }),
  queries: z
    .array(slug)
    .min(1)
    .max(fixedLimits.permissionQueries.value)
    .optional()
    .meta({ description: 'Only these queries. Left out: all that the key reaches there.' }),
  fixed_parameters: fixedParameters.optional().meta({
    description: 'Slots whose value the token decides, beside those of the key. Not readable in the token.',
  }),
  rate_limit: rateLimit
    .default({ per_minute: 30, burst: 10 })
    .meta({ description: "Of this token; its calls count against the key's limits as well." }),
  expires_in_seconds: z
    .int()
    .min(60)
    .max(fixedLimits.browserTokenSeconds.value)
    .default(600)
    .meta({ description: 'Never longer than the key.' }),
})

export const browserToken = z
  .object({
    token: z.string().meta({ description: 'For the page: slc_browser_….' }),
    expires_at: timestamp,
    project_id: z.string(),
    environment: z.string(),
    queries: z.array(z.string()).nullable().meta({ description: 'Null: all that the key reaches there.' }),
    fixed_parameters: z.array(z.string()).meta({ description: 'The names of the slots that it decides.' }),
    rate_limit: z.object({ per_minute: z.number(), burst: z.number() }),
  })
  .meta({ id: 'BrowserToken' })

export const rotateApiKey = z.strictObject({
  grace_seconds: z
    .int()
    .min(0)
    .max(2_592_000)
    .default(86_400)
    .meta({ description: 'How long the old secret is good beside the new one; 0 ends it at once.' }),
})

const answeredPermission = z
  .object({ project_id: z.string(), environments: z.union([z.literal('*'), z.array(z.string())]) })
  .extend({ queries: z.array(z.string()).optional() })

export const apiKey = z
  .object({
    id: z.string(),
    name: z.string(),
    start: z.string().meta({ description: 'How the secret begins, to tell keys apart.' }),
    last4: z.string(),
    permissions: z.array(answeredPermission),
    fixed_parameters: z.record(z.string(), z.unknown()),
    plan: z.string(),
    rate_limit: z.object({ per_minute: z.number(), burst: z.number() }).nullable(),
    daily_quota: z.number().nullable(),
    tags: z.array(z.string()),
    status: z.enum(['active', 'disabled', 'expired', 'revoked']),
    created_by: z.string().nullable(),
    created_at: timestamp,
    expires_at: timestamp.nullable(),
    last_used_at: timestamp.nullable(),
    previous_secret_until: timestamp
      .nullable()
      .meta({ description: 'Until when the secret before the last rotation is good as well.' }),
  })
  .meta({ id: 'ApiKey' })

export const createdApiKey = apiKey
  .extend({ secret: z.string().meta({ description: 'Shown once.' }) })
  .meta({ id: 'CreatedApiKey' })

export const keyAddress = z.object({ address: z.string(), last_used_at: timestamp }).meta({ id: 'KeyAddress' })

export const reach = z
  .object({
    project_id: z.string(),
    project_name: z.string(),
    environments: z.array(
      z.object({
        name: z.string(),
        queries: z
          .union([z.literal('*'), z.array(z.string())])
          .meta({ description: 'What it may call: names, or "*" for every query.' }),
        deployed: z.array(z.string()).meta({ description: 'Of these, the ones that are deployed there now.' }),
      }),
    ),
  })
  .meta({ id: 'Reach' })

export const plan = z
  .object({
    name: z.string(),
    per_minute: z.number().nullable().meta({ description: 'Null: no limit.' }),
    burst: z.number().nullable(),
    per_day: z.number().nullable(),
    default: z.boolean().meta({ description: 'Given to keys that are made without a plan.' }),
    grantable: z
      .boolean()
      .meta({ description: 'Whether the caller may give it to a key; administrators may give any.' }),
  })
  .meta({ id: 'Plan' })

export const ownKey = z
  .object({
    id: z.string(),
    name: z.string(),
    plan: z.string(),
    permissions: z.array(answeredPermission),
    fixed_parameters: z.array(z.string()).meta({ description: 'Slots that the key decides: leave them out of calls.' }),
    expires_at: timestamp.nullable(),
    limits: z.array(
      z.object({
        name: z.string(),
        quota: z.number(),
        window_seconds: z.number(),
        burst: z.number().meta({ description: 'Calls at once, when none was made lately.' }),
      }),
    ),
    target: z
      .object({ project_id: z.string().nullable(), environment: z.string() })
      .meta({ description: 'Where a call so addressed goes. Null: to the one project that has the query.' }),
  })
  .meta({ id: 'OwnKey' })
