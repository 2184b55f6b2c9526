import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { roomOf, violations } from './rules.ts'

const root = join(import.meta.dirname, '../..')

function sourcesOf(...patterns: string[]): Map<string, string> {
  const paths = globSync(patterns, { cwd: root, exclude: (path) => path.includes('dist') })
  return new Map(paths.map((path) => [path.replaceAll('\\', '/'), readFileSync(join(root, path), 'utf8')]))
}

const sources = sourcesOf('api/**/*.ts', 'server/**/*.ts', 'web/**/*.{ts,tsx}', 'cli/**/*.ts')

test('the tree keeps to the plan', () => {
  expect(sources.size).toBeGreaterThan(30)
  expect(violations(sources)).toEqual([])
})

test('every room but the leaves has one door', () => {
  const rooms = new Set([...sources.keys()].map(roomOf).filter((room) => room?.startsWith('server/')))
  // The executor is a process: its door is a socket.
  rooms.delete('server/data/executor')
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
    ['a way past a door', { 'server/http/x.ts': "import { x } from '../access/roles.ts'" }, /past the door/],
    [
      'an opener that imports the app',
      { 'server/store/x.ts': "import { openApp } from '../app.ts'" },
      /may not import/,
    ],
    [
      'DuckDB in the API process',
      { 'server/data/x.ts': "import { x } from '@duckdb/node-api'" },
      /lives in server\/data\/executor/,
    ],
    [
      'the wire contract that imports the server',
      { 'api/x.ts': "import { x } from '../server/ids.ts'" },
      /may not import/,
    ],
    ['the web app that imports the server', { 'web/x.tsx': "import { x } from '../server/ids.ts'" }, /may not import/],
    ['the web app that imports a schema', { 'web/x.tsx': "import { user } from '../api/people.ts'" }, /only types/],
    ['a grab bag', { 'server/access/utils.ts': '' }, /grab bag/],
    ['a room that is not in the plan', { 'shared/x.ts': '' }, /no room/],
    ['a door that lists nothing', { 'server/access/index.ts': "export * from './x.ts'" }, /no export \*/],
    ['the environment read in a corner', { 'server/access/x.ts': 'const x = process.env.X' }, /process\.env/],
    ['a second class', { 'server/access/x.ts': 'class Service {}' }, /only class/],
    [
      'a cycle',
      { 'server/access/a.ts': "import { b } from './b.ts'", 'server/access/b.ts': "import { a } from './a.ts'" },
      /cycle: /,
    ],
    [
      'an import in several lines',
      { 'server/access/x.ts': "import {\n  a,\n  b,\n} from 'undici'" },
      /undici lives in/,
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
