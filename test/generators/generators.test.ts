import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { expectStatus, openTestApp, type TestApp } from '../harness/app.ts'
import { openQueryProject, type QueryProject } from '../harness/queries.ts'
import { biggest, inRegion } from '../harness/questions.ts'

/** Clients that others' generators make of a project's OpenAPI document compile, and answer what the API answers. */

const installed = process.env['TEST_GENERATORS'] ?? ''
const run = promisify(execFile)

let t: TestApp
let q: QueryProject
let origin: string
let folder: string
beforeAll(async () => {
  t = await openTestApp()
  q = await openQueryProject(t)
  await q.deploy(inRegion)
  await q.deploy(biggest)
  const slots = {
    type: 'object',
    properties: {
      days: { type: 'array', items: { type: 'string', format: 'date' } },
      at: { type: 'string', format: 'date-time' },
      format: { type: 'string' },
    },
    required: ['days'],
  }
  const sql = `SELECT id, day::DATE AS day, $at::TIMESTAMP AS at, $format AS format, {'a': id, 'tags': [region]} AS nested,
    9007199254740993 AS wide, amount::DECIMAL(38,4) AS exact, '{"any": 1}'::JSON AS anything, NULL::INTEGER AS nothing
    FROM orders WHERE day::DATE IN (SELECT unnest($days)) ORDER BY id`
  await q.deploy({ name: 'by_day', sql, slots, description: 'Orders of some days' })
  origin = await t.listen()
  folder = await mkdtemp(join(tmpdir(), 'sluice-generated-'))
  const { body } = await expectStatus(200, q.caller.get(`/v1/projects/${q.projectId}/openapi.json`))
  await writeFile(join(folder, 'openapi.json'), JSON.stringify({ ...body, servers: [{ url: origin }] }))
})
afterAll(async () => {
  await t.close()
  await rm(folder, { recursive: true, force: true })
})

const expected = {
  north: 10,
  biggest: [30, 29],
  days: ['2024-01-01', '2024-01-01'],
  wide: '9007199254740993',
  refused: 'missing_slots',
}

const program = `
import createClient from 'openapi-fetch'
import type { components, paths } from './schema.d.ts'

const headers = { Authorization: \`Bearer \${process.env['KEY']}\` }
const client = createClient<paths>({ baseUrl: process.env['ORIGIN'] ?? '', headers })
const { data: north } = await client.POST('/v1/queries/orders_in_region', { body: { region: 'north' } })
const { data: biggest } = await client.GET('/v1/queries/biggest_orders', { params: { query: { count: 2 } } })
const { data: days } = await client.GET('/v1/queries/by_day', { params: { query: { days: ['2024-01-01'], 'slot.format': 'x' } } })
// @ts-expect-error -- a slot that is required is left out
const { error } = await client.POST('/v1/queries/orders_in_region', { body: {} })
const refused: components['schemas']['Error'] | undefined = error
// @ts-expect-error -- a region that there is not
const unknown: components['schemas']['orders_in_region_slots'] = { region: 'west' }
const ids: Array<number | string | null> | undefined = biggest?.data.map(({ id }) => id)
const wide: number | string | null | undefined = days?.data[0]?.wide
console.log(JSON.stringify({
  north: north?.row_count,
  biggest: ids,
  days: days?.data.map(({ day }) => day),
  wide,
  refused: refused?.reason,
}))
`

test('in TypeScript, by openapi-typescript and openapi-fetch', async () => {
  const here = join(folder, 'typescript')
  const modules = join(installed, 'npm/node_modules')
  await mkdir(here)
  await symlink(modules, join(here, 'node_modules'))
  await run(join(modules, '.bin/openapi-typescript'), ['../openapi.json', '-o', 'schema.d.ts'], { cwd: here })
  await writeFile(join(here, 'package.json'), '{"type":"module"}')
  await writeFile(join(here, 'main.ts'), program)
  await writeFile(join(here, 'node.d.ts'), 'declare const process: { env: Record<string, string | undefined> }')
  const options = {
    strict: true,
    noEmit: true,
    module: 'nodenext',
    target: 'es2023',
    lib: ['es2023', 'dom'],
    allowImportingTsExtensions: true,
    verbatimModuleSyntax: true,
    types: [],
    skipLibCheck: true,
  }
  await writeFile(join(here, 'tsconfig.json'), JSON.stringify({ compilerOptions: options, include: ['*.ts'] }))
  await run(process.execPath, [join(modules, 'typescript/bin/tsc'), '-p', '.'], { cwd: here })
  const env = { ...process.env, KEY: q.secret, ORIGIN: origin }
  const { stdout } = await run(process.execPath, ['--no-warnings', 'main.ts'], { cwd: here, env })
  expect(JSON.parse(stdout)).toEqual(expected)
})

const script = `
import datetime, json, os
from made import AuthenticatedClient
from made.api.queries import call_orders_in_region, read_biggest_orders, read_by_day
from made.models import OrdersInRegionSlots, OrdersInRegionSlotsRegion, OrdersInRegionAnswer, Error

client = AuthenticatedClient(base_url=os.environ["ORIGIN"], token=os.environ["KEY"])
north = call_orders_in_region.sync(client=client, body=OrdersInRegionSlots(region=OrdersInRegionSlotsRegion.NORTH))
assert isinstance(north, OrdersInRegionAnswer)
biggest = read_biggest_orders.sync(client=client, count=2)
days = read_by_day.sync(client=client, days=[datetime.date(2024, 1, 1)], slot_format="x")
class Nothing(OrdersInRegionSlots):
    def to_dict(self):
        return {}
refused = call_orders_in_region.sync(client=client, body=Nothing(region=OrdersInRegionSlotsRegion.NORTH))
assert isinstance(refused, Error)
print(json.dumps({
    "north": north.row_count,
    "biggest": [row.id for row in biggest.data],
    "days": [row.day.isoformat() for row in days.data],
    "wide": days.data[0].wide,
    "refused": refused.reason,
}))
`

test('in Python, by openapi-python-client', async () => {
  const here = join(folder, 'python')
  await mkdir(here)
  const bin = join(installed, 'python/bin')
  const generated = await run(
    join(bin, 'openapi-python-client'),
    ['generate', '--path', '../openapi.json', '--meta', 'none', '--output-path', 'made', '--fail-on-warning'],
    { cwd: here, env: { ...process.env, PATH: `${bin}:${process.env['PATH']}` } },
  )
  expect(generated.stdout + generated.stderr).not.toMatch(/unable|unsupported|error/i)
  await run(join(bin, 'python'), ['-m', 'compileall', '-q', 'made'], { cwd: here })
  await writeFile(join(here, 'main.py'), script)
  const env = { ...process.env, KEY: q.secret, ORIGIN: origin }
  const { stdout } = await run(join(bin, 'python'), ['main.py'], { cwd: here, env })
  expect(JSON.parse(stdout)).toEqual(expected)
})
