import { z } from 'zod'
import { loadWarnings } from './data.ts'
import { pageQuery, timestamp } from './envelope.ts'

const jobStatus = z.enum(['queued', 'running', 'succeeded', 'failed', 'cancelled'])

export const job = z
  .object({
    id: z.string(),
    job_type: z.string().meta({ description: 'build_dataline_from_connected_resource, refresh_datasource, …' }),
    status: jobStatus.meta({ description: 'succeeded, failed and cancelled are final.' }),
    project_id: z.string(),
    source: z.string(),
    source_id: z.string(),
    source_event_type: z.string().meta({ description: 'What caused it: http_api, schedule, …' }),
    created_at: timestamp,
    attempt: z.int().meta({ description: 'Counts from 1.' }),
    max_attempts: z.int(),
    progress: z.number().min(0).max(1),
    details: z
      .object({
        pages: z.int(),
        rows: z.int(),
        bytes: z.int(),
        estimate: z
          .object({ rows: z.int(), from: z.enum(['total', 'last_load', 'requests']) })
          .optional()
          .meta({
            description:
              'How many rows there will be, where the API tells a total, the last load does, or the requests that are done do.',
          }),
      })
      .nullable()
      .meta({ description: 'What a load has fetched so far.' }),
    warnings: loadWarnings.optional(),
    started_at: timestamp.nullable().meta({ description: 'When the latest attempt began.' }),
    finished_at: timestamp.nullable(),
    error: z
      .object({ code: z.string(), reason: z.string().optional(), message: z.string() })
      .nullable()
      .meta({ description: 'Why the latest attempt failed. A code of docs/errors.md, or timeout or interrupted.' }),
    retried_from: z.string().nullable().meta({ description: 'The job that this one repeats.' }),
  })
  .meta({ id: 'Job' })

export const jobsQuery = z.strictObject({
  ...pageQuery,
  status: jobStatus.optional(),
  source_id: z.string().max(200).optional(),
})
