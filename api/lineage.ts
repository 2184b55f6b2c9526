import { z } from 'zod'
import { tags, timestamp } from './envelope.ts'

const status = z.enum(['fresh', 'stale', 'waiting', 'failing', 'new', 'draft']).meta({
  description:
    '`stale`: it should have been fetched again by now, or something that it reads is stale. `waiting`: new data waits for its author. `failing`: the last fetch failed, or calls ended with an error of the service. `new`: never fetched. `draft`: deployed nowhere.',
})
const calls = z.int().meta({ description: 'In the last 24 hours.' })
const failed = z.int().meta({ description: 'Of these, those that ended with an error of the service.' })

export const projectMap = z
  .object({
    sources: z.array(
      z.object({
        id: z.string(),
        name: z.string(),
        kind: z.enum(['http_api', 'file', 'model']),
        table: z.string(),
        reads: z.array(z.string()).meta({ description: 'Of a model: the tables that it is built from.' }),
        status,
        message: z.string().nullable().meta({ description: 'Why, where something is wrong.' }),
        next_refresh_at: timestamp.nullable(),
      }),
    ),
    tables: z.array(
      z.object({
        name: z.string(),
        status,
        rows: z.int().nullable(),
        as_of: timestamp.nullable().meta({ description: 'When its data was fetched.' }),
        tags,
      }),
    ),
    queries: z.array(
      z.object({
        name: z.string(),
        status,
        tags,
        reads: z.array(z.string()).meta({ description: 'Tables that its draft reads.' }),
        deployments: z.array(
          z.object({ environment: z.string(), version: z.int(), reads: z.array(z.string()), calls, failed }),
        ),
      }),
    ),
    environments: z.array(z.object({ name: z.string(), status, calls })),
    callers: z.array(z.object({ key_id: z.string(), name: z.string().nullable(), last_called_at: timestamp, calls })),
    calls: z
      .array(
        z.object({ query: z.string(), environment: z.string(), key_id: z.string(), last_called_at: timestamp, calls }),
      )
      .meta({ description: 'Which key called which query where in the last 30 days.' }),
    left_out: z
      .object({ queries: z.int(), callers: z.int() })
      .meta({ description: 'How many are not in the map because it has an end.' }),
  })
  .meta({ id: 'ProjectMap' })
