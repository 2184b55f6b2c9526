import fc from 'fast-check'
import { definition as definitionSchema } from '../../../api/definition.ts'

const text = (most = 60) =>
  fc.oneof(fc.string({ maxLength: most }), fc.string({ unit: 'grapheme', maxLength: most }), hostile())
/** What YAML, SQL comments and our own references could take for something else. */
const hostile = () =>
  fc.constantFrom(
    'yes',
    'null',
    '~',
    '1e3',
    '0x10',
    '2026-01-01',
    '- a',
    'a: b',
    '# c',
    '*x',
    '&x',
    '!t',
    '%d',
    '@a',
    '`a`',
    '|',
    '>',
    '*/',
    '/*---',
    '---*/',
    '---',
    '${NAME}',
    '$${NAME}',
    '$$${',
    'a\nb',
    'a\r\nb',
    ' a ',
    '\t',
    '\u0085',
    '\u2028',
    '\uFEFF',
    '"',
    "'",
    '\\',
    '{a',
    '[a',
    ', ',
    '***',
    'x: ${A} */ y',
  )
const slug = fc.stringMatching(/^[a-z][a-z0-9_]{0,12}$/)
const named = text(40).filter((name) => name.trim() === name && name !== '')

const scalarSlot = fc.oneof(
  fc.record(
    { type: fc.constant('string' as const), description: text(), default: text(20) },
    { requiredKeys: ['type'] },
  ),
  fc.record({ type: fc.constant('integer' as const), minimum: fc.integer() }, { requiredKeys: ['type'] }),
  fc.record({ type: fc.constant('boolean' as const) }),
)
const slots = fc
  .tuple(fc.dictionary(slug, scalarSlot, { maxKeys: 3 }), fc.boolean(), fc.option(text(), { nil: undefined }))
  .chain(([properties, isShuffled, description]) =>
    fc.shuffledSubarray(Object.keys(properties)).map((required) => ({
      properties,
      required: isShuffled ? required : Object.keys(properties).filter((name) => required.includes(name)),
      ...(description !== undefined && { description }),
    })),
  )
const parameters = fc.dictionary(slug, fc.oneof(text(20), fc.integer(), fc.boolean(), fc.constant(null)), {
  maxKeys: 3,
})
const query = fc.record(
  {
    name: slug,
    sql: text(80).filter((sql) => sql !== ''),
    description: text(),
    slots,
    examples: fc.array(fc.record({ question: named, parameters }), { maxLength: 3 }),
    cache_seconds: fc.option(fc.nat(86_400)),
    rate_limit: fc.option(
      fc.record({ per_minute: fc.integer({ min: 1, max: 10 }), burst: fc.integer({ min: 1, max: 10 }) }),
    ),
  },
  { requiredKeys: ['name', 'sql', 'slots'] },
)
const headers = fc.dictionary(fc.constantFrom('accept', 'x-page', 'x-trace'), text(20), { maxKeys: 2 })
const api = fc.record(
  {
    name: slug,
    config: fc.record({ url: named, headers }, { requiredKeys: ['url'] }),
    rate: fc.option(fc.record({ requests: fc.integer({ min: 1, max: 10_000 }), concurrency: fc.constant(2) })),
    tries: fc.option(fc.integer({ min: 1, max: 10 })),
  },
  { requiredKeys: ['name', 'config'] },
)
const connection = fc.record(
  {
    table_name: slug,
    name: named,
    config: fc.option(
      fc.record(
        {
          url: named,
          api: slug,
          method: fc.constantFrom('GET', 'POST'),
          headers,
          responsePathExtractor: text(20),
        },
        { requiredKeys: ['url', 'method'] },
      ),
    ),
    schedule: fc.option(fc.constant('0 * * * *')),
    keep_versions: fc.integer({ min: 1, max: 9 }),
    schema: fc.record(
      {
        on_mismatch: fc.constantFrom('widen' as const, 'hold' as const),
        columns: fc.array(fc.record({ source_name: text(20), hidden: fc.boolean() }), { maxLength: 2 }),
      },
      { requiredKeys: [] },
    ),
  },
  { requiredKeys: ['table_name'] },
)
const model = fc.record(
  {
    name: slug,
    sql: text(80).filter((sql) => sql !== ''),
    description: text(),
    schedule: fc.option(fc.constant('0 * * * *')),
    keep_versions: fc.integer({ min: 1, max: 9 }),
    load: fc.constantFrom({ mode: 'replace' as const }, { mode: 'merge' as const, primary_key: ['id'] }),
  },
  { requiredKeys: ['name', 'sql'] },
)
const row = fc.dictionary(slug, fc.oneof(text(20), fc.integer(), fc.boolean(), fc.constant(null)), { maxKeys: 3 })
const rowTest = fc
  .record(
    {
      name: slug,
      description: text(),
      query: slug,
      given: fc.dictionary(slug, fc.oneof(fc.array(row, { maxLength: 2 }), text()), { maxKeys: 2 }),
      parameters,
      expect: fc.array(row, { maxLength: 2 }),
      ordered: fc.boolean(),
      exact: fc.boolean(),
    },
    { requiredKeys: ['name', 'query', 'expect'] },
  )
  .chain((each) => fc.constantFrom(each, { ...each, expect: null, error: 'missing_slots' }))
