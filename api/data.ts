import { z } from 'zod'
import { timestamp } from './envelope.ts'

export const column = z.object({
  name: z.string(),
  type: z.string().meta({ description: "DuckDB's name of the type." }),
  source_key: z
    .string()
    .optional()
    .meta({ description: 'The key in the response, where the column could not be called the same.' }),
})

export const drift = z
  .object({
    added: z.array(z.string()),
    removed: z.array(z.string()),
    changed: z.array(z.object({ name: z.string(), from: z.string(), to: z.string() })),
    queries: z.array(z.string()).optional().meta({
      description: 'Deployed queries that read a removed or changed column; told of one object, not in lists.',
    }),
  })
  .meta({ description: 'How the columns differ from the version before; null for the first.' })

export const heldBecause = z
  .object({
    reason: z.enum(['error_object', 'incomplete', 'type_mismatch', 'check_failed', 'breaking']),
    message: z.string(),
    columns: z
      .array(
        z.object({
          name: z.string(),
          expected: z.string(),
          found: z.string(),
          count: z.int(),
          examples: z.array(z.string()),
        }),
      )
      .optional(),
    checks: z.array(z.object({ type: z.string(), message: z.string() })).optional(),
    queries: z.array(z.object({ name: z.string(), environments: z.array(z.string()), message: z.string() })).optional(),
  })
  .meta({ id: 'HeldBecause', description: 'Why a version of data waits while the last good one serves.' })

export const loadWarnings = z
  .array(
    z.object({
      code: z.enum(['next_page_absent', 'fewer_than_total', 'upstream_errors', 'rows_dropped', 'rows_moved']),
      message: z.string(),
      expected: z.int().optional().meta({ description: 'Rows that there should be.' }),
      received: z.int().meta({ description: 'Rows that came, each once.' }),
    }),
  )
  .meta({ id: 'LoadWarnings', description: 'Why the load cannot be shown to be whole; empty where it is.' })

const rejectedCounts = z
  .record(z.string(), z.int())
  .nullable()
  .meta({ description: 'Values by column that were not of its type and became null; rejected_values holds them.' })

export const dataVersion = z
  .object({
    version: z.int(),
    status: z.enum(['live', 'held', 'superseded']),
    held_because: heldBecause.nullable(),
    warnings: loadWarnings,
    data_object_id: z.string(),
    row_count: z.int(),
    new_rows: z.int().meta({ description: 'Rows that this load brought.' }),
    mode: z.enum(['replace', 'append', 'merge']).meta({ description: 'How the load came to the table.' }),
    loads: z.array(z.int()).meta({ description: 'The versions whose loads brought its rows.' }),
    parts: z.int().meta({ description: 'Files that it consists of; they are put together in the background.' }),
    last_value: z
      .string()
      .nullable()
      .meta({ description: 'The largest value of the cursor field: where the next load goes on.' }),
    checked_at: timestamp.nullable().meta({ description: 'When the API last said that nothing is new.' }),
    truncated: z.boolean(),
    rejected: rejectedCounts,
    activated_at: timestamp
      .nullable()
      .meta({ description: 'When it last began to serve; null for one that never did.' }),
    created_at: timestamp,
  })
  .meta({ id: 'DataVersion' })

export const dataObject = z
  .object({
    id: z.string(),
    kind: z.enum(['request_config', 'response_data', 'rejected_values']),
    format: z.enum(['json', 'parquet']),
    datasource_id: z.string(),
    table_name: z.string(),
    version: z.int(),
    row_count: z.int().nullable(),
    size_bytes: z.int(),
    columns: z.array(column).nullable(),
    drift: drift.nullable(),
    truncated: z.boolean().meta({ description: 'Whether pages or rows were left out when it was fetched.' }),
    is_live: z.boolean().meta({ description: 'Whether SQL reads these rows.' }),
    held_because: heldBecause.nullable(),
    rejected: rejectedCounts,
    created_at: timestamp,
  })
  .meta({ id: 'DataObject' })

const columnProfile = z.object({
  name: z.string(),
  type: z.string(),
  null_count: z.int(),
  distinct_count: z.int(),
  distinct_is_exact: z.boolean(),
  min: z.string().nullable(),
  max: z.string().nullable(),
  top_values: z.array(z.object({ value: z.string(), count: z.int() })),
  histogram: z.array(z.object({ from: z.number(), to: z.number(), count: z.int() })),
  looks_like: z.enum(['date', 'email', 'url', 'currency', 'country', 'identifier']).nullable(),
})

/** One data object, with the profile of its columns once the dataline job has run. */
export const describedObject = dataObject
  .extend({ profile: z.object({ row_count: z.int(), columns: z.array(columnProfile) }).nullable() })
  .meta({ id: 'DescribedDataObject' })

/** The database takes no text with a zero in it. */
const plainChar = '[^\\u0000]'
const filterTests = ['contains', 'is', 'is_not', 'at_least', 'at_most', 'empty', 'present'] as const

/** A condition on one column of the rows to read. */
export const rowFilter = z.object({
  column: z.string(),
  test: z.enum(filterTests),
  value: z.string().optional().meta({ description: 'As text; `empty` and `present` take none.' }),
})

/** In a query string a filter is one word: `at_least:amount:30`. */
const writtenFilter = z
  .string()
  .regex(
    new RegExp(`^(${filterTests.join('|')}):[^:]{1,200}(:${plainChar}{0,1000})?$`),
    'must be a test, a column and a value, like at_least:amount:30',
  )

export const rowsQuery = z.strictObject({
  limit: z.coerce.number().int().min(1).max(1000).default(50),
  cursor: z
    .string()
    .regex(/^\d{1,15}$/, 'must be the next_cursor of the page before')
    .optional(),
  sort: z.string().min(1).max(200).optional().meta({ description: 'A column; missing values come last.' }),
  order: z.enum(['asc', 'desc']).default('asc'),
  search: z
    .string()
    .max(1000)
    .regex(new RegExp(`^${plainChar}*$`), 'must be text')
    .optional()
    .meta({ description: 'Rows that have it anywhere, in capitals or not.' }),
  filter: z
    .union([writtenFilter, z.array(writtenFilter).max(20)])
    .optional()
    .meta({
      description: `Rows that pass: a test (${filterTests.join(', ')}), a column and a value, like \`at_least:amount:30\`. Repeated: all of them.`,
    }),
})

export const objectRows = z.object({
  data: z.array(z.record(z.string(), z.unknown())),
  columns: z.array(column),
  row_count: z
    .int()
    .optional()
    .meta({ description: 'How many rows pass `search` and `filter`, where they are given.' }),
  truncated: z.boolean().meta({ description: 'Whether there are rows after these.' }),
  next_cursor: z.string().nullable(),
})

export const lineageGraph = z.object({
  nodes: z.array(
    z.object({
      id: z.string(),
      kind: z.enum(['datasource', 'request_config', 'response_data', 'rejected_values', 'load', 'query']),
      label: z.string(),
    }),
  ),
  edges: z.array(z.object({ from: z.string(), to: z.string() })),
})
