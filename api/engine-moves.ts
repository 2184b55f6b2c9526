import { z } from 'zod'
import { slug } from './envelope.ts'
import { fixedLimits } from './limits.ts'
import { change, sqlText, versionNumber } from './queries.ts'
import { engine } from './projects.ts'

const parameters = z.record(z.string(), z.unknown()).meta({ description: 'Values of slots by name.' })
const accepted = z.enum(['unchecked', 'order'])

/** The author's choices for one query. */
const movedQuery = z
  .strictObject({
    name: slug,
    version: versionNumber.optional().meta({
      description: 'A version that answers somewhere with another text than the draft. Left out: the draft.',
    }),
    sql: sqlText.optional().meta({ description: 'Its text on the new engine. Left out: the text as it is.' }),
    parameters: z
      .array(parameters)
      .max(fixedLimits.engineMoveParameters.value)
      .default([])
      .meta({ description: 'Values to compare both engines on, before its examples and recorded calls.' }),
    accept: z.array(accepted).max(2).default([]).meta({
      description:
        '`unchecked`: move it although nothing could be compared. `order`: the same rows in another order will do.',
    }),
    exclude: z.boolean().default(false).meta({
      description: 'Leave the query behind: it stops answering everywhere, and its draft stays as it is.',
    }),
  })
  .meta({ id: 'MovedQuery' })

export const moveEngine = z.strictObject({
  engine: engine.meta({ description: 'The engine that the project is to be on.' }),
  queries: z
    .array(movedQuery)
    .max(fixedLimits.releaseQueries.value)
    .refine(
      (all) => new Set(all.map(({ name, version }) => `${name} ${version ?? ''}`)).size === all.length,
      'name a query twice',
    )
    .default([])
    .meta({ description: 'Queries of which there is something to say. All others are moved as they are.' }),
})

export const moveEngineFilter = z.strictObject({
  check: z
    .enum(['true', 'false'])
    .default('false')
    .meta({ description: '`true`: compare and report; nothing is switched.' }),
})

const row = z.record(z.string(), z.unknown())
const difference = z.object({
  parameters,
  source: z.enum(['given', 'defaults', 'example', 'recorded']).meta({ description: 'Where the values come from.' }),
  because: z.string().nullable().meta({ description: 'In words, where it is not rows that differ.' }),
  added: z.int().nullable().meta({ description: 'Rows; null where the results are too large to tell, or one failed.' }),
  removed: z.int().nullable(),
  changed: z.int().nullable(),
  rows: z
    .array(
      z.object({
        kind: z.enum(['changed', 'removed', 'added']),
        before: row.optional(),
        after: row.optional(),
        columns: z.array(z.string()).optional(),
      }),
    )
    .meta({ description: 'Some of the rows that differ.' }),
})

const movedText = z.object({
  name: z.string(),
  version: z.int().nullable().meta({ description: 'Of a text that is not that of the draft.' }),
  environments: z.array(z.string()).meta({ description: 'Where it answers now.' }),
  status: z.enum(['same', 'different', 'cannot', 'unchecked', 'excluded']).meta({
    description:
      '`same`: the same rows in the same order and of the same types, for `compared` sets of values; no promise for others. `cannot`: the new engine refuses it. `unchecked`: there was nothing to compare on.',
  }),
  blocks: z.boolean().meta({ description: 'Whether nothing is switched because of it.' }),
  because: z.string().nullable(),
  sql: z.string().meta({ description: 'The text that was tried on the new engine.' }),
  rewritten: z.boolean(),
  compared: z.int().meta({ description: 'Sets of values on which both engines answered and were compared.' }),
  uncompared: z
    .int()
    .meta({ description: 'Sets of values that say nothing: both fail, or the old one is not stable.' }),
  changes: z.array(change).meta({ description: 'Of its columns, by what callers notice.' }),
  differences: z.array(difference).meta({ description: 'The first calls that differ.' }),
})

export const engineMove = z
  .object({
    project_id: z.string(),
    from: engine,
    to: engine,
    switched: z.boolean(),
    ready: z.boolean().meta({ description: 'Whether nothing stands against switching.' }),
    summary: z.string(),
    queries: z.array(movedText),
    releases: z
      .array(z.object({ environment: z.string(), release_id: z.string().nullable() }))
      .meta({ description: 'What the switch released, an environment each.' }),
  })
  .meta({ id: 'EngineMove' })
