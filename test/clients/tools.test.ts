import { execFile } from 'node:child_process'
import { createServer, request, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { blocksOf } from '../docs/blocks.ts'
import { openTestApp, type TestApp } from '../harness/app.ts'
import { openQueryProject, type QueryProject } from '../harness/queries.ts'

const python = process.env['TEST_CLIENTS'] ?? ''
const runFile = promisify(execFile)

let t: TestApp
let q: QueryProject
let url: string
let link: string
/** Between a tool and the service: it counts what the tool fetches. */
let proxy: Server
let passed: Array<{ method: string; range: string | undefined; bytes: number }>
beforeAll(async () => {
  t = await openTestApp()
  const service = new URL(await t.listen())
  proxy = createServer((incoming, outgoing) => {
    const { method = '', headers } = incoming
    const sent = request(
      { host: service.hostname, port: service.port, path: incoming.url, method, headers },
      (answer) => {
        const seen = { method, range: headers.range, bytes: 0 }
        passed.push(seen)
        outgoing.writeHead(answer.statusCode ?? 500, answer.headers)
        answer.on('data', (bytes: Buffer) => (seen.bytes += bytes.length))
        answer.pipe(outgoing)
      },
    )
    incoming.pipe(sent)
  })
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`
  q = await openQueryProject(t)
  await q.deploy({
    name: 'shops_in_region',
    sql: "SELECT 'Hamburg' AS city, DATE '2026-01-02' AS opened, 12.50::DECIMAL(9,2) AS rent, TIMESTAMP '2026-01-02 08:00:00' AS at WHERE $region = 'north'",
  })
  await q.deploy({
    name: 'wide',
    sql: `SELECT i AS n, ${Array.from({ length: 20 }, (_, at) => `sha256((i * 31 + ${at})::VARCHAR) AS c${at}`).join(', ')} FROM range(20000) r(i)`,
  })
  await t.operator.patch(`/v1/projects/${q.projectId}`, { query_links: true })
  const made = await t.operator.post(`/v1/projects/${q.projectId}/query-links`, {
    query: 'shops_in_region',
    parameters: { region: 'north' },
    expires_at: new Date(Date.now() + 3_600_000).toISOString(),
  })
  link = `${url}${new URL(made.body.url).pathname}`
}, 120_000)
afterAll(async () => {
  proxy.closeAllConnections()
  proxy.close()
  await t.close()
})

async function run(script: string): Promise<string> {
  passed = []
  const env = { ...process.env, SLUICE_URL: url, SLUICE_API_KEY: q.secret, LINK: link }
  const { stdout } = await runFile(python, ['-c', script.replace('INSTALL httpfs; LOAD httpfs', '')], {
    env,
    timeout: 120_000,
  })
  return stdout
}

/** The extension comes from a package here: nothing is installed from the internet in a test. */
const httpfs = `
import duckdb, duckdb_extension_httpfs, glob, os
_connect = duckdb.connect
def connect(*given, **named):
    db = _connect(*given, **{**named, "config": {"allow_unsigned_extensions": "true"}})
    folder = os.path.dirname(duckdb_extension_httpfs.__file__)
    db.sql("LOAD '" + glob.glob(folder + "/**/*.duckdb_extension", recursive=True)[0] + "'")
    return db
duckdb.connect = connect
`

describe('the snippets of the guide', () => {
  const blocks = blocksOf('docs/spreadsheets.md').filter(({ note }) => note.startsWith('tool='))
  const printed: Record<string, string[]> = {
    pandas: ['opened', 'rent', 'Hamburg'],
    polars: ['Date', 'Decimal(precision=9, scale=2)', 'Hamburg'],
    duckdb: ['Hamburg', '12.5'],
  }
  test.each(blocks.map(({ note, text }) => [note.slice('tool='.length), text] as const))('%s', async (tool, text) => {
    const out = await run(tool === 'duckdb' ? httpfs + text : text)
    for (const part of printed[tool] ?? ['a tool of the test']) expect(out).toContain(part)
  })
  test('are of three tools', () => expect(blocks).toHaveLength(3))
})

test('DuckDB fetches the columns that it needs, and no more', async () => {
  const sql = (columns: string) => `${httpfs}
db = duckdb.connect()
db.sql("CREATE SECRET (TYPE http, BEARER_TOKEN '${q.secret}')")
print(db.sql("SELECT ${columns} FROM read_parquet('${url}/v1/queries/wide?format=parquet')").fetchall())
`
  expect(await run(sql('sum(n)'))).toContain(String((20_000 * 19_999) / 2))
  const some = passed.reduce((sum, { bytes }) => sum + bytes, 0)
  const size = Number(
    (
      await fetch(`${url}/v1/queries/wide?format=parquet`, {
        method: 'HEAD',
        headers: { authorization: `Bearer ${q.secret}` },
      })
    ).headers.get('content-length'),
  )
  expect(passed.some(({ method }) => method === 'HEAD')).toBe(true)
  expect(passed.filter(({ method }) => method === 'GET').every(({ range }) => range !== undefined)).toBe(true)
  expect(some).toBeLessThan(size / 4)
})

test('a workbook is what openpyxl reads', async () => {
  const out = await run(`
import openpyxl, os, urllib.request
with open("/tmp/sluice-tools.xlsx", "wb") as file: file.write(urllib.request.urlopen(os.environ["LINK"] + ".xlsx").read())
sheet = openpyxl.load_workbook("/tmp/sluice-tools.xlsx").active
print([[repr(cell.value) for cell in row] for row in sheet.rows])
os.remove("/tmp/sluice-tools.xlsx")
`)
  expect(out).toContain('datetime.datetime(2026, 1, 2, 0, 0)')
  expect(out).toContain('datetime.datetime(2026, 1, 2, 8, 0)')
  expect(out).toContain("'12.5'")
})
