import { z } from 'zod'
import { forEach, httpConfiguration, pagination } from './connections.ts'
import { heldBecause } from './data.ts'
import { displayName, notBlank, slug, tags, timestamp } from './envelope.ts'
import { fixedLimits } from './limits.ts'

const field = z.string().min(1).max(1_000)
const cursor = z.strictObject({
  field: field.meta({
    description: 'The key whose largest value goes into the next request, or a path to it (`meta.updated_at`).',
  }),
  parameter: field.optional().meta({ description: 'A query parameter for it, instead of `{{last_value}}`.' }),
  initial_value: z
    .union([z.string().min(1).max(200), z.number()])
    .optional()
    .meta({ description: 'What `{{last_value}}` is in a full load.' }),
  look_back: z
    .union([
      z.number().min(0),
      z.string().regex(/^\d{1,6}[smhdw]$/, 'must be a number, or text such as 90s, 15m, 2h, 7d'),
    ])
    .optional()
    .meta({ description: 'How far before the last value the next load begins: a number, or `90s`, `2h`, `7d`.' }),
})
const loadFields = {
  primary_key: z
    .array(field)
    .min(1)
    .max(20)
    .refine((keys) => new Set(keys).size === keys.length, 'names a column twice')
    .optional()
    .meta({
      description:
        'Keys, or paths such as `supplier.id`, whose values tell a row. `merge` needs it; `append` leaves out known rows.',
      uniqueItems: true,
    }),
  cursor: cursor.optional(),
  windows: z
    .strictObject({
      start: z.iso.date('must be a day such as 2024-01-31'),
      size: z.string().regex(/^[1-9]\d{0,2}[dm]$/, 'must be days or months such as 7d or 1m'),
    })
    .optional()
    .meta({
      description:
        'A request for each span of days from `start` on, which it names as `{{window_start}}`, `{{window_end}}` and `{{window_last}}`. Later loads begin at the day of the cursor.',
    }),
  delete_marker: z
    .strictObject({ field, value: z.union([z.string().max(1_000), z.number(), z.boolean()]) })
    .optional()
    .meta({ description: 'Rows that hold this value are deleted by their key.' }),
}
const modes = ['replace', 'append', 'merge'] as const
const load = z.object({ mode: z.enum(modes), ...loadFields }).meta({ id: 'Load' })
export const changeLoad = z
  .strictObject({
    mode: z
      .enum([...modes, 'full'], 'must be replace, append or merge')
      .transform((mode) => (mode === 'full' ? 'replace' : mode))
      .meta({ description: '`replace` (also `full`): each load is the table. `append`: adds to it. `merge`: by key.' }),
    ...loadFields,
  })
  .superRefine(({ mode, primary_key: key, windows, delete_marker: marker }, context) => {
    const issue = (path: string, message: string) => context.addIssue({ code: 'custom', path: [path], message })
    if (mode === 'merge' && key === undefined) issue('primary_key', 'is required: rows are merged by it')
    if (mode === 'append' && windows !== undefined && key === undefined) {
      issue('primary_key', 'is required with windows: the rows of a day that was under way come again')
    }
    if (mode !== 'merge' && marker !== undefined) issue('delete_marker', 'needs the mode merge')
  })
  .meta({
    description: 'How new data comes to the table. The first load after a change is a full one.',
    // As `not`, which programs that write clients of the document pass over.
    not: {
      anyOf: [
        { properties: { mode: { enum: ['merge'] } }, not: { required: ['primary_key'] } },
        { properties: { mode: { enum: ['append'] } }, required: ['windows'], not: { required: ['primary_key'] } },
        { properties: { mode: { enum: ['replace', 'append', 'full'] } }, required: ['delete_marker'] },
      ],
    },
  })

const settings = {
  load: changeLoad.optional(),
  config: httpConfiguration
    .optional()
    .meta({ description: 'The request that fetches its data. `***` keeps a stored secret, for the same address.' }),
  pagination: pagination.nullable().optional(),
  for_each: forEach.nullable().optional().meta({ description: 'A request for each row of another table.' }),
  schedule: z
    .string()
    .max(100)
    .nullable()
    .optional()
    .meta({ description: 'A cron expression: when to refresh. Null for never.' }),
  schedule_time_zone: z
    .string()
    .max(64)
    .optional()
    .meta({ format: 'time-zone', description: 'IANA name, e.g. Europe/Berlin; UTC if absent.' }),
  keep_versions: z
    .int()
    .min(1)
    .max(fixedLimits.keptVersions.value)
    .optional()
    .meta({ description: 'How many versions of its data are kept.' }),
}

export const refreshRequest = z
  .strictObject({
    full: z.boolean('must be true or false').optional().meta({
      description: 'Loads everything again, in place of what is there, whatever the mode.',
    }),
  })
  .nullish()

export const sourceKinds = ['http_api', 'file', 'model'] as const

/** Beside a file in the body. */
export const fileQuery = z.strictObject({
  filename: z
    .string()
    .min(1)
    .max(300)
    .optional()
    .meta({ description: 'Its ending says what it is where the Content-Type does not; kept for the record.' }),
  extractor: z.string().min(1).max(fixedLimits.extractorChars.value).optional().meta({
    description: 'Where in it the rows are: a `responsePathExtractor`; the name of a sheet of an Excel file.',
  }),
  full: z
    .enum(['true', 'false'], 'must be true or false')
    .optional()
    .meta({ description: 'Takes the place of everything, whatever the mode of the table.' }),
})

export const newDatasource = z.strictObject({
  name: displayName,
  kind: z
    .enum(['http_api', 'file'], 'must be http_api or file')
    .meta({ description: '`http_api`: a request fetches its data. `file`: people send files.' }),
  table_name: slug.optional().meta({ description: 'What SQL reads. Made from the name when absent.' }),
  ...settings,
  tags: tags.optional(),
})
export const changeDatasource = z.strictObject({ name: displayName.optional(), ...settings, tags: tags.optional() })

