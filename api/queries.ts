import { z } from 'zod'
import { notBlank, slug, tags, timestamp } from './envelope.ts'
import { fixedLimits } from './limits.ts'
import { slotsSchema } from './slots.ts'

/** The forms in which rows are given. */
export const rowFormats = ['json', 'csv', 'ndjson', 'parquet', 'arrow', 'xlsx'] as const

const parameters = z.record(z.string(), z.unknown()).meta({ description: 'Values of slots by name.' })
export const sqlText = z
  .string()
  .min(1)
  .max(fixedLimits.sqlChars.value)
  .meta({ description: 'One SELECT over the tables of the project; slots are `$name`.' })
const example = z.strictObject({
  question: z.string().trim().min(1).max(fixedLimits.exampleChars.value).meta(notBlank),
  parameters: parameters.default({}),
})
const maxVersion = 2_147_483_647
export const versionNumber = z.int().min(1).max(maxVersion)
/** In a query string, where everything is text. */
const writtenVersion = z.coerce.number().int().min(1).max(maxVersion)

const columnName = z.string().min(1).max(200)

/** How a result is drawn. Columns that it no longer has are as if they were not named. */
export const chart = z
  .strictObject({
    type: z.enum(['bar', 'line', 'area', 'scatter', 'pie']),
    x: columnName.meta({ description: 'The column that it goes along: days, names, or numbers.' }),
    y: z
      .array(columnName)
      .max(8)
      .default([])
      .meta({ description: 'The columns of numbers that are drawn; none: how many rows there are.' }),
    series: columnName
      .nullable()
      .default(null)
      .meta({ description: 'A column each value of which is a line or a bar of its own.' }),
    stacked: z.boolean().default(false).meta({ description: 'Parts of a whole stand on one another.' }),
  })
  .meta({ id: 'Chart' })
export type Chart = z.output<typeof chart>

/** The content of a query. A field of a query is added here; the compiler names what else must know it. */
const body = {
  description: z.string().max(fixedLimits.queryDescriptionChars.value),
  sql: sqlText,
  slots: slotsSchema,
  examples: z.array(example).max(fixedLimits.queryExamples.value),
  cache_seconds: z.int().min(0).max(86_400).nullable().meta({
    description: 'How long an answer may be given again while the data is the same; null or 0: never.',
  }),
  timeout_ms: z.int().min(10).max(3_600_000).nullable().meta({ description: 'Null: the limit of the service.' }),
  max_rows: z.int().min(1).max(100_000_000).nullable().meta({ description: 'Null: the limit of the service.' }),
  max_bytes: z.int().min(1).max(10_000_000_000).nullable().meta({ description: 'Null: the limit of the service.' }),
  rate_limit: z
    .strictObject({ per_minute: z.int().min(1).max(1_000_000), burst: z.int().min(1).max(1_000_000) })
    .nullable()
    .meta({ description: "Of each key's calls of this query, beside the key's own limit. Null: none." }),
  chart: chart.nullable().meta({ description: 'How its result is drawn; null: as its columns and rows suggest.' }),
  as_tool: z.boolean().nullable().meta({
    description:
      'False: no tool of its own over MCP. Questions still find it; a key that must not reach it leaves it out.',
  }),
}

export const newQuery = z.strictObject({
  name: slug,
  sql: body.sql,
  description: body.description.default(''),
  slots: body.slots.optional().meta({ description: 'Inferred from the SQL when left out.' }),
  examples: body.examples.default([]),
  cache_seconds: body.cache_seconds.default(null),
  timeout_ms: body.timeout_ms.default(null),
  max_rows: body.max_rows.default(null),
  max_bytes: body.max_bytes.default(null),
  rate_limit: body.rate_limit.default(null),
  chart: body.chart.default(null),
  as_tool: body.as_tool.default(null),
  tags: tags.default([]),
})

/** The dialect of the project's engine. */
const dialect = z.enum(['duckdb', 'trino']).meta({ description: 'What the SQL is written in.' })

/** The content of a query as it is read: written by its author, frozen by a version. */
export const queryContent = z.object(body)

/** Fields that are left out stay as they are. */
export const changeQuery = z
  .strictObject({ name: slug, ...body })
  .partial()
  .meta({ description: 'Fields that are left out stay as they are; `name` cannot change.' })

export const column = z.object({ name: z.string(), type: z.string() })

const slotBound = z
  .object({
    side: z.enum(['start', 'end']).nullable().meta({ description: 'Which end of a range it is; null: not known.' }),
    bound: z.enum(['inclusive', 'exclusive']).meta({ description: 'Whether its own day belongs to the range.' }),
    from: z.enum(['sql', 'slot', 'assumed']).meta({
      description: 'Read from the SQL, said by the slot with `x-bound`, or assumed as it could not be read.',
    }),
    problem: z
      .object({
        reason: z.enum(['period_end', 'unread']),
        message: z.string(),
      })
      .nullable()
      .meta({
        description:
          '`period_end`: the SQL loses a part of a day at this end, so that questions about periods are refused.',
      }),
  })
  .meta({ id: 'SlotBound' })

