import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { roomOf, violations } from './rules.ts'

const root = join(import.meta.dirname, '../..')

function sourcesOf(...patterns: string[]): Map<string, string> {
  const paths = globSync(patterns, { cwd: root, exclude: (path) => path.includes('dist') })
  return new Map(paths.map((path) => [path.replaceAll('\\', '/'), readFileSync(join(root, path), 'utf8')]))
}

const sources = sourcesOf(
  'api/**/*.ts',
  'server/**/*.ts',
  'web/**/*.{ts,tsx}',
  'cli/**/*.ts',
  'clients/{typescript,ask-element,chart}/**/*.ts',
  'server/store/migrations/*.sql',
)

test('the tree keeps to the plan', () => {
  expect(sources.size).toBeGreaterThan(30)
  expect(violations(sources)).toEqual([])
})

test('a field of a query is named by its schema, its column and the code that uses it', () => {
  const naming = (field: RegExp) =>
    [...sources].filter(([path, text]) => /^(api|server)\//.test(path) && field.test(text)).map(([path]) => path)
  // Two in the store: the migration that added the column, and its type.
  expect(naming(/\bcache_?seconds\b/i).toSorted()).toEqual([
    'api/queries.ts',
    'server/queries/calls/run.ts',
    'server/store/migrations/0004_queries.sql',
    'server/store/tables/queries.ts',
  ])
})

test('every room but the leaves has one door', () => {
  const rooms = new Set([...sources.keys()].map(roomOf).filter((room) => room?.startsWith('server/')))
  // The executor is a process: its door is a socket.
  rooms.delete('server/engine/executor')
  for (const room of rooms) expect([...sources.keys()]).toContain(`${room}/index.ts`)
})

describe('each rule catches a planted violation', () => {
  const planted: Array<[string, Record<string, string>, RegExp]> = [
    [
      'a verb that knows the transport',
      { 'server/access/x.ts': "import { fastify } from 'fastify'" },
      /fastify lives in/,
    ],
    [
      'a room that imports upwards',
      { 'server/store/x.ts': "import { x } from '../access/index.ts'" },
      /may not import/,
    ],
    [
      'a transport imported by a verb',
      { 'server/queries/x.ts': "import { x } from '../http/index.ts'" },
      /may not import/,
    ],
    [
      'a router that looks into the database',
      { 'server/router/x.ts': "import type { Database } from '../store/index.ts'" },
      /may not import/,
    ],
    [
      'a router that knows how queries are deployed',
      { 'server/router/x.ts': "import type { Deployments } from '../queries/index.ts'" },
      /may not import/,
    ],
    [
      'a reader of texts that knows what they are compared with',
      { 'server/language/x.ts': "import { route } from '../router/index.ts'" },
      /may not import/,
    ],
    [
      'days parsed by hand beside the room for it',
      { 'server/router/x.ts': "import { en } from 'chrono-node'" },
      /lives in server\/language/,
    ],
    ['a way past a door', { 'server/http/x.ts': "import { x } from '../access/roles.ts'" }, /past the door/],
    [
      'an opener that imports the app',
      { 'server/store/x.ts': "import { openApp } from '../app.ts'" },
      /may not import/,
    ],
    [
      'a verb that takes the whole app',
      { 'server/queries/x.ts': "import type { App } from '../app.ts'\nexport type Parts = Pick<App, 'router'>" },
      /may not import server\/app\.ts/,
    ],
    [
      'a route that puts a call together itself',
      { 'server/http/routes/queries/query-calls.ts': "import { admitToQuery } from '../../../access/index.ts'" },
      /one hop more, to server\/access/,
    ],
    [
      'DuckDB in the API process',
      { 'server/engine/x.ts': "import { x } from '@duckdb/node-api'" },
      /lives in server\/engine\/executor/,
    ],
    [
      'the wire contract that imports the server',
      { 'api/x.ts': "import { x } from '../server/ids.ts'" },
      /may not import/,
    ],
    ['the web app that imports the server', { 'web/x.tsx': "import { x } from '../server/ids.ts'" }, /may not import/],
    ['the web app that imports a schema', { 'web/x.tsx': "import { user } from '../api/people.ts'" }, /only types/],
    [
      'the command line that reaches into the server',
      { 'cli/commands/x.ts': "import { x } from '../../server/config.ts'" },
      /may not import/,
    ],
    [
      'the reader of files that asks the service',
      { 'cli/project/x.ts': "import { x } from '../service/manage.ts'" },
      /may not import/,
    ],
    [
      'the client for users that imports the wire',
      { 'clients/typescript/x.ts': "import { x } from '../../api/queries.ts'" },
      /may not import/,
    ],
    [
      'the room that all may use, when it uses another',
      { 'server/flow/x.ts': "import { x } from '../store/index.ts'" },
      /may not import/,
    ],
    [
      'a way past its door',
      { 'server/access/x.ts': "import { x } from '../flow/serial.ts'" },
      /may not import|past the door/,
    ],
    ['a grab bag', { 'server/access/utils.ts': '' }, /grab bag/],
    [
      'a folder that is full',
      Object.fromEntries(Array.from({ length: 17 }, (_each, at) => [`server/access/people/x${at}.ts`, ''])),
      /server\/access\/people: holds 17 files/,
    ],
    [
      'a word with two meanings',
      { 'server/access/a.ts': 'type Place = 1', 'server/store/b.ts': 'export type Place = 2' },
      /Place is declared in server\/access\/a\.ts and server\/store\/b\.ts/,
    ],
    [
      'an exported type whose name another file has',
      { 'server/access/a.ts': 'export type Plan = 1', 'server/engine/b.ts': 'export type Plan = 2' },
      /Plan is declared in server\/access\/a\.ts and server\/engine\/b\.ts/,
    ],
    ['a file whose name lacks its noun', { 'server/access/open.ts': '' }, /lacks its noun/],
    [
      'folders of a room in a circle, though their files are in none',
      {
        'server/router/a/one.ts': "import type { Two } from '../b/two.ts'",
        'server/router/b/three.ts': "import type { Four } from '../a/four.ts'",
      },
      /folders in a circle: server\/router\/a and server\/router\/b/,
    ],
    ['a room that is not in the plan', { 'shared/x.ts': '' }, /no room/],
    ['a door that lists nothing', { 'server/access/index.ts': "export * from './x.ts'" }, /no export \*/],
    ['the environment read in a corner', { 'server/access/x.ts': 'const x = process.env.X' }, /process\.env/],
    [
      'a long function',
      { 'server/access/x.ts': `function x() {\n${'  y()\n'.repeat(70)}}` },
      /x has 72 lines and no reason/,
    ],
    [
      'a long component',
      { 'web/pages/x.tsx': `export function X() {\n${'  y()\n'.repeat(70)}}` },
      /X has 72 lines and no reason/,
    ],
    [
      'an excuse that is needed no longer',
      { 'server/access/x.ts': '// Over 70 lines: it was.\nfunction x() {\n}' },
      /excuses its length/,
    ],
    ['a second class', { 'server/access/x.ts': 'class Service {}' }, /only class/],
    [
      'a cycle',
      { 'server/access/a.ts': "import { b } from './b.ts'", 'server/access/b.ts': "import { a } from './a.ts'" },
      /cycle: /,
    ],
    [
      'a cycle of types',
      {
        'server/access/a.ts': "import type { B } from './b.ts'",
        'server/access/b.ts': "import type { A } from './a.ts'",
      },
      /cycle: /,
    ],
    [
      'a table of another room, by Kysely',
      { 'server/usage/x.ts': "await db\n  .selectFrom('jobs as j')\n  .select('id')" },
      /the table jobs belongs to server\/jobs/,
    ],
    [
      'a table of another room among several',
      { 'server/usage/x.ts': "db.selectFrom(['alerts as a', 'queries as q'])" },
      /the table queries belongs to server\/queries/,
    ],
    [
      'a table of another room, joined to one of its own',
      { 'server/data/x.ts': "db.selectFrom('data_objects').innerJoin('datasources', 'id', 'datasource_id')" },
      /the table datasources belongs to server\/connections/,
    ],
    [
      'a table of another room, in a subquery',
      { 'server/jobs/x.ts': "db.selectFrom((eb) => eb.selectFrom('members').select('role').as('mine'))" },
      /the table members belongs to server\/access/,
    ],
    [
      'a table of another room, in SQL',
      { 'server/usage/x.ts': 'run(`select 1 from alerts a, "deployments" d where ${`x`}`)' },
      /the table deployments belongs to server\/queries/,
    ],
    [
      'a table of another room, written to in SQL',
      { 'server/queries/x.ts': "const text = 'insert into usage_rollups select 1' // from queries" },
      /the table usage_rollups belongs to server\/usage/,
    ],
    [
      'a table whose name is hidden',
      { 'server/access/x.ts': 'for (const table of tables) await db.updateTable(table).set({})' },
      /updateTable of a table that is not named/,
    ],
    [
      'a table that nobody owns',
      { 'server/store/migrations/99_x.sql': 'create table orphans (\n  id text\n);' },
      /the table orphans has no owner/,
    ],
    [
      'an exception that nobody needs any more',
      { 'server/access/people/roles.ts': "db.selectFrom('members')" },
      /needs no exception for projects/,
    ],
    [
      'an import in several lines',
      { 'server/access/x.ts': "import {\n  a,\n  b,\n} from 'undici'" },
      /undici lives in/,
    ],
    [
      'a name that two rooms export',
      { 'server/jobs/x.ts': 'export type Ticket = 1', 'server/data/x.ts': 'export type Ticket = 2' },
      /Ticket is exported by server\/data and server\/jobs/,
    ],
    ['an import when it is called', { 'server/access/x.ts': "const x = await import('undici')" }, /undici lives in/],
  ]
  test.each(planted)('%s', (_name, files, expected) => {
    expect(violations(new Map(Object.entries(files))).join('\n')).toMatch(expected)
  })

  test('types of a library may travel where the table says so', () => {
    const kysely = new Map([['server/access/x.ts', "import type { Transaction } from 'kysely'"]])
    expect(violations(kysely)).toEqual([])
  })
})