export const datasource = z
  .object({
    id: z.string(),
    name: z.string(),
    kind: z.enum(sourceKinds),
    table_name: z.string(),
    status: z.enum(['new', 'ready', 'held', 'failed']),
    held: z
      .object({ version: z.int(), held_because: heldBecause, created_at: timestamp })
      .nullable()
      .meta({ description: 'The newest version of its data, where it waits; the last good one serves.' }),
    config: z.record(z.string(), z.unknown()).nullable().meta({ description: 'Secrets read `***`.' }),
    pagination: z.record(z.string(), z.unknown()).nullable(),
    for_each: z.record(z.string(), z.unknown()).nullable(),
    load,
    schedule: z.string().nullable(),
    schedule_time_zone: z.string(),
    next_refresh_at: timestamp.nullable(),
    keep_versions: z.int(),
    tags,
    refreshed_at: timestamp.nullable(),
    last_error: z
      .object({ code: z.string(), message: z.string() })
      .nullable()
      .meta({ description: 'Why the last refresh brought nothing.' }),
    created_at: timestamp,
  })
  .meta({ id: 'Datasource' })

const columnType = z
  .string()
  .trim()
  .toUpperCase()
  .regex(
    /^(VARCHAR|BIGINT|DOUBLE|BOOLEAN|DATE|TIMESTAMP|TIMESTAMPTZ|JSON|DECIMAL\((?:[1-9]|[12]\d|3[0-8]), ?(?:\d|[12]\d|3[0-8])\))$/,
    'must be VARCHAR, BIGINT, DOUBLE, DECIMAL(p,s), BOOLEAN, DATE, TIMESTAMP, TIMESTAMPTZ or JSON',
  )
  .transform((type) => type.replace(' ', ''))
  .refine((type) => {
    const [, width = '38', scale = '0'] = /^DECIMAL\((\d+),(\d+)\)$/.exec(type) ?? []
    return Number(scale) <= Number(width)
  }, 'has more decimals than digits')

const columnName = z.string().trim().min(1, 'must not be empty').max(200).meta(notBlank)
const columnOf = z.string().min(1).max(1_000)

const check = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('not_null'), column: columnOf }),
  z.strictObject({ type: z.literal('unique'), columns: z.array(columnOf).min(1).max(20) }),
  z.strictObject({
    type: z.literal('accepted_values'),
    column: columnOf,
    values: z
      .array(z.union([z.string().max(1_000), z.number(), z.boolean()]))
      .min(1)
      .max(1_000),
  }),
  z
    .strictObject({
      type: z.literal('row_count_share'),
      min: z.number().min(0).optional(),
      max: z.number().min(0).optional(),
    })
    .refine(({ min, max }) => min !== undefined || max !== undefined, 'needs min, max or both')
    .meta({ anyOf: [{ required: ['min'] }, { required: ['max'] }] }),
  z.strictObject({
    type: z.literal('freshness'),
    column: columnOf,
    max_age_minutes: z.int().min(1).max(5_256_000),
  }),
])

export const onMismatch = z.enum(['widen', 'hold', 'null', 'refuse']).meta({
  description:
    "What happens to values that are not of their column's type: `widen` the column, `hold` the version, make them `null` and keep them aside, or `refuse` the load.",
})
export const onBreaking = z
  .enum(['hold', 'serve'])
  .meta({ description: 'What happens to a version that would break a deployed query.' })

export const tableChecks = z
  .array(check)
  .max(100)
  .meta({ description: 'All of them; they run before a version serves.' })

const sourceName = z.string().max(1_000).meta({
  description:
    'The key in the response, or a path to a value inside an object (`supplier.name`), which becomes a column of its own.',
})
const onLoad = z.enum(['drop', 'hash'], 'must be drop or hash').meta({
  description:
    'What a load does with the values before anything is stored: `drop` leaves them out, `hash` puts their HMAC in their place. A path may name every member of a list: `lines.*.email`.',
})

/** The author's decisions about a column; fields left out go by the data. */
export const columnRule = z.strictObject({
  source_name: sourceName,
  name: columnName.optional(),
  type: columnType.optional(),
  hidden: z.boolean('must be true or false').optional(),
  on_load: onLoad.optional(),
  description: z.string().trim().max(1_000).optional(),
})

export const tableSchema = z
  .object({
    columns: z.array(
      z.object({
        name: z.string(),
        source_name: sourceName,
        type: z.string().nullable().meta({ description: 'Null while no value told it.' }),
        declared: z.boolean().meta({ description: 'Whether the author set the type.' }),
        hidden: z.boolean(),
        on_load: onLoad.nullable(),
        description: z.string().nullable(),
        live_name: z.string().nullable(),
        live_type: z.string().nullable().meta({ description: 'As the data that serves has it.' }),
      }),
    ),
    on_mismatch: onMismatch,
    on_breaking: onBreaking,
    checks: z.array(check),
  })
  .meta({ id: 'TableSchema' })

export const changeTableSchema = z.strictObject({
  columns: z
    .array(
      z.strictObject({
        source_name: sourceName,
        name: columnName.nullable().optional(),
        type: columnType.nullable().optional(),
        hidden: z.boolean().optional(),
        on_load: onLoad.nullable().optional(),
        description: z.string().trim().max(1_000).nullable().optional(),
      }),
    )
    .max(1_000)
    .optional()
    .meta({ description: 'Changes by source_name; null takes one back. Names and types hold from the next load on.' }),
  on_mismatch: onMismatch.optional(),
  on_breaking: onBreaking.optional(),
  checks: tableChecks.optional(),
})
