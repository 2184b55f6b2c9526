import { releasedQueries, slots } from './given.ts'
import { longText, type Ids, type Load } from './load.ts'

/** Calls, questions and tools with the largest values they take, and larger ones. */

const call = (
  name: string,
  query: string,
  body: object,
  status: Load['status'] = 200,
  kind: Load['kind'] = 'hostile',
): Load => ({
  name,
  kind,
  route: 'POST /v1/queries/:query_name',
  as: 'key',
  ids: { query_name: query },
  body,
  status,
  given: [slots],
})
const many = <Item>(length: number, item: (at: number) => Item): Item[] => Array.from({ length }, (_, at) => item(at))
const letters = 900_000

const values: Load[] = [
  call('a list of 10,000 values by a call', 'of_ids', { ids: many(10_000, (at) => at) }, 200, 'ordinary'),
  call('a list of 10,000 wrong numbers', 'of_ids', { ids: many(10_000, (at) => `x${at}`) }, 400),
  call('a list of 10,000 texts that are numbers', 'of_ids', {
    ids: many(10_000, (at) => `900719925474${99_300 + at}`),
  }),
  call('a list of 150,000 values', 'of_ids', { ids: many(150_000, (at) => at) }, 400),
  call('a list of 10,000 names that no row has', 'of_regions', { regions: many(10_000, (at) => `region ${at}`) }),
  call('a list of 10,000 names of 90 letters that no row has', 'of_regions', {
    regions: many(10_000, (at) => `${at}${'r'.repeat(84)}`),
  }),
  call('a name of 900,000 letters that no row has', 'of_region', { region: 'n'.repeat(letters) }),
  call('a name of 1,000 letters near those of rows', 'of_region', { region: 'north '.repeat(160) }),
  call('a choice that is none, of 900,000 letters', 'of_choice', { choice: 'c'.repeat(letters) }, 400),
  call('a choice that is none, near 1,000 long ones', 'of_choice', { choice: `0 ${'chioce '.repeat(100)}` }, 400),
  call(
    'a list of 10,000 choices that are none',
    'of_choices',
    { choices: many(10_000, (at) => `chioce nubmer ${at}`) },
    400,
  ),
  call('a text of 10,000 letters against a pattern', 'of_pattern', { word: 'a'.repeat(10_000) }, 400),
  call('a text of 900,000 letters against a pattern', 'of_pattern', { word: 'a'.repeat(letters) }, 400),
  call('a list of 90 texts of 10,000 letters against a pattern', 'of_patterns', {
    words: many(90, () => `${'a'.repeat(9_990)}x`),
  }),
  call(
    'a list of 10,000 texts against a pattern',
    'of_patterns',
    { words: many(10_000, (at) => `${'ab'.repeat(30)}${at}`) },
    400,
  ),
  call('a day of 900,000 digits', 'of_day', { day: '2'.repeat(letters) }, 400),
  call('a number of 900,000 digits', 'of_amount', { amount: '9'.repeat(letters) }, 400),
]

const rows = 100_000
const answer = (name: string, accept: string, bytes: number): Load => ({
  ...call(`an answer of 100,000 rows as ${name}`, 'hundred_thousand', {}, 200, 'ordinary'),
  headers: { accept },
  bytes,
})
const answers: Load[] = [
  answer('JSON', 'application/json', 20 * rows),
  answer('NDJSON', 'application/x-ndjson', 20 * rows),
  answer('CSV', 'text/csv', 10 * rows),
  answer('server-sent events', 'text/event-stream', 20 * rows),
  answer('Parquet', 'application/vnd.apache.parquet', rows),
  answer('Arrow', 'application/vnd.apache.arrow.stream', rows),
]

