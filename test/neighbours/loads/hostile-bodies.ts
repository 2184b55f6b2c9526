import { list, names, type Ids, type Load, type Who } from './load.ts'

/** Requests that make a server say as much as it can, or work as long as it can, and are refused. */

/** As many members as an object of 800 kB has. */
const many = JSON.stringify(Object.fromEntries(Array.from({ length: 88_000 }, (_, at) => [at.toString(16), 0])))
const form = { 'content-type': 'application/x-www-form-urlencoded' }
const manyNames = (length: number): string => Array.from({ length }, (_, at) => `${at.toString(36)}=`).join('&')

const refused =
  (as: Who) =>
  (name: string, route: string, body: Load['body'], more: Partial<Load> = {}): Load => ({
    name,
    kind: 'hostile',
    route,
    as,
    status: 400,
    ...(body !== undefined && { body }),
    ...more,
  })

/** Without any credential: 413, and 404 where there is nothing. */
const open = refused('nobody')
export const openBodies: Load[] = [
  open('a session of 88,000 fields', 'POST /v1/session', many, { status: 413 }),
  open('a sign-in link of 88,000 fields', 'POST /v1/session/link', many, { status: 413 }),
  open('an invitation of 88,000 fields', 'POST /v1/invitations/read', many, { status: 413 }),
  open('an invitation of 88,000 fields, accepted', 'POST /v1/invitations/accept', many, { status: 413 }),
  open('a shared reference of 88,000 fields', 'POST /v1/shared-references/read', many, { status: 413 }),
  open('a client of 88,000 fields', 'POST /oauth/register', many, { status: 413 }),
  open('a token request of 88,000 fields', 'POST /oauth/token', many, { status: 413 }),
  open('a token request as a form of 150,000 names', 'POST /oauth/token', manyNames(150_000), {
    status: 413,
    headers: form,
  }),
  open('a token to end as a form of 150,000 names', 'POST /oauth/revoke', manyNames(150_000), {
    status: 413,
    headers: form,
  }),
  open('a session of 16 kB, the most that is read', 'POST /v1/session', names(1_100, 's')),
  open('a session of 480 fields', 'POST /v1/session', names(480)),
  open('a client of 450 addresses and 100 fields', 'POST /oauth/register', {
    redirect_uris: Array.from({ length: 450 }, () => 'javascript:1'),
    ...names(100),
  }),
  open('a token request as a form of 3,000 names', 'POST /oauth/token', manyNames(3_000), { headers: form }),
  open('a body of 88,000 fields to nowhere', 'POST /v1/nowhere', many, { status: 404 }),
]

/** With an API key of the project. `echo` is a query of it with slots. */
const called = refused('key')
const toEcho: Partial<Load> = { ids: { query_name: 'echo' } }
const question = (parameters: string) => (ids: Ids) =>
  `{"query":"Which orders?","project_id":"${ids['project_id']}",${parameters}}`
const toolCall = (given: string): string =>
  `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":${given}}}`
const tools = { headers: { accept: 'application/json, text/event-stream' } }
export const callBodies: Load[] = [
  called('a call of 88,000 slots', 'POST /v1/queries/:query_name', many, toEcho),
  called('a call of 480 unknown slots', 'POST /v1/queries/:query_name', names(480), toEcho),
  called(
    'a call of 480 unknown slots of long names',
    'POST /v1/queries/:query_name',
    names(480, 's'.repeat(2_000)),
    toEcho,
  ),
  called('a call of 2,400 unknown slots by its address', 'GET /v1/queries/:query_name', undefined, {
    ...toEcho,
    search: `?${manyNames(2_400)}`,
  }),
  called('a question of 88,000 fields', 'POST /v1/query', question(many.slice(1, -1))),
  called('a question of 88,000 parameters', 'POST /v1/query', question(`"parameters":${many}`)),
  called('a browser token that fixes 88,000 slots', 'POST /v1/browser-tokens', `{"fixed_parameters":${many}}`),
  called('a tool call of 88,000 arguments', 'POST /mcp', toolCall(many), tools),
  called('450,000 tool calls at once', 'POST /mcp', list(450_000, '1'), tools),
]

/** With a management token that may edit the project. */
const edited = refused('operator')
const definition = (field: string) => `{"definition":1,${field}}`
const project = '/v1/projects/:project_id'
const wrongEnum = `{"type":"string","enum":${list(1_000, '1')}}`
const wrongSlots = Array.from({ length: 50 }, (_, at) => `"s${at}":${wrongEnum}`).join(',')
const thirtyMegabytes = 30_000_000
/** A definition of 30 MB whose one query holds a list of one thing over and over. */
const fat = (item: string): string =>
  definition(
    `"queries":[{"name":"a","sql":"b","examples":${list(Math.floor(thirtyMegabytes / (item.length + 1)), item)}}]`,
  )

