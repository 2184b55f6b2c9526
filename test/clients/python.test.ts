import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openTestApp, type TestApp } from '../harness/app.ts'
import { openCli, type Cli } from '../harness/cli.ts'
import { openQueryProject, type QueryProject } from '../harness/queries.ts'

const python = process.env['TEST_CLIENTS'] ?? ''
const runFile = promisify(execFile)

let t: TestApp
let project: QueryProject
let cli: Cli
beforeAll(async () => {
  t = await openTestApp()
  const url = await t.listen()
  project = await openQueryProject(t)
  cli = await openCli(url, { SLUICE_PROJECT: project.projectId })
  await project.deploy({
    name: 'orders_of_region',
    description: 'Orders of a region',
    sql: "select id, region, id * 1.5 as amount, date '2026-01-01' + id::integer as day from orders where region = $region order by id",
    slots: { properties: { region: { type: 'string', enum: ['north', 'south'] } }, required: ['region'] },
    examples: [{ question: 'orders in the north', parameters: { region: 'north' } }],
  })
  await project.deploy({ name: 'many', description: 'Numbers', sql: 'select range as n from range(100000)' })
})
afterAll(async () => {
  await cli.close()
  await t.close()
})

/** What a script prints, as JSON. The names are those of docs/clients.md. */
async function run(script: string): Promise<unknown> {
  const head = `
import json
from sluice_client import Client, QuestionRefused, SluiceError
client = Client(${JSON.stringify(cli.environment['SLUICE_URL'])}, key=${JSON.stringify(project.secret)}, project=${JSON.stringify(project.projectId)})
def show(value): print(json.dumps(value, default=str))
`
  const { stdout } = await runFile(python, ['-c', head + script], { cwd: cli.folder, timeout: 60_000 })
  return JSON.parse(stdout) as unknown
}

describe('the Python client', () => {
  test('calls, with what is to be known of the rows', async () => {
    expect(
      await run(
        'a = client.call("orders_of_region", {"region": "north"}); show([len(a), a.data[0], a.version, a.truncated])',
      ),
    ).toEqual([10, expect.objectContaining({ region: 'north' }), 1, false])
  })

  test('gives a data frame and an Arrow table in one line, with the types of the columns', async () => {
    expect(
      await run(
        'f = client.pandas("orders_of_region", {"region": "north"}); show([len(f), list(f.columns), str(f["day"].iloc[0])[:10]])',
      ),
    ).toEqual([10, ['id', 'region', 'amount', 'day'], expect.stringMatching(/^2026-01-/)])
    expect(
      await run(
        's = client.arrow("orders_of_region", {"region": "north"}).schema; show([str(s.field(n).type) for n in ("region", "day")])',
      ),
    ).toEqual(['string', 'date32[day]'])
    expect(await run('show(len(client.call("orders_of_region", {"region": "north"}).to_pandas()))')).toBe(10)
  })

  test('gives dates, times and decimals as such, called and streamed', async () => {
    await project.deploy({
      name: 'typed',
      sql: "select date '2026-01-02' as day, timestamp '2026-01-02 08:00:00.5' as at, 12.50::decimal(9,2) as rent, '12345678901234567.89'::decimal(30,2) as wide, 12345678901234567890::hugeint as whole, 1.5::double as share, [1.5::double] as list, null::date as nothing",
    })
    const row =
      "datetime.date(2026, 1, 2)|datetime.datetime(2026, 1, 2, 8, 0, 0, 500000, tzinfo=datetime.timezone.utc)|Decimal('12.50')|Decimal('12345678901234567.89')|12345678901234567890|1.5|[1.5]|None"
    const said = '"|".join(repr(value) for value in row.values())'
    expect(await run(`row = client.call("typed").data[0]; show(${said})`)).toBe(row)
    expect(await run(`row = next(client.rows("typed")); show(${said})`)).toBe(row)
  })

  test('streams every row', async () => {
    expect(await run('show(sum(row["n"] for row in client.rows("many")))')).toBe((100_000 * 99_999) / 2)
  })

  test('asks, and is refused with what comes near', async () => {
    expect(await run('a = client.ask("orders in the south"); show([a.query_used, a.parameters, len(a)])')).toEqual([
      'orders_of_region',
      { region: 'south' },
      10,
    ])
    expect(
      await run(`
try:
    client.ask("who won the match yesterday")
except QuestionRefused as refused:
    show([refused.status, refused.code, refused.reason])
`),
    ).toEqual([422, 'invalid_query', expect.any(String)])
  })

  test('raises what the service says', async () => {
    expect(
      await run(`
try:
    client.call("orders_of_region", {"region": "west"})
except SluiceError as error:
    show([error.status, error.code, error.reason, error.details[0]["field"], error.request_id[:4]])
`),
    ).toEqual([400, 'invalid_query', 'invalid_slots', 'region', 'req_'])
    expect(
      await run(`
try:
    Client("http://127.0.0.1:1", key="slc_test_a_b", retries=0).call("x")
except SluiceError as error:
    show([error.status, error.code])
`),
    ).toEqual([0, 'unreachable'])
  })

  test('takes the functions that `sluice types` writes', async () => {
    const { stdout } = await cli.run('types', '--language', 'python')
    await writeFile(join(cli.folder, 'queries.py'), stdout)
    expect(
      await run(
        'import sys; sys.path.insert(0, "."); import queries; show(len(queries.orders_of_region(client, region="south")))',
      ),
    ).toBe(10)
  })
})