/** How slots that hold a day or a moment bound periods, which is told by the SQL. */
const boundFields = {
  bounds: z.record(z.string(), slotBound).nullable().meta({
    description:
      'How slots that hold a day or a moment bound a range, by name; without those that name one day. Null where it cannot be read now.',
  }),
  mended_sql: z.string().nullable().meta({
    description: 'The SQL with each `period_end` mended; null where there is none, or where only its author can.',
  }),
}

const liveIn = z.object({ environment: z.string(), version: z.int() })

export const query = z
  .object({
    id: z.string(),
    name: z.string(),
    ...body,
    ...boundFields,
    dialect,
    tags,
    revision: z.int().meta({ description: 'Counts edits of the draft; also the ETag, for If-Match.' }),
    deployments: z.array(liveIn),
    changed: z.boolean().meta({ description: 'Whether the draft differs from the newest version.' }),
    created_at: timestamp,
    updated_at: timestamp,
    updated_by: z.string(),
  })
  .meta({ id: 'Query' })

export const tagQuery = z.strictObject({ tags })
export const renameQuery = z.strictObject({ name: slug })

export const inspectSql = z.strictObject({ sql: sqlText, slots: slotsSchema.optional() })
export const inspection = z
  .object({
    tables: z.record(z.string(), z.array(z.string())).meta({ description: 'Tables it reads, and which columns.' }),
    slots: slotsSchema.meta({ description: 'As given, or a suggestion from the SQL.' }),
    columns: z.array(column),
    ...boundFields,
  })
  .meta({ id: 'Inspection' })

export const previewQuery = z.strictObject({
  parameters: parameters.default({}),
  sql: sqlText.optional().meta({ description: 'Instead of the saved SQL.' }),
  slots: slotsSchema.optional().meta({ description: 'Instead of the saved slots.' }),
})
export const scratchQuery = z.strictObject({
  sql: sqlText,
  parameters: parameters.default({}),
  slots: slotsSchema.optional().meta({ description: 'Inferred from the SQL when left out.' }),
  max_rows: z.int().min(1).max(100_000).optional().meta({ description: 'At most as many as a preview may give.' }),
  max_bytes: z.int().min(1).max(1_073_741_824).optional().meta({
    description: 'Beyond so many it is `result_too_large`; the limit of the service where that is less.',
  }),
})
export const previewAnswer = z.object({
  data: z.array(z.record(z.string(), z.unknown())),
  columns: z.array(column),
  row_count: z.int(),
  truncated: z.boolean(),
  execution_time_ms: z.int(),
  as_of: timestamp.nullable(),
})
export const adviceFilter = z.strictObject({
  environment: slug
    .default('production')
    .meta({ description: 'Where other queries are deployed that it is compared with.' }),
})
export const queryAdvice = z
  .object({
    kind: z.enum(['period_end', 'unread_bound', 'unsaid', 'wordless_slot', 'no_examples', 'close_question']).meta({
      description:
        '`period_end`: its SQL loses a part of a day at the end of a period, and questions about periods are refused. `unread_bound`: whether a slot’s day belongs to the range cannot be read. `unsaid`: its SQL does something that its description does not say. `wordless_slot`: nothing says what a slot is. `close_question`: it and another query come as near to a question.',
    }),
    message: z.string(),
    about: z.string().nullable().meta({ description: 'The words, the slot or the question that it is about.' }),
    rival: z.string().nullable().meta({ description: 'The query that comes too close.' }),
    change: z
      .object({ description: z.string().optional(), sql: z.string().optional(), slots: slotsSchema.optional() })
      .nullable()
      .meta({
        description: 'What taking it changes in the draft: a body for PUT. Null where only its author can tell.',
      }),
  })
  .meta({ id: 'QueryAdvice' })
export const explainAnswer = z.object({
  plan: z.string().meta({ description: "DuckDB's plan, as it draws it." }),
  steps: z
    .array(
      z.object({
        operator: z.string().meta({ description: 'As DuckDB calls it, such as `HASH_JOIN`.' }),
        table: z.string().nullable().meta({ description: 'Of a step that reads one.' }),
        details: z.record(z.string(), z.string()),
        estimated_rows: z.number().nullable(),
      }),
    )
    .meta({ description: 'The same, in the order in which it happens.' }),
})

const environment = slug.default('production')
export const deployQuery = z.strictObject({
  environment,
  check: z.boolean().default(false).meta({ description: 'Report and change nothing.' }),
  force: z
    .boolean()
    .default(false)
    .meta({ description: 'Deploy although the change is breaking, or takes questions of other queries.' }),
  version: versionNumber.optional().meta({ description: 'A version that exists, instead of the draft.' }),
})
export const promoteQuery = z.strictObject({
  from: slug,
  to: slug,
  check: z.boolean().default(false),
  force: z.boolean().default(false),
})
export const undeployQuery = z.strictObject({
  environment,
  check: z
    .boolean()
    .default(false)
    .meta({ description: 'Report who calls it and what becomes of its questions, and change nothing.' }),
})
export const rollbackQuery = z.strictObject({
  environment,
  version: versionNumber.optional().meta({ description: 'Left out: the version that was live before this one.' }),
})

