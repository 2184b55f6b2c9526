import { z } from 'zod'
import { slug } from './envelope.ts'
import { fixedLimits } from './limits.ts'
import { queryContent, sqlText } from './queries.ts'
import { slotsSchema } from './slots.ts'

const row = z.record(z.string().max(200), z.unknown())
const rows = z.array(row).max(fixedLimits.testRows.value)
const testFields = {
  description: z.string().max(fixedLimits.queryDescriptionChars.value).default(''),
  query: slug.optional().meta({ description: 'The query that it calls; or a model.' }),
  model: slug.optional().meta({ description: 'The model that it builds.' }),
  given: z
    .record(slug, z.union([rows, z.string().max(1_000_000)]))
    .default({})
    .meta({ description: 'Rows of the tables that it reads, as a list or as CSV; a table left out has none.' }),
  question: z
    .string()
    .max(fixedLimits.questionChars.value)
    .regex(/\S/, 'must not be empty')
    .optional()
    .meta({ description: 'A question that the query must answer, with the values that it says; or be refused.' }),
  asked_on: z.iso.date('must be a day such as 2026-01-31').optional().meta({
    description: 'The day on which the question is asked, for “last month”; the day of the test if left out.',
  }),
  parameters: z.record(z.string(), z.unknown()).default({}).meta({ description: 'Values of slots by name.' }),
  expect: rows
    .nullable()
    .default(null)
    .meta({ description: 'The rows of its result. A row names the columns that matter, unless `exact`.' }),
  error: z
    .string()
    .max(100)
    .nullable()
    .default(null)
    .meta({ description: 'The error or its reason, instead of rows: `missing_slots`.' }),
  ordered: z.boolean('must be true or false').default(false).meta({ description: 'Whether the order matters.' }),
  exact: z.boolean('must be true or false').default(false).meta({ description: 'Whether rows have no other columns.' }),
}

export const rowTest = z
  .strictObject({ name: slug, ...testFields })
  .superRefine(({ query, model, question, asked_on: askedOn, parameters, expect, error }, context) => {
    const issue = (path: string, message: string) => context.addIssue({ code: 'custom', path: [path], message })
    const isRefused = question !== undefined && error !== null && model === undefined
    if ((query === undefined) === (model === undefined) && !isRefused) issue('query', 'or model is required, not both')
    if ((expect === null) === (error === null)) issue('expect', 'or error is required, not both')
    if (model !== undefined && Object.keys(parameters).length > 0) issue('parameters', 'are for a query')
    if (model !== undefined && question !== undefined) issue('question', 'is for a query')
    if (question === undefined && askedOn !== undefined) issue('asked_on', 'is for a question')
  })
  .meta({
    id: 'RowTest',
    description: 'Rows that a query or a model must give, of rows of the tables that it reads.',
    // The refinements above, for those who go by the document.
    allOf: [
      {
        oneOf: [
          { required: ['query'], not: { required: ['model'] } },
          {
            required: ['model'],
            not: { anyOf: [{ required: ['query'] }, { required: ['question'] }] },
            properties: { parameters: { maxProperties: 0 } },
          },
          {
            required: ['question', 'error'],
            properties: { error: { type: 'string' } },
            not: { anyOf: [{ required: ['query'] }, { required: ['model'] }] },
          },
        ],
      },
      {
        oneOf: [
          { required: ['expect'], properties: { expect: { type: 'array' }, error: { type: 'null' } } },
          { required: ['error'], properties: { error: { type: 'string' }, expect: { type: 'null' } } },
        ],
      },
      { anyOf: [{ required: ['question'] }, { not: { required: ['asked_on'] } }] },
    ],
  })

export const testsFilter = z.strictObject({
  query: slug.optional().meta({ description: 'Only those of this query.' }),
  model: slug.optional().meta({ description: 'Only those of this model.' }),
})

/** Statements that are tested instead of those that are saved. */
const statement = z.strictObject({ name: slug, sql: sqlText })
export const runTests = z.strictObject({
  names: z
    .array(slug)
    .max(fixedLimits.rowTests.value)
    .optional()
    .meta({ description: 'Some of those that are saved.' }),
  tests: z
    .array(rowTest)
    .max(fixedLimits.rowTests.value)
    .optional()
    .meta({ description: 'Instead of those that are saved.' }),
  queries: z
    .array(
      statement.extend({
        slots: slotsSchema.optional(),
        description: queryContent.shape.description.optional(),
        examples: queryContent.shape.examples.optional(),
      }),
    )
    .max(2_000)
    .default([]),
  models: z.array(statement).max(fixedLimits.models.value).default([]),
})

export const testFromCall = z.strictObject({
  query: slug.meta({ description: 'A deployed query, of which calls are recorded.' }),
  environment: slug.default('production'),
  name: slug.optional().meta({ description: 'Of the test; `<query>_call` if left out.' }),
  save: z.boolean('must be true or false').default(true).meta({ description: 'False: only show it.' }),
})

export const testResult = z
  .object({
    name: z.string(),
    query: z.string().nullable(),
    model: z.string().nullable(),
    passed: z.boolean(),
    message: z.string().nullable().meta({ description: 'Why it did not pass.' }),
    missing: z.array(row).meta({ description: 'Expected rows that did not come.' }),
    unexpected: z.array(row).meta({ description: 'Rows that came and were not expected.' }),
    elapsed_ms: z.int(),
  })
  .meta({ id: 'RowTestResult' })

export const testResults = z.object({ passed: z.int(), failed: z.int(), results: z.array(testResult) })
export type RowTest = z.output<typeof rowTest>
