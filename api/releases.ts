import { z } from 'zod'
import { pageQuery, slug, timestamp } from './envelope.ts'
import { fixedLimits } from './limits.ts'
import { change, keyThatCalled, regression, versionNumber } from './queries.ts'

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

export const newRelease = z.strictObject({
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
  ...why,
})

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
  rolls_back: z.string().nullable().meta({ description: 'The release that it takes back.' }),
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
        compatibility: z.enum(['first', 'compatible', 'additive', 'breaking']),
        changes: z.array(change),
        callers: z.array(keyThatCalled).meta({
          description: 'Keys that called it here in the last 30 days, for a check and where the change is breaking.',
        }),
      }),
    ),
    routing: z.object({
      checked: z.int().meta({ description: 'How many stored questions were asked again.' }),
      regressions: z.array(regression),
    }),
    replay: z
      .record(z.string(), z.unknown())
      .nullable()
      .meta({ description: 'What recorded calls said of it; null where none were run.' }),
    canary: z.record(z.string(), z.unknown()).nullable(),
    shadow: z.record(z.string(), z.unknown()).nullable(),
  })
  .meta({ id: 'Release' })

export const releaseEntry = z
  .object({
    ...releaseFields,
    id: z.string(),
    query_count: z.int(),
    query_names: z.array(z.string()).meta({ description: 'The first of them, by name.' }),
    breaking_count: z.int(),
  })
  .meta({ id: 'ReleaseEntry' })

export const releaseFilter = z.strictObject({
  environment: slug.optional(),
  query: slug.optional().meta({ description: 'Those that changed this query.' }),
  status: releaseStatus.optional().meta({ description: 'Without it, all but those that were only checked.' }),
  ...pageQuery,
})
