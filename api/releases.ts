import { z } from 'zod'
import { pageQuery, slug, timestamp } from './envelope.ts'
import { fixedLimits } from './limits.ts'
import { replay } from './replays.ts'
import { askedAgain, meaningForCallers, versionNumber } from './queries.ts'

/** Why a release was made, for who reads the history. */
const why = {
  message: z.string().trim().max(fixedLimits.releaseMessageChars.value).optional().meta({ description: 'Why.' }),
  commit: z
    .string()
    .trim()
    .max(200)
    .regex(/^[\x21-\x7e]*$/, 'must be a revision without spaces')
    .optional()
    .meta({ description: 'The revision of the files that it was made from.' }),
}
const check = z.boolean().default(false).meta({ description: 'Report and change nothing that callers see.' })
const force = z
  .boolean()
  .default(false)
  .meta({ description: 'Release although something breaks callers, or takes questions of other queries.' })

const releasedQuery = z
  .strictObject({
    name: slug,
    version: versionNumber.optional().meta({ description: 'A version that exists, instead of the draft.' }),
    remove: z.boolean().optional().meta({ description: 'Take it out of the environment.' }),
  })
  .refine(({ version, remove }) => remove !== true || version === undefined, 'is removed, so it has no version')
  .meta({ not: { properties: { remove: { enum: [true] } }, required: ['remove', 'version'] } })

const share = z.number().min(0).max(1)
/** Limits beyond which a trial rolls back by itself. */
export const rollBackRules = z.strictObject({
  error_rate: share.nullable().default(null).meta({
    description: 'Share of the calls of a query that fail, beyond the share that fails on the version before.',
  }),
  p95_factor: z
    .number()
    .min(1)
    .max(1_000)
    .nullable()
    .default(null)
    .meta({ description: 'The p95 of a query as a multiple of its p95 on the version before.' }),
  differences: share.nullable().default(null).meta({
    description: 'Share of calls with other rows than on the version before. Calls are run on both, in the background.',
  }),
  min_calls: z.int().min(1).max(1_000_000).default(20).meta({
    description: 'Nothing is judged, and no step taken, before so many calls since the last step.',
  }),
})
const percent = z.number().min(0.01).max(100)
const canaryStep = z.strictObject({
  percent: percent.meta({ description: 'By how much the share grows.' }),
  seconds: z.int().min(1).max(2_592_000).meta({ description: 'After how long.' }),
})

/** A release that answers a share of the calls first. */
const newCanary = z.strictObject({
  percent: percent.meta({ description: 'Of the keys that call; each key has one version for all its calls.' }),
  step: canaryStep.optional().meta({
    description: 'How it grows by itself; the step beyond 100 % makes it `released`. Without it, a person continues.',
  }),
  roll_back_on: rollBackRules.optional(),
})

export const continueRelease = z.strictObject({
  percent: percent
    .default(100)
    .meta({ description: 'Its share from now on; 100: it answers everyone and is `released`.' }),
})

export const newRelease = z
  .strictObject({
    environment: slug.default('production'),
    queries: z
      .union(
        [
          z
            .array(releasedQuery)
            .min(1)
            .max(fixedLimits.releaseQueries.value)
            .refine((all) => new Set(all.map(({ name }) => name)).size === all.length, 'name a query twice'),
          z.literal('all'),
        ],
        'must be a list of queries by name, or "all"',
      )
      .meta({
        description: '`all`: every query whose draft is not what answers in the environment.',
      }),
    check,
    force,
    canary: newCanary.optional(),
    shadow: z.boolean().default(false).meta({
      description: 'It answers nobody; a bounded number of calls is run on it too, after their answer, and compared.',
    }),
    ...why,
  })
  .refine(({ canary, shadow }) => canary === undefined || !shadow, 'takes canary or shadow, not both')
  .meta({ not: { properties: { shadow: { enum: [true] } }, required: ['shadow', 'canary'] } })

const seen = z.object({ calls: z.int(), errors: z.int(), p95_ms: z.number().nullable() })
/** Figures of a canary or shadow, running or ended. */
const trial = z
  .object({
    percent: z.number(),
    step: canaryStep.nullable(),
    roll_back_on: rollBackRules.nullable(),
    replay_id: z.string().nullable().meta({ description: 'The replay that has what was compared.' }),
    started_at: timestamp,
    stepped_at: timestamp,
    ended_at: timestamp.nullable(),
    because: z.string().nullable().meta({ description: 'Why it was rolled back.' }),
    judged_at: timestamp.nullable(),
    queries: z
      .array(z.object({ query: z.string(), after: seen, before: seen }))
      .meta({ description: 'Since the last step, on its versions and on those before.' }),
    compared: z
      .object({ calls: z.int(), different: z.int(), dropped: z.int() })
      .nullable()
      .meta({ description: '`different`: with other rows, or failed. `dropped`: not run for want of room.' }),
  })
  .meta({ id: 'ReleaseTrial' })

/** Every version of one environment answers in another. */
export const promoteEnvironment = z.strictObject({
  from: slug,
  to: slug,
  prune: z.boolean().default(false).meta({ description: 'Also take out of `to` what `from` does not have.' }),
  check,
  force,
  ...why,
})

export const rollbackRelease = z.strictObject({
  check,
  force: z
    .boolean()
    .default(false)
    .meta({ description: 'Go back although later releases have changed the same queries.' }),
  ...why,
})

export const releaseStatus = z.enum(['released', 'checked', 'canary', 'shadow', 'rolled_back']).meta({
  description: '`checked`: only judged. `rolled_back`: another release took it back.',
})
export const releaseAct = z.enum(['release', 'deploy', 'promote', 'rollback', 'undeploy'])

const releaseFields = {
  id: z.string().nullable().meta({ description: 'Null where there was nothing to release.' }),
  environment: z.string(),
  status: releaseStatus,
  act: releaseAct.meta({ description: 'How it came about. Single deployments are releases of one query.' }),
  message: z.string().nullable(),
  commit: z.string().nullable(),
  promoted_from: z.string().nullable().meta({ description: 'The environment that was promoted.' }),
  rolls_back: z.string().nullable().meta({ description: 'The release that it rolls back.' }),
  rolled_back_by: z.string().nullable(),
  forced: z.boolean(),
  created_at: timestamp,
  created_by: z.string(),
}

export const release = z
  .object({
    ...releaseFields,
    queries: z.array(
      z.object({
        name: z.string(),
        version: z.int().nullable().meta({ description: 'Null: taken out of the environment.' }),
        previous_version: z.int().nullable().meta({ description: 'Null: it was not there before.' }),
        ...meaningForCallers,
      }),
    ),
    routing: askedAgain,
    replay: replay
      .nullable()
      .meta({ description: 'What recorded calls said of it when it was checked; null where none were run.' }),
    canary: trial.nullable(),
    shadow: trial.nullable(),
  })
  .meta({ id: 'Release' })

export const releaseEntry = z
  .object({
    ...releaseFields,
    id: z.string(),
    query_count: z.int(),
    query_names: z.array(z.string()).meta({ description: 'The first of them, by name.' }),
    version: z
      .int()
      .nullable()
      .meta({ description: 'Of its query where it changed one; null where that was taken out.' }),
    breaking_count: z.int(),
  })
  .meta({ id: 'ReleaseEntry' })

export const releaseFilter = z.strictObject({
  environment: slug.optional(),
  query: slug.optional().meta({ description: 'Those that changed this query.' }),
  status: releaseStatus.optional().meta({ description: 'Without it, all but those that were only checked.' }),
  ...pageQuery,
})
