import { z } from 'zod'
import { changeLoad, datasource } from './datasources.ts'
import { heldBecause } from './data.ts'
import { slug, tags, timestamp } from './envelope.ts'
import { fixedLimits } from './limits.ts'
import { keyThatCalled, sqlText } from './queries.ts'

const statement = sqlText.meta({
  description: 'One SELECT over tables and other models, without slots.',
})
/** The content of a model: what its author decides. */
export const modelContent = {
  sql: statement,
  description: z.string().max(fixedLimits.queryDescriptionChars.value).default(''),
  load: changeLoad.default({ mode: 'replace' }).meta({
    description: '`replace`: each build is the table. `merge`: its rows replace those of the same primary_key.',
  }),
  schedule: z
    .string()
    .max(100)
    .nullable()
    .default(null)
    .meta({ description: 'A cron expression: when to build it besides. Null: when a table that it reads changes.' }),
  schedule_time_zone: z
    .string()
    .max(64)
    .default('UTC')
    .meta({ format: 'time-zone', description: 'IANA name, e.g. Europe/Berlin.' }),
  keep_versions: z.int().min(1).max(fixedLimits.keptVersions.value).default(5),
  tags: tags.default([]),
}

export const newModel = z.strictObject({ name: slug.meta({ description: 'What SQL reads.' }), ...modelContent })
/** A list inside rows as a table of its own. */
export const listModel = z.strictObject({
  table: slug,
  column: z.string().min(1).max(1_000).meta({ description: 'The list, or a path to it: `lines`, `cart.lines`.' }),
  key: z.array(z.string().min(1).max(200)).min(1).max(20).optional().meta({
    description: 'Columns of the table that tell its rows; its primary key, or `id`, if left out.',
  }),
  name: slug.optional().meta({ description: 'Of the new table; `<table>_<column>` if left out.' }),
})
export const changeModel = z.strictObject({
  ...modelContent,
  force: z
    .boolean('must be true or false')
    .default(false)
    .meta({ description: 'Save SQL that does not pass the tests with rows of the model.' }),
})

export const model = z
  .object({
    id: z.string().meta({ description: 'That of its datasource, by which versions and the schema are found.' }),
    name: z.string(),
    description: z.string(),
    sql: z.string(),
    dialect: z.enum(['duckdb', 'trino']),
    columns: z.array(z.object({ name: z.string(), type: z.string() })).meta({ description: 'Those of its statement.' }),
    reads: z.array(z.string()).meta({ description: 'The tables and models that its statement reads.' }),
    read_by: z.array(z.string()).meta({ description: 'The models that read it.' }),
    load: datasource.shape.load,
    schedule: z.string().nullable(),
    schedule_time_zone: z.string(),
    keep_versions: z.int(),
    tags,
    status: z.enum(['new', 'ready', 'held', 'failed']),
    problem: z.string().nullable().meta({
      description: 'Why it, or a model that it reads, is not as new as its tables; the last good one serves.',
    }),
    held: z.object({ version: z.int(), held_because: heldBecause, created_at: timestamp }).nullable(),
    behind: z.array(z.string()).meta({ description: 'Tables that have a newer version than it was built from.' }),
    built_from: z
      .array(z.object({ table: z.string(), version: z.int() }))
      .meta({ description: 'The versions of tables that its data was built from.' }),
    row_count: z.int().nullable(),
    as_of: timestamp.nullable().meta({ description: 'When the oldest data that it was built from was fetched.' }),
    built_at: timestamp.nullable(),
    created_at: timestamp,
  })
  .meta({ id: 'Model' })

const changedRow = z.record(z.string(), z.unknown())
export const compareModel = z.strictObject({
  sql: statement.optional().meta({ description: 'Instead of what is saved.' }),
  key: z
    .array(z.string().min(1).max(200))
    .min(1)
    .max(20)
    .optional()
    .meta({ description: 'Columns that tell its rows apart; its primary key, or a unique check, if left out.' }),
})

export const modelComparison = z
  .object({
    key: z
      .array(z.string())
      .meta({ description: 'Empty where nothing tells the rows apart: whole rows are compared.' }),
    rows_before: z.int(),
    rows_after: z.int(),
    added: z.int(),
    removed: z.int(),
    changed: z.int(),
    equal: z.int(),
    changed_by_column: z.record(z.string(), z.int()),
    columns_added: z.array(z.string()),
    columns_removed: z.array(z.string()),
    columns_retyped: z.array(z.object({ name: z.string(), from: z.string(), to: z.string() })),
    examples: z
      .array(
        z.object({
          change: z.enum(['added', 'removed', 'changed']),
          before: changedRow.nullable(),
          after: changedRow.nullable(),
        }),
      )
      .meta({ description: 'Some of the rows that differ; those that are too long to show are counted only.' }),
    moves: z
      .object({
        models: z.array(z.string()),
        queries: z.array(z.string()),
        questions: z.array(z.string()).meta({ description: 'Stored questions that one of these queries answers.' }),
        callers: z
          .array(keyThatCalled)
          .meta({ description: 'Keys that called one of these queries in the last 30 days.' }),
      })
      .meta({ description: 'The models and deployed queries that read it, by way of other models, too.' }),
  })
  .meta({ id: 'ModelComparison' })