const ask = (
  name: string,
  query: string,
  status: Load['status'] = 422,
  more: (ids: Ids) => object = () => ({}),
): Load => ({
  name,
  kind: status === 200 ? 'ordinary' : 'hostile',
  route: 'POST /v1/query',
  as: 'key',
  body: (ids) => ({ query, project_id: ids['project_id'], ...more(ids) }),
  status,
  given: [releasedQueries],
})
const questions: Load[] = [
  ask('a question to 1,900 queries', 'which orders of number 77 came from the north', 200),
  ask('a question of 2,000 letters', 'orders of number 7 from the north '.repeat(58)),
  ask('a question of 2,000 digits and signs', '1 2.3 4/5 6-7 $8 9% '.repeat(99)),
  ask('a question of 400 days and months', 'may 2026 '.repeat(220)),
  ask('a question of one word of 2,000 letters', 'o'.repeat(2_000)),
  ask('a question of 1,000 characters of other scripts', '北é'.repeat(990)),
  ask(
    'a question of 1,900 blanks between a season and a day',
    `orders of winter ${' '.repeat(1_900)}x from 1 May 2026 to 3 May 2026`,
  ),
  ask('a question of 1,900 dots and signs', '+.'.repeat(950)),
  ask('a question of 1,000 quotes and brackets', `"'([{`.repeat(390)),
  ask(
    'a question with a parameter of 900,000 letters',
    'which orders of number 77 came from the north',
    'answered',
    () => ({
      parameters: { region: 'n'.repeat(letters) },
    }),
  ),
  {
    name: 'a question of 2,000 letters by a member',
    kind: 'hostile',
    route: 'POST /v1/projects/:project_id/ask',
    body: { question: 'orders of number 7 from the north '.repeat(58) },
    given: [releasedQueries],
  },
]

const tool = (name: string, method: string, params: object, more: Partial<Load> = {}): Load => ({
  name,
  kind: 'ordinary',
  route: 'POST /mcp',
  as: 'key',
  headers: { accept: 'application/json, text/event-stream' },
  body: { jsonrpc: '2.0', id: 1, method, params },
  given: [releasedQueries],
  ...more,
})
const search = (name: string, given: object, more: Partial<Load> = {}): Load =>
  tool(name, 'tools/call', { name: 'list_queries', arguments: given }, { words: 'draft_', ...more })
const tools: Load[] = [
  tool('tools where there are 1,900 queries', 'tools/list', {}, { words: 'list_queries' }),
  search('a search among 1,900 tools without words', {}),
  search('a search among 1,900 tools', { words: 'orders number 77 region' }),
  search(
    'a search among 1,900 tools for 500 letters',
    { words: 'orders number 7 region '.repeat(21).trim() },
    { kind: 'hostile' },
  ),
  tool('resources of 1,900 queries', 'resources/list', {}, { words: '"resources"' }),
  tool(
    'a tool that answers 100,000 rows',
    'tools/call',
    { name: 'hundred_thousand', arguments: {} },
    { given: [slots, releasedQueries], words: 'row ' },
  ),
  tool(
    'a tool with a list of 10,000 wrong values',
    'tools/call',
    { name: 'of_ids', arguments: { ids: many(10_000, (at) => `x${at}`) } },
    { kind: 'hostile', given: [slots] },
  ),
  tool(
    'a resource whose address is long',
    'resources/read',
    { uri: `sluice://${longText(100_000, (at) => `x${at}/`)}` },
    { kind: 'hostile', status: 200 },
  ),
]

const service: Load[] = [
  {
    name: 'what a key reaches, of 1,900 queries',
    kind: 'ordinary',
    route: 'GET /v1/key',
    as: 'key',
    given: [releasedQueries],
  },
  {
    name: 'a browser token with 50 fixed values',
    kind: 'ordinary',
    route: 'POST /v1/browser-tokens',
    as: 'key',
    body: (ids) => ({ project_id: ids['project_id'] }),
    status: 201,
  },
]

export const callLoads: Load[] = [...values, ...answers, ...questions, ...tools, ...service]