const variable = fc.oneof(
  fc.record({ name: slug, value: text(20) }),
  fc.record({
    name: slug,
    value: fc.constant('***'),
    secret: fc.constant(true),
    origins: fc.constant(['https://api.example']),
  }),
)
const evaluation = fc.record(
  {
    question: named.filter((question) => /\S/.test(question)),
    expected_query: fc.option(slug),
    expected_parameters: fc.option(parameters),
  },
  { requiredKeys: ['question', 'expected_query'] },
)
const alert = fc.record(
  {
    name: named,
    type: fc.constantFrom('error_rate_above' as const, 'job_failed' as const),
    threshold: fc.option(fc.double({ noNaN: true, noDefaultInfinity: true })),
    channels: fc.array(
      fc.record(
        { type: fc.constant('webhook' as const), url: text(20), secret: fc.constant('***') },
        { requiredKeys: ['type', 'url'] },
      ),
      { maxLength: 2 },
    ),
  },
  { requiredKeys: ['name', 'type'] },
)
/** As the service gives them: all of them. */
const settings = fc.record({
  allowed_origins: fc.uniqueArray(fc.constantFrom('https://a.example', 'http://localhost:3000'), { maxLength: 2 }),
  questions: fc.record({
    log: fc.constantFrom('full' as const, 'redacted' as const, 'off' as const),
    retention_days: fc.integer({ min: 1, max: 400 }),
    min_confidence: fc.constantFrom(0, 0.5, 0.99),
  }),
  replay: fc.record({
    recording: fc.boolean(),
    max_calls: fc.constantFrom(1, 1_000),
    days: fc.constant(7),
    redacted_slots: fc.uniqueArray(slug, { maxLength: 2 }),
  }),
})
/** Definitions of all kinds that the service may give. */
export const definitions = fc
  .record({
    definition: fc.constant(1 as const),
    environments: fc.uniqueArray(slug, { maxLength: 3 }),
    settings,
    variables: fc.uniqueArray(variable, { selector: ({ name }) => name, maxLength: 3 }),
    apis: fc.uniqueArray(api, { selector: ({ name }) => name, maxLength: 3 }),
    connections: fc.uniqueArray(connection, { selector: (each) => each.table_name, maxLength: 3 }),
    models: fc.uniqueArray(model, { selector: ({ name }) => name, maxLength: 3 }),
    queries: fc.uniqueArray(query, { selector: ({ name }) => name, maxLength: 3 }),
    tests: fc.uniqueArray(rowTest, { selector: ({ name }) => name, maxLength: 3 }),
    evaluations: fc.uniqueArray(evaluation, { selector: ({ question }) => question, maxLength: 4 }),
    alerts: fc.uniqueArray(alert, { selector: ({ name }) => name, maxLength: 3 }),
  })
  .map((each) => definitionSchema.safeParse(each))
  .filter((each) => each.success)
  .map(({ data }) => data)
