import { z } from 'zod'
import { timestamp } from './envelope.ts'

const parameters = z.record(z.string(), z.unknown()).meta({ description: 'Values of slots by name.' })

export const longestQuestion = 2_000
const question = z
  .string()
  .max(longestQuestion)
  .refine((text) => text.trim() !== '', 'must not be empty')

const timeZone = z
  .string()
  .max(64)
  .refine((name) => isTimeZone(name), 'must be a time zone, like Europe/Berlin')

function isTimeZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== ''
  } catch {
    return false
  }
}

export const askQuestion = z.strictObject({
  query: question.meta({ description: 'A question in plain language.' }),
  project_id: z.string().min(1).max(200),
  stream: z.boolean().default(false).meta({ description: 'Server-sent events, as with Accept: text/event-stream.' }),
  explain: z.boolean().default(false).meta({ description: 'Adds `routing`: why this query and these parameters.' }),
  parameters: parameters
    .default({})
    .meta({ description: 'Values that stand whatever the question says, for what a refusal named as missing.' }),
  query_name: z
    .string()
    .max(63)
    .optional()
    .meta({ description: 'The deployed query that is meant, for a question that several could answer.' }),
  time_zone: timeZone.default('UTC').meta({ description: 'In which "today" and "last month" are meant.' }),
})

const candidate = z.object({
  name: z.string(),
  description: z.string(),
  score: z.number(),
  example: z.string().meta({ description: 'The nearest of what it answers.' }),
})
const words = z.object({ start: z.int(), end: z.int(), text: z.string() })

export const routing = z
  .object({
    candidates: z.array(candidate),
    matched_example: z.string().nullable(),
    parameters,
    sources: z.record(z.string(), words).meta({ description: 'The words behind each parameter.' }),
    unused: z.array(words).meta({ description: 'Words that were read as values and fill no slot.' }),
    confidence: z.number().nullable(),
    threshold: z.number().meta({ description: 'The least confidence that is answered in this project.' }),
    margin: z.number().nullable().meta({ description: 'How far the best is ahead of the second.' }),
    least_margin: z.number(),
    encoder: z.enum(['neural', 'lexical']),
    decided_by: z.enum(['router', 'model', 'caller']),
    routing_time_ms: z.number(),
  })
  .meta({ id: 'Routing' })

export const questionAnswer = z
  .object({
    data: z.array(z.record(z.string(), z.unknown())),
    query_used: z.string(),
    parameters: parameters.meta({ description: 'Exactly what was bound.' }),
    execution_time_ms: z.int(),
    row_count: z.int(),
    truncated: z.boolean(),
    version: z.int(),
    as_of: timestamp.nullable(),
    routing: routing.optional(),
  })
  .meta({ id: 'QuestionAnswer' })
