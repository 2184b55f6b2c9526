import { z } from 'zod'
import { pageQuery, timestamp } from './envelope.ts'

const moment = z.iso
  .datetime({ offset: true, error: 'must be a moment such as 2026-01-31T08:00:00Z' })
  .transform((text) => new Date(text))
  .optional()

const filter = {
  environment: z.string().max(63).optional(),
  query: z.string().max(63).optional(),
  key_id: z.string().max(63).optional(),
}

const callEntry = z.enum(['direct', 'question', 'tool'])

export const metricsQuery = z.strictObject({
  ...filter,
  version: z.coerce.number().int().min(1).max(1_000_000).optional().meta({ description: 'Of the query.' }),
  entry: callEntry.optional().meta({ description: 'By name, by a question, or as a tool of an assistant (MCP).' }),
  status: z.coerce.number().int().min(100).max(599).optional(),
  outcome: z.enum(['answered', 'failed']).optional(),
  from: moment.meta({ description: 'A day before `to` unless given. Taken to the whole minute.' }),
  to: moment.meta({ description: 'Now unless given.' }),
  interval: z.enum(['1m', '5m', '1h', '1d']).optional().meta({ description: 'Chosen by the length of the range.' }),
  time_zone: z
    .string()
    .min(1)
    .max(64)
    .optional()
    .meta({ format: 'time-zone', description: 'Where days and hours begin, e.g. Europe/Berlin.' }),
})

export const keyUsageQuery = metricsQuery.omit({ key_id: true })

export const queryFiguresQuery = z.strictObject({
  environment: filter.environment,
  from: moment.meta({ description: 'A week before `to` unless given. Taken to the whole minute.' }),
  to: moment.meta({ description: 'Now unless given.' }),
  time_zone: z
    .string()
    .min(1)
    .max(64)
    .optional()
    .meta({ format: 'time-zone', description: 'Where days begin, e.g. Europe/Berlin.' }),
})

const ms = z.number().nullable().meta({ description: 'Milliseconds; null without requests.' })
const counts = {
  requests: z.int().meta({ description: 'Authenticated calls, refusals included, those rejected not.' }),
  errors: z.int().meta({ description: 'Requests answered with 400 or above.' }),
  rejected: z.int().meta({ description: 'Calls answered with 401, 403 or 429; neither requests nor errors.' }),
  error_rate: z.number().meta({ description: 'errors / requests, from 0 to 1.' }),
  average_ms: ms,
}
const percentiles = { p50_ms: ms, p95_ms: ms, p99_ms: ms }
const popular = z.object({ query: z.string(), ...counts, p95_ms: ms, total_ms: z.number() })

export const metrics = z
  .object({
    from: timestamp,
    to: timestamp,
    interval: z.enum(['1m', '5m', '1h', '1d']),
    time_zone: z.string(),
    totals: z.object({
      ...counts,
      ...percentiles,
      rows: z.int(),
      bytes: z.int(),
      cache: z.object({
        hit: z.int(),
        miss: z.int(),
        bypass: z.int(),
        hit_rate: z.number().meta({ description: 'hit / (hit + miss + bypass).' }),
      }),
    }),
    series: z.array(z.object({ time: timestamp, ...counts, ...percentiles })),
    popular_queries: z.array(popular).meta({ description: 'By calls.' }),
    slowest_queries: z.array(popular).meta({ description: 'By time spent in all.' }),
    errors: z.array(z.object({ status: z.int(), error: z.string(), reason: z.string().nullable(), count: z.int() })),
    by_key: z.array(z.object({ key_id: z.string(), name: z.string().nullable(), ...counts })),
    by_version: z.array(z.object({ query: z.string(), version: z.int(), ...counts })),
    by_environment: z.array(z.object({ environment: z.string(), ...counts })),
    by_project: z.array(z.object({ project_id: z.string(), ...counts })),
    questions: z.object({
      asked: z.int(),
      answered: z.int(),
      flagged: z.int().meta({ description: 'Of the answers: those that say in `unexpressed` what they leave out.' }),
      refused: z.int(),
      reasons: z.record(z.string(), z.int()).meta({ description: 'Why they were refused.' }),
      top: z.array(z.object({ question: z.string(), count: z.int(), query: z.string().nullable() })),
      unanswered: z.array(
        z.object({
          question: z.string(),
          count: z.int(),
          reason: z.string().nullable(),
          last_asked_at: timestamp,
        }),
      ),
    }),
  })
  .meta({ id: 'Metrics' })

const figures = z.object({ ...counts, p95_ms: ms })

export const queryFigures = z
  .object({
    from: timestamp,
    to: timestamp,
    before_from: timestamp.meta({ description: 'As long a time, just before.' }),
    data: z.array(
      figures.extend({
        query: z.string(),
        before: figures.meta({ description: 'The same of the time before.' }),
        days: z.array(z.int()).meta({ description: 'Its requests by day, the oldest first.' }),
      }),
    ),
  })
  .meta({ id: 'QueryFigures' })

