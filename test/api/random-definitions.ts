import fc from 'fast-check'
import { isSecretName } from '../../api/secret-names.ts'

/** Definitions as people might write them, over a table `things`, with connections to `source`. */
export function definitions(source: string): fc.Arbitrary<Record<string, unknown>> {
  const words = fc.string({ unit: fc.constantFrom(...'abcdefgh äß"\'\\{}$🙂\n'), minLength: 1, maxLength: 20 })
  const text = words.map((each) => `t${each}`)
  // What a name makes a secret is told as stars, which mean nothing in another project.
  const slug = fc
    .stringMatching(/^[a-z][a-z0-9_]{0,10}$/)
    .map((each) => `x_${each}`)
    .filter((name) => !isSecretName(name))
  const slot = fc.oneof(
    fc.record({ type: fc.constant('string'), description: text }),
    fc.record({ type: fc.constant('string'), enum: fc.uniqueArray(text, { minLength: 1, maxLength: 3 }) }),
    fc.record({
      type: fc.constant('integer'),
      minimum: fc.integer({ min: -9, max: 0 }),
      default: fc.integer({ min: 1, max: 5 }),
    }),
    fc.record({ type: fc.constant('array'), items: fc.constant({ type: 'number' }) }),
  )
  const query = fc
    .record(
      {
        name: slug,
        description: text,
        slots: fc.dictionary(slug, slot, { maxKeys: 3 }),
        examples: fc.uniqueArray(text, { maxLength: 3 }),
        cache_seconds: fc.integer({ min: 0, max: 100 }),
        max_rows: fc.integer({ min: 1, max: 100 }),
        rate_limit: fc.constant({ per_minute: 5, burst: 2 }),
        chart: fc.constant({ type: 'bar', x: 'id', y: [], series: null, stacked: false }),
      },
      { requiredKeys: ['name', 'slots', 'examples'] },
    )
    .map(({ slots, examples, ...rest }) => ({
      ...rest,
      sql: `SELECT id${Object.keys(slots)
        .map((name, at) => `, $${name} AS c${at}`)
        .join('')} FROM things`,
      slots: { properties: slots, required: [] },
      examples: examples.map((question) => ({ question, parameters: {} })),
    }))
  const config = fc.record(
    {
      url: slug.map((each) => `${source}/${each}?q=${each}`),
      method: fc.constantFrom('get', 'POST'),
      headers: fc.dictionary(fc.constantFrom('Accept', 'X-Plain', 'Authorization'), slug),
      parameters: fc.dictionary(slug, fc.record({ value: fc.oneof(slug, fc.integer(), fc.array(slug)) })),
      responsePathExtractor: slug,
    },
    { requiredKeys: ['url', 'method'] },
  )
  const connection = fc.record(
    {
      table_name: slug,
      name: slug,
      // A secret is not read again, so what is moved to another project has none here.
      config: config.map(({ headers, ...rest }) => {
        const { Authorization: _secret, ...open } = headers ?? {}
        return { ...rest, ...(headers !== undefined && { headers: open }) }
      }),
      schedule: fc.constantFrom('0 4 * * *', null),
      keep_versions: fc.integer({ min: 1, max: 9 }),
      pagination: fc.constantFrom({ type: 'page' }, { type: 'offset', limit: 10 }, null),
      schema: fc.record(
        {
          columns: fc.uniqueArray(
            fc.record({ source_name: slug, hidden: fc.boolean(), description: text.map((each) => each.trim()) }),
            { selector: (each) => each.source_name, maxLength: 3 },
          ),
          on_mismatch: fc.constantFrom('widen', 'null'),
        },
        { requiredKeys: [] },
      ),
    },
    { requiredKeys: ['table_name'] },
  )
  const unique = <Item>(item: fc.Arbitrary<Item>, nameOf: (item: Item) => string, maxLength: number) =>
    fc.uniqueArray(item, { selector: nameOf, maxLength })
  return fc
    .record({
      environments: fc
        .uniqueArray(slug, { maxLength: 2 })
        .map((more) => ['development', 'staging', 'production', ...more]),
      settings: fc.record(
        {
          allowed_origins: fc.uniqueArray(fc.constantFrom('https://a.example', 'https://b.example:8443'), {
            maxLength: 2,
          }),
          questions: fc.record(
            {
              log: fc.constantFrom('full', 'redacted', 'off'),
              retention_days: fc.integer({ min: 1, max: 400 }),
              min_confidence: fc.constantFrom(0, 0.5, 0.99),
            },
            { requiredKeys: [] },
          ),
          replay: fc.record(
            {
              recording: fc.boolean(),
              max_calls: fc.integer({ min: 1, max: 100 }),
              redacted_slots: fc.uniqueArray(slug, { maxLength: 2 }),
            },
            { requiredKeys: [] },
          ),
        },
        { requiredKeys: [] },
      ),
      variables: unique(fc.record({ name: slug, value: text }), ({ name }) => name, 3),
      connections: unique(connection, (each) => each.table_name, 3),
      queries: unique(query, (each) => each.name, 4),
      alerts: fc.array(
        fc.record({ name: slug, type: fc.constant('requests_above'), threshold: fc.integer({ min: 1, max: 9 }) }),
        { maxLength: 3 },
      ),
      questions: fc.uniqueArray(text, { maxLength: 3 }),
    })
    .map(({ questions, ...rest }) => ({
      definition: 1,
      ...rest,
      evaluations: questions.map((question, at) => {
        const name = rest.queries[at]?.name ?? null
        return { question, expected_query: name, ...(name !== null && { expected_parameters: { any: at } }) }
      }),
    }))
}
