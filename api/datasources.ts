import { z } from 'zod'
import { httpConfiguration, pagination } from './connections.ts'
import { displayName, slug, timestamp } from './envelope.ts'
import { fixedLimits } from './limits.ts'

const settings = {
  config: httpConfiguration
    .optional()
    .meta({ description: 'The request that fetches its data. `***` keeps a stored secret, for the same address.' }),
  pagination: pagination.nullable().optional(),
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
    .meta({ description: 'IANA name, e.g. Europe/Berlin; UTC if absent.' }),
  keep_versions: z
    .int()
    .min(1)
    .max(fixedLimits.keptVersions.value)
    .optional()
    .meta({ description: 'How many versions of its data are kept.' }),
}

export const newDatasource = z.strictObject({
  name: displayName,
  kind: z.literal('http_api', 'must be http_api'),
  table_name: slug.optional().meta({ description: 'What SQL reads. Made from the name when absent.' }),
  ...settings,
})
export const changeDatasource = z.strictObject({ name: displayName.optional(), ...settings })

export const datasource = z
  .object({
    id: z.string(),
    name: z.string(),
    kind: z.literal('http_api'),
    table_name: z.string(),
    status: z.enum(['new', 'ready', 'failed']),
    config: z.record(z.string(), z.unknown()).nullable().meta({ description: 'Secrets read `***`.' }),
    pagination: z.record(z.string(), z.unknown()).nullable(),
    schedule: z.string().nullable(),
    schedule_time_zone: z.string(),
    next_refresh_at: timestamp.nullable(),
    keep_versions: z.int(),
    refreshed_at: timestamp.nullable(),
    last_error: z
      .object({ code: z.string(), message: z.string() })
      .nullable()
      .meta({ description: 'Why the last refresh brought nothing.' }),
    created_at: timestamp,
  })
  .meta({ id: 'Datasource' })
