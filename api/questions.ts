import { z } from 'zod'
import { slug, timestamp } from './envelope.ts'
import { fixedLimits } from './limits.ts'
import { answerColumns, answerMeta, answerWarnings, chart, column, query } from './queries.ts'
import { verdictMeanings, verdictNames } from './verdicts.ts'

const parameters = z.record(z.string(), z.unknown()).meta({ description: 'Values of slots by name.' })

const question = z.string().max(fixedLimits.questionChars.value).regex(/\S/, 'must not be empty')

const timeZone = z
  .string()
  .max(64)
  .refine((name) => isTimeZone(name), 'must be a time zone, like Europe/Berlin')
  .meta({ format: 'time-zone' })

function isTimeZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== ''
  } catch {
    return false
  }
}

const completeness = {
  strict: z.boolean().default(false).meta({
    description:
      'Refuse with `unexpressed` also what is only likely to be left out, instead of answering with the words.',
  }),
  partial: z.boolean().default(false).meta({
    description:
      'Answer with what is left out in `unexpressed`, also where that is sure, or the confidence too low, and it would be refused.',
  }),
}

export const askQuestion = z.strictObject({
  query: question.meta({ description: 'A question in plain language.' }),
  project_id: z.string().min(1).max(200),
  stream: z.boolean().default(false).meta({ description: 'Server-sent events, as with Accept: text/event-stream.' }),
  explain: z.boolean().default(false).meta({ description: 'Adds `routing`: why this query and these parameters.' }),
  parameters: parameters.default({}).meta({
    description:
      'Values that stand whatever the question says, for what a refusal named as missing; null leaves an optional slot out.',
  }),
  query_name: z
    .string()
    .max(63)
    .optional()
    .meta({ description: 'The deployed query that is meant, for a question that several could answer.' }),
  time_zone: timeZone.default('UTC').meta({ description: 'In which "today" and "last month" are meant.' }),
  ...completeness,
  follows: z.string().min(1).max(100).optional().meta({
    description:
      'The request id of an answered question of the same key: “and in the south?” then changes its values. A question that stands on its own starts anew.',
  }),
})

const candidate = z.object({
  name: z.string(),
  description: z.string(),
  score: z.number(),
  confidence: z
    .number()
    .nullable()
    .meta({ description: 'From 0 to 1: how likely it is what was asked for. Null where that would tell of others.' }),
  example: z.string().meta({ description: 'The nearest of what it answers.' }),
})
const words = z.object({ start: z.int(), end: z.int(), text: z.string() })
export const unexpressed = z
  .array(
    words.extend({
      kind: z.enum(['condition', 'measure', 'grain', 'order', 'entity', 'negation', 'second_question', 'command']),
    }),
  )
  .meta({ description: 'Words of the question that the query does not express.' })

