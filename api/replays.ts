import { z } from 'zod'
import { pageQuery, slug, timestamp } from './envelope.ts'
import { fixedLimits } from './limits.ts'
import { versionNumber } from './queries.ts'

/** The settings for recording calls. */
export const replaySettings = z
  .strictObject({
    recording: z.boolean().meta({
      description: 'Off until it is switched on. Switching it off deletes what was recorded, and the calls of replays.',
    }),
    max_calls: z
      .int()
      .min(1)
      .max(fixedLimits.replayCalls.value)
      .default(1_000)
      .meta({ description: 'Most calls of one replay, and most that are kept of each query.' }),
    days: z.int().min(1).max(365).default(7).meta({ description: 'How long a call is kept.' }),
    redacted_slots: z.array(slug).max(fixedLimits.redactedSlots.value).default([]).meta({
      description:
        'Slots, of whatever query, whose values are never written down. Adding one deletes what was recorded. In their place a replay uses the value of an example.',
    }),
  })
  .meta({ id: 'ReplaySettings' })

export const newReplay = z.strictObject({
  environment: slug.default('production').meta({ description: 'Whose calls, and whose versions to compare with.' }),
  queries: z
    .union(
      [
        z
          .array(
            z.strictObject({
              name: slug,
              version: versionNumber.optional().meta({ description: 'Left out: the draft.' }),
            }),
          )
          .min(1)
          .max(fixedLimits.pageItems.value),
        z.literal('all'),
      ],
      'must be a list of queries by name, or "all"',
    )
    .default('all')
    .meta({ description: '`all`: every query whose draft differs from what answers.' }),
})

const count = z.int().min(0)
const counts = {
  calls: count.meta({ description: 'How many were run.' }),
  equal: count,
  reordered: count.meta({ description: 'The same rows in another order.' }),
  different: count,
  failed: count.meta({ description: 'The new version fails where the old one answers, or in another way.' }),
  unstable: count.meta({ description: 'The old version does not answer twice alike either, so nothing can be said.' }),
  skipped: count.meta({ description: 'Could not be run or compared.' }),
  dropped: count.meta({ description: 'Of a canary or shadow: not run for want of room.' }),
  columns: z
    .record(z.string(), count)
    .meta({ description: 'Columns with other values, each with the number of calls in which it has.' }),
  before_ms: z.number().meta({ description: 'Time of all calls that both versions answered, on the old version.' }),
  after_ms: z.number(),
  before_bytes: count,
  after_bytes: count,
}

export const replay = z
  .object({
    id: z.string(),
    environment: z.string(),
    kind: z.enum(['replay', 'canary', 'shadow']),
    release_id: z.string().nullable(),
    job_id: z.string().nullable(),
    status: z.enum(['running', 'finished', 'stopped']).meta({
      description: '`running`: the figures are those of what was run so far.',
    }),
    recorded: count.nullable().meta({ description: 'How many calls there were to run; null until it is known.' }),
    ...counts,
    summary: z.string().meta({ description: 'In words: of 1,000 calls 998 equal, 2 different in revenue.' }),
    queries: z.array(z.object({ name: z.string(), ...counts })),
    created_at: timestamp,
    created_by: z.string(),
    finished_at: timestamp.nullable(),
  })
  .meta({ id: 'Replay' })

const outcome = z.enum(['equal', 'reordered', 'different', 'failed', 'unstable', 'skipped'])

export const replayCallEntry = z.object({
  id: z.string(),
  query: z.string(),
  outcome,
  before_version: z.int(),
  after_version: z.int().nullable().meta({ description: 'Null: the draft.' }),
  called_at: timestamp,
  key_id: z.string().nullable(),
  parameters: z
    .record(z.string(), z.unknown())
    .nullable()
    .meta({ description: 'As recorded, without what is redacted; null for viewers.' }),
  before_rows: z.int().nullable().meta({ description: 'Null where the version failed or was not run.' }),
  after_rows: z.int().nullable(),
})

const row = z.record(z.string(), z.unknown())
const ran = z
  .union([
    z.object({ row_count: z.int(), bytes: z.int(), elapsed_ms: z.number(), truncated: z.boolean() }),
    z.object({ error: z.object({ code: z.string(), reason: z.string().nullable(), message: z.string() }) }),
  ])
  .nullable()

export const replayCall = replayCallEntry
  .extend({
    parameters: z.record(z.string(), z.unknown()).meta({ description: 'As recorded, without what is redacted.' }),
    redacted: z
      .array(z.string())
      .meta({ description: 'Slots whose values the project keeps out of what is written down.' }),
    times: z.int().meta({ description: 'How many calls with the same values it stands for.' }),
    because: z.string().nullable().meta({ description: 'Why it was not compared.' }),
    before: ran,
    after: ran,
    comparison: z
      .object({
        added: z.int().nullable().meta({ description: 'Rows; null where the results are too large to tell.' }),
        removed: z.int().nullable(),
        changed: z.int().nullable(),
        changed_columns: z.record(z.string(), z.int()).meta({ description: 'Rows with another value, by column.' }),
        columns: z.object({
          added: z.array(z.string()),
          removed: z.array(z.string()),
          retyped: z.array(z.object({ name: z.string(), before: z.string(), after: z.string() })),
        }),
        key: z
          .array(z.string())
          .nullable()
          .meta({ description: 'The columns by which rows were found again; null where no set of them is unique.' }),
        sample: z.array(
          z.object({
            kind: z.enum(['changed', 'removed', 'added']),
            before: row.optional(),
            after: row.optional(),
            columns: z.array(z.string()).optional(),
          }),
        ),
      })
      .nullable(),
  })
  .meta({ id: 'ReplayCall' })

export const replayCallsFilter = z.strictObject({
  outcome: outcome.optional(),
  query: slug.optional(),
  ...pageQuery,
})