export const change = z.object({
  level: z.enum(['compatible', 'additive', 'breaking']),
  message: z.string(),
})
export const regression = z.object({
  question: z.string(),
  query: z.string().nullable().meta({ description: 'What must answer it; null: it must be refused.' }),
  taken_by: z.string().nullable().meta({ description: 'What would answer it instead; null: nothing.' }),
  source: z.enum(['example', 'evaluation', 'confirmed']),
})
export const keyThatCalled = z.object({ key_id: z.string(), name: z.string().nullable(), last_called_at: timestamp })

/** The effect of a deployment on callers. */
export const meaningForCallers = {
  compatibility: z.enum(['first', 'compatible', 'additive', 'breaking']),
  changes: z.array(change),
  callers: z.array(keyThatCalled).meta({
    description: 'Keys that called it here in the last 30 days, for a check and where the change is breaking.',
  }),
}

/** And for stored questions. */
export const askedAgain = z.object({
  checked: z.int().meta({ description: 'How many stored questions were asked again.' }),
  regressions: z.array(regression),
})

export const deployment = z
  .object({
    name: z.string(),
    environment: z.string(),
    version: z.int().meta({ description: 'The version now live, or the one that was until it was undeployed.' }),
    status: z.enum(['deployed', 'undeployed']),
    ...meaningForCallers,
    routing: askedAgain,
    previous_version: z.int().nullable(),
  })
  .meta({ id: 'Deployment' })

export const liveDeployment = z
  .object({
    name: z.string(),
    environment: z.string(),
    version: z.int(),
    description: z.string(),
    deployed_at: timestamp,
    deployed_by: z.string(),
  })
  .meta({ id: 'LiveDeployment' })

export const versionEntry = z.object({
  version: z.int(),
  created_at: timestamp,
  created_by: z.string(),
  environments: z.array(z.string()).meta({ description: 'Where it is live now.' }),
})
export const version = versionEntry
  .extend({ ...body, dialect, columns: z.array(column), tables: z.record(z.string(), z.array(z.string())) })
  .meta({ id: 'QueryVersion' })
export const versionsDiff = z.object({
  from: z.int(),
  to: z.union([z.int(), z.literal('draft')]),
  diff: z.string().meta({ description: 'A unified diff of SQL, slots and settings; empty when they are equal.' }),
  replaced: z.array(z.enum(['sql', 'slots', 'settings'])).meta({
    description:
      'Parts of which too many lines differ to be compared: the diff removes all of the old and adds all of the new.',
  }),
})
export const diffQuery = z.strictObject({
  from: writtenVersion,
  to: z.union([z.literal('draft'), writtenVersion]).default('draft'),
})
export const historyEntry = z.object({
  id: z.string(),
  act: z.enum(['deploy', 'promote', 'rollback', 'undeploy']),
  environment: z.string(),
  version: z.int().nullable(),
  previous_version: z.int().nullable(),
  at: timestamp,
  by: z.string(),
  release_id: z.string().nullable(),
})

/** The answer of a direct call. */
export const answerMeta = z
  .object({
    truncated_source: z.literal(true),
    tables: z.array(z.object({ name: z.string(), as_of: timestamp.nullable(), truncated: z.boolean() })),
  })
  .optional()
  .meta({
    description: 'Only where the result rests on a table of which pages or rows were left out when it was fetched.',
  })

export const answerWarnings = {
  warnings: z
    .array(
      z.object({
        code: z.literal('unknown_value'),
        slot: z.string(),
        value: z.string(),
        nearest: z.array(z.string()).meta({ description: 'Values that may have been meant.' }),
      }),
    )
    .max(fixedLimits.errorProblems.value)
    .optional()
    .meta({
      description: 'Of an answer without rows: values of slots that no row of their column has, the first ones.',
    }),
  more_warnings: z.int().optional().meta({ description: 'How many warnings there are beside those in `warnings`.' }),
}

export const answerColumns = z
  .array(z.object({ name: z.string(), type: z.string() }))
  .optional()
  .meta({ description: 'Where the call has the header `Prefer: columns`.' })

export const answer = z
  .object({
    data: z.array(z.record(z.string(), z.unknown())),
    execution_time_ms: z.int(),
    row_count: z.int(),
    truncated: z.boolean().meta({ description: 'Whether rows beyond the limit were left out.' }),
    version: z.int(),
    as_of: timestamp.nullable().meta({ description: 'When the oldest data that was read was fetched.' }),
    meta: answerMeta,
    columns: answerColumns,
    ...answerWarnings,
  })
  .meta({ id: 'Answer' })