export const editorBodies: Load[] = [
  edited(
    'a connection whose parameter has 300,000 lists',
    'POST /v1/http/test-connection',
    `{"url":"http://upstream.example","method":"GET","parameters":{"a":{"value":${list(300_000, '[]')}}}}`,
  ),
  edited(
    'a connection of 300,000 groups',
    'POST /v1/http/test-connection',
    `{"url":"http://upstream.example","method":"GET","parameterGroups":${list(300_000, '{}')}}`,
  ),
  edited(
    'a query of 50 slots with 1,000 wrong choices each',
    `POST ${project}/queries`,
    `{"name":"wrong","sql":"SELECT 1","slots":{"type":"object","properties":{${wrongSlots}}}}`,
  ),
  edited(
    'a connection of 11,900 groups, the most that is read',
    'POST /v1/http/test-connection',
    `{"url":"http://upstream.example","method":"GET","parameterGroups":${list(11_900, '0')}}`,
  ),
  edited(
    'a query of 11,900 wrong examples, the most that is read',
    `POST ${project}/queries`,
    `{"name":"wrong","sql":"SELECT 1","examples":${list(11_900, '0')}}`,
  ),
  edited('a query of 500 examples with 20 unknown slots each', `POST ${project}/queries`, {
    name: 'wrong',
    sql: 'SELECT 1',
    examples: Array.from({ length: 500 }, () => ({ question: 'which', parameters: names(20) })),
  }),
  edited(
    'a preview of 480 unknown slots',
    `POST ${project}/queries/:query_name/preview`,
    { parameters: names(480) },
    {
      ids: { query_name: 'echo' },
    },
  ),
  edited('a release of 10,000 wrong names', `POST ${project}/releases`, `{"queries":${list(10_000, '{"name":1}')}}`),
  edited(
    'a definition of 10,000 empty queries',
    `PUT ${project}/definition`,
    definition(`"queries":${list(10_000, '{}')}`),
  ),
  edited(
    'a definition of a query of 500,000 examples',
    `PUT ${project}/definition`,
    definition(`"queries":[{"name":"a","sql":"b","examples":${list(500_000, '1')}}]`),
  ),
  edited('a definition of 100,000 fields', `PUT ${project}/definition`, definition(many.slice(1, -1))),
  edited('a field of 900,000 characters', 'POST /v1/projects', { name: 'x', ['y'.repeat(900_000)]: 1 }),
  edited('a table of 90,000 characters', `POST ${project}/queries/inspect`, {
    sql: `SELECT * FROM ${'z'.repeat(90_000)}`,
  }),
]

const nested = `${'['.repeat(50)}${']'.repeat(50)}`
const quotes = (bytes: number): string => String.raw`\"`.repeat(bytes / 2)
/** Queries of a definition, so many. */
const defined = (count: number, query: string): string => definition(`"queries":${list(count, query)}`)
const putDefinition = (name: string, body: () => string, status = 400): Load =>
  edited(`a definition of 30 MB of ${name}`, `PUT ${project}/definition`, body, { status })

/**
 * Of the size of a definition, in the shapes that cost most: lists of empty objects, numbers, quotes, nested lists. In
 * one item, which is too long; and in as many as a definition may hold.
 */
export const fatDefinitions: Load[] = [
  putDefinition('{}', () => fat('{}')),
  putDefinition('numbers', () => fat('1')),
  putDefinition('fractions', () => fat('1.5e300')),
  putDefinition('quotes', () => fat(String.raw`"\"\"\"\"\"\"\"\""`)),
  putDefinition('lists in lists', () => fat(nested)),
  putDefinition('one text of quotes', () => defined(1, `{"name":"a","sql":"${quotes(thirtyMegabytes)}"}`), 413),
  putDefinition('one name of quotes', () => `{"${quotes(thirtyMegabytes)}":1}`, 413),
  putDefinition('blanks', () => `{"definition":${' '.repeat(thirtyMegabytes)}1}`, 413),
  putDefinition('14 texts of 2 MB of quotes', () => defined(14, `{"name":"a","sql":"${quotes(2_000_000)}"}`)),
  putDefinition('queries that are {}', () => defined(10_000_000, '{}')),
  putDefinition('10,000 queries with a list of 50 levels', () => defined(10_000, fatItem(nested, 2_800))),
  putDefinition('80 queries with 12,000 values', () => defined(80, fatItem(list(11_900, '0'), 350_000))),
  putDefinition('2,000 queries of 450 unknown fields', () =>
    defined(2_000, JSON.stringify({ name: 'a', sql: 's'.repeat(9_000), ...names(450, 's') })),
  ),
]

function fatItem(examples: string, chars: number): string {
  return `{"name":"a","sql":"${'s'.repeat(chars)}","examples":[${examples}]}`
}

/** What a route with a body is sent that no schema takes, as large as it is read. */
const foreign = [
  many,
  `{"a":${list(300_000, '{}')}}`,
  `{"a":${list(450_000, '1')}}`,
  JSON.stringify({ ['y'.repeat(900_000)]: 1 }),
  JSON.stringify({ a: 'y"'.repeat(300_000) }),
  JSON.stringify(names(480)),
]
const foreignOpen = [
  JSON.stringify(names(1_100, 's')),
  JSON.stringify({ a: Array.from({ length: 5_000 }, () => ({})) }),
  JSON.stringify({ ['y'.repeat(15_000)]: 1 }),
]

/** The same for every route that calls nothing its own. Some take no body, and do what they are for. */
export function foreignBodies(route: string, as: Who): Load {
  const name = `${route}: 88,000 fields, 300,000 objects, 450,000 numbers, long names and texts`
  return { name, kind: 'hostile', route, as, bodies: as === 'nobody' ? foreignOpen : foreign, status: 'answered' }
}