export const timelineQuery = z.strictObject({
  environment: filter.environment,
  from: moment.meta({ description: 'A day before `to` unless given.' }),
  to: moment.meta({ description: 'Now unless given.' }),
})

export const timeline = z
  .object({
    data: z.array(
      z.object({
        at: timestamp,
        kind: z.enum(['release', 'alert_firing', 'alert_resolved', 'data_held']),
        id: z.string().meta({ description: 'Of the release, the alert or the datasource.' }),
        title: z.string(),
        environment: z.string().nullable(),
      }),
    ),
    truncated: z.boolean().meta({ description: 'There were more than are told.' }),
  })
  .meta({ id: 'Timeline' })

const requestFilter = {
  ...filter,
  version: z.coerce.number().int().min(1).max(1_000_000).optional().meta({ description: 'Of the query.' }),
  entry: z.enum(['direct', 'question', 'tool', 'preview']).optional(),
  status: z.coerce.number().int().min(100).max(599).optional(),
  error: z.string().max(63).optional(),
  outcome: z.enum(['answered', 'failed']).optional(),
}

/** A moment in digits, a space and an id, as hexadecimal bytes. */
const requestCursor = pageQuery.cursor
  .unwrap()
  .regex(/^(?:3[0-9]){1,15}20/, 'must be the next_cursor of the page before')

export const requestsQuery = z.strictObject({
  ...pageQuery,
  cursor: requestCursor.optional().meta({ description: '`next_cursor` of the page before.' }),
  ...requestFilter,
  from: moment,
  to: moment,
})
export const requestsTailQuery = z.strictObject(requestFilter)

export const requestEntry = z
  .object({
    id: z.string().meta({ description: 'The X-Request-Id of the answer.' }),
    at: timestamp,
    environment: z.string().nullable(),
    query: z.string().nullable(),
    version: z.int().nullable(),
    entry: z.enum(['direct', 'question', 'tool', 'preview']),
    key_id: z.string().nullable(),
    status: z.int(),
    error: z.string().nullable(),
    reason: z.string().nullable().meta({
      description:
        'Why it was refused; of an answer, `unexpressed` where it says that it leaves out a part of the question.',
    }),
    total_ms: z.number(),
    route_ms: z.number().nullable().meta({ description: 'Finding the query that answers a question.' }),
    queue_ms: z.number(),
    sql_ms: z.number(),
    rows: z.int(),
    bytes: z.int(),
    cache: z.enum(['hit', 'miss', 'bypass']).nullable(),
    question: z.string().nullable(),
    confidence: z.number().nullable(),
  })
  .meta({ id: 'Request' })

export const requestDetail = requestEntry
  .extend({
    key_name: z
      .string()
      .nullable()
      .meta({ description: 'Of the key that called; null without one, or once it is gone.' }),
    parameters: z.record(z.string(), z.unknown()).nullable().meta({
      description:
        'For editors: the values it was called with, where the project records calls and this was among them; `***` for what goes by the name of a secret. Null: not recorded, or no longer.',
    }),
    recording: z.boolean().meta({ description: 'Whether the project records the values of calls now.' }),
    asked: z
      .object({
        outcome: z.enum(['answered', 'no_match', 'ambiguous', 'missing_slots', 'unexpressed', 'period_end', 'unsure']),
        query: z.string().nullable().meta({ description: 'What answered, or came nearest.' }),
        parameters: z.record(z.string(), z.unknown()).nullable(),
        confidence: z.number().nullable(),
      })
      .nullable()
      .meta({ description: 'How a question was understood, where the log of questions has it.' }),
  })
  .meta({ id: 'RequestDetail' })

const viewName = z.string().trim().min(1).max(60)
const viewFilter = z
  .record(z.string().min(1).max(40), z.string().max(200))
  .refine((value) => Object.keys(value).length <= 20, 'must have at most 20 names')
  .meta({ description: 'What stands in the address of the page.', maxProperties: 20 })
const viewPage = z.enum(['metrics', 'requests', 'audit'])

export const newView = z.strictObject({
  page: viewPage,
  name: viewName,
  filter: viewFilter,
  shared: z.boolean().default(false).meta({ description: "Everyone's in the project; only one's own otherwise." }),
})

export const changeView = z.strictObject({ name: viewName.optional(), filter: viewFilter.optional() })

export const viewsQuery = z.strictObject({ page: viewPage.optional() })

export const savedView = z
  .object({
    id: z.string(),
    page: viewPage,
    name: z.string(),
    filter: z.record(z.string(), z.string()),
    shared: z.boolean(),
    created_at: timestamp,
    created_by: z.string(),
  })
  .meta({ id: 'SavedView' })