export const routing = z
  .object({
    candidates: z.array(candidate),
    matched_example: z.string().nullable(),
    read_as: z
      .string()
      .nullable()
      .meta({ description: 'The question with its typing errors put right, where it has some.' }),
    parameters,
    sources: z.record(z.string(), words).meta({ description: 'The words behind each parameter.' }),
    period: z
      .object({ first: z.string().nullable(), last: z.string().nullable(), text: z.string() })
      .nullable()
      .meta({ description: 'The days that the parameters cover, and the same in words; null where none are named.' }),
    unused: z.array(words).meta({ description: 'Words that were read as values and fill no slot.' }),
    unexpressed,
    confidence: z.number().nullable().meta({
      description:
        'From 0 to 1: of answers that are given with 0.9, nine in ten are right. Null where nothing was compared.',
    }),
    threshold: z.number().meta({ description: 'The least confidence that this project answers with; its setting.' }),
    margin: z.number().nullable().meta({ description: 'How far the best is ahead of the second.' }),
    least_margin: z.number(),
    encoder: z.enum(['neural', 'lexical']),
    decided_by: z.enum(['router', 'model', 'caller']),
    verdict: z
      .enum(verdictNames)
      .nullable()
      .meta({
        description: `How the question ended, the first of these that held. ${Object.entries(verdictMeanings)
          .map(([name, meaning]) => `\`${name}\`: ${meaning}`)
          .join(' ')}`,
      }),
    routing_time_ms: z.number(),
  })
  .meta({ id: 'Routing' })

const drawn = chart.optional().meta({
  description: 'How the author of the query draws its result; left out: as its columns and rows suggest.',
})

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
    chart: drawn,
    meta: answerMeta,
    columns: answerColumns,
    ...answerWarnings,
    unused: z
      .array(z.string())
      .optional()
      .meta({ description: 'Values that the question names and the answer does not heed.' }),
    unexpressed: unexpressed.optional(),
    follows: z
      .object({ request_id: z.string(), changed: z.array(z.string()).nullable() })
      .optional()
      .meta({
        description:
          'The earlier question that was named, and the slots that changed; `changed` is null where this one stood on its own.',
      }),
    confidence: z.number().nullable().meta({
      description:
        'From 0 to 1: of answers that are given with 0.9, nine in ten are right. Null where the caller named the query.',
    }),
    routing: routing.optional(),
  })
  .meta({ id: 'QuestionAnswer' })

export const tryQuestion = z.strictObject({
  question,
  environment: slug.default('production'),
  explain: z.boolean().default(true),
  run: z.boolean().default(false).meta({ description: 'Also run what was chosen.' }),
  draft: slug.optional().meta({ description: 'A draft that takes part as if it were deployed.' }),
  query_name: z.string().max(63).optional(),
  parameters: parameters.default({}),
  time_zone: timeZone.default('UTC'),
  ...completeness,
  follows: z
    .strictObject({ query_name: slug, parameters })
    .optional()
    .meta({ description: 'The query and values of the trial before: “and in the south?” then changes its values.' }),
})
const outcome = z.enum(['answered', 'no_match', 'ambiguous', 'missing_slots', 'unexpressed', 'period_end', 'unsure'])
export const triedQuestion = z
  .object({
    outcome,
    message: z.string().nullable().meta({ description: 'Why it is not answered, as a caller would read it.' }),
    query_used: z.string().nullable(),
    parameters,
    missing: z.array(z.string()),
    unexpressed,
    schema: z.record(z.string(), z.unknown()).nullable().meta({ description: 'JSON Schema of what is missing.' }),
    candidates: z.array(candidate),
    follows: z
      .object({ changed: z.array(z.string()).nullable() })
      .optional()
      .meta({
        description: 'Where a trial before was named: the slots that changed, or null where this one stood on its own.',
      }),
    routing: routing.optional(),
    data: z.array(z.record(z.string(), z.unknown())).optional(),
    row_count: z.int().optional(),
    truncated: z.boolean().optional(),
    execution_time_ms: z.int().optional(),
    version: z.int().optional(),
    as_of: timestamp.nullable().optional(),
    columns: z.array(column).optional(),
    chart: drawn,
    ...answerWarnings,
  })
  .meta({ id: 'TriedQuestion' })

const resolution = z.enum(['example', 'evaluation', 'draft', 'dismissed'])
export const loggedQuestion = z
  .object({
    id: z.string(),
    environment: z.string(),
    at: timestamp,
    text: z.string().nullable().meta({ description: 'Null where the project keeps no texts.' }),
    outcome,
    query: z.string().nullable().meta({ description: 'What answered, or came nearest.' }),
    parameters: parameters
      .nullable()
      .meta({ description: 'Null where the project keeps no texts, and where they are too long to keep.' }),
    confidence: z.number().nullable(),
    key_id: z.string().nullable(),
    request_id: z.string().nullable(),
    resolved: resolution.nullable(),
  })
  .meta({ id: 'LoggedQuestion' })
export const questionFilter = {
  environment: slug.optional(),
  query: slug.optional().meta({ description: 'What answered, or came nearest.' }),
  outcome: z
    .enum(['answered', 'refused', 'no_match', 'ambiguous', 'missing_slots', 'unexpressed', 'period_end', 'unsure'])
    .optional()
    .meta({ description: '`refused` is each of those after it.' }),
}
export const groupFilter = z.strictObject({
  environment: slug.optional(),
  limit: z.coerce.number().int().min(1).max(fixedLimits.pageItems.value).default(50),
})
export const questionGroup = z
  .object({
    question: z.string(),
    count: z.int(),
    last_at: timestamp,
    outcomes: z.record(z.string(), z.int()),
    nearest: z.string().nullable().meta({ description: 'The query that came nearest.' }),
    could_answer: z.enum(['nearest', 'new_query', 'nothing']).meta({
      description:
        'What could answer it: the nearest query, if it were an example of it; only another query, as where it asks how many and the nearest lists; or nothing, as a command.',
    }),
    questions: z.array(z.object({ text: z.string(), count: z.int() })),
  })
  .meta({ id: 'QuestionGroup' })
export const resolveQuestions = z.strictObject({
  questions: z
    .array(z.string().min(1).max(fixedLimits.questionChars.value))
    .min(1)
    .max(fixedLimits.resolvedQuestions.value)
    .meta({ description: 'The texts of a group.' }),
  as: resolution.meta({
    description: 'Examples of a query, evaluation cases, a new draft, or nothing to be done.',
  }),
  query: slug.nullable().default(null).meta({
    description: 'The query to give examples, to draft, or to expect; null with `evaluation`: a refusal is expected.',
  }),
  parameters: parameters.default({}).meta({
    description:
      'Of every question; for examples, what is left out is read from each, and null is no value. An example has a value for each required slot.',
  }),
  sql: z.string().min(1).max(fixedLimits.sqlChars.value).optional().meta({ description: 'Of the draft.' }),
})
/** Below it an answer is more likely wrong than right on the trust benchmark. */
export const defaultMinConfidence = 0.3

export const questionSettings = z
  .strictObject({
    log: z.enum(['full', 'redacted', 'off']).meta({
      description: 'Whether questions are kept with their text, without it, or not at all.',
    }),
    retention_days: z.int().min(1).max(3_650),
    min_confidence: z.number().min(0).max(0.99).default(defaultMinConfidence).meta({
      description:
        'The least confidence that is answered with; below it a question is refused as `unsure`. 0.9: an answer is given only where at least nine in ten like it are right. 0.3, the default: below it an answer is more likely wrong than right on the trust benchmark. 0 leaves it to the router.',
    }),
  })
  .meta({ id: 'QuestionSettings' })

const expectation = {
  question,
  expected_query: slug.nullable().meta({ description: 'Null: it must be refused.' }),
  expected_parameters: parameters
    .nullable()
    .default(null)
    .meta({ description: 'Slots not named here may have any value; null: all of them.' }),
}
export const newEvaluation = z.strictObject(expectation)
export const evaluation = z
  .object({
    id: z.string(),
    ...expectation,
    source: z.enum(['written', 'confirmed', 'missed', 'reported']).meta({
      description: '`reported`: made of a report of a wrong answer; it holds no deployment before that is confirmed.',
    }),
    created_at: timestamp,
    created_by: z.string(),
  })
  .meta({ id: 'Evaluation' })
export const reportAnswer = z.strictObject({
  expected_query: slug
    .nullable()
    .meta({ description: 'The query that should have answered; null: the question should have been refused.' }),
  note: z.string().max(1_000).optional().meta({ description: 'What was wrong, for who looks at it.' }),
})
const reportStatus = z
  .enum(['reported', 'confirmed'])
  .meta({ description: 'The router heeds what is confirmed; what is only reported is kept as an evaluation case.' })
export const counterExampleFilter = { status: reportStatus.optional() }
export const counterExample = z
  .object({
    id: z.string(),
    question: z.string(),
    not_query: z.string().nullable().meta({ description: 'The query that answered it and must not.' }),
    meant_query: z.string().nullable().meta({ description: 'The query that must answer it; null: none does.' }),
    status: reportStatus,
    note: z.string().nullable(),
    request_id: z.string(),
    evaluation_id: z.string().nullable().meta({ description: 'The evaluation case that was made of it.' }),
    created_at: timestamp,
    created_by: z.string(),
    confirmed_at: timestamp.nullable(),
    confirmed_by: z.string().nullable(),
  })
  .meta({ id: 'CounterExample' })
export const runEvaluations = z.strictObject({ environment: slug.default('production') })
export const evaluationRunEntry = z.object({
  id: z.string(),
  environment: z.string(),
  at: timestamp,
  by: z.string(),
  query: z.string().nullable().meta({ description: 'What was deployed when it ran; null: somebody asked for it.' }),
  version: z.int().nullable(),
  total: z.int(),
  passed: z.int(),
})
export const evaluationRun = evaluationRunEntry
  .extend({
    results: z.array(
      z.object({
        question: z.string(),
        expected: z.object({ query: z.string().nullable(), parameters: parameters.nullable() }),
        got: z.object({ outcome, query: z.string().nullable(), parameters }),
        passed: z.boolean(),
      }),
    ),
  })
  .meta({ id: 'EvaluationRun' })
export const resolvedQuestions = z.object({
  resolved: z.int().meta({ description: 'How many asked questions this deals with.' }),
  query: query.nullable(),
  evaluations: z.array(evaluation),
})
