import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { runCompaction, runRefresh } from '../../server/connections/index.ts'
import { buildDataline, liveDataVersion } from '../../server/data/index.ts'
import { expectStatus, type TestApp } from '../harness/app.ts'
import { jobFor as jobOf, makeTable, type LoadedTable, type Row } from '../harness/incremental.ts'
import { openAppWithSource, rowsOf, type Source } from '../harness/source.ts'
import { rounds } from '../harness/rounds.ts'

let t: TestApp
let source: Source
let projectId: string
beforeAll(async () => {
  ;({ t, source } = await openAppWithSource({}, { bounds: { outboundTries: 1, versionParts: 3 } }))
  projectId = await t.project()
})
afterAll(() => t.close())

type Act =
  | { kind: 'write'; ids: number[]; note: string | null; late: number }
  | { kind: 'delete'; ids: number[] }
  | { kind: 'refresh' | 'full' | 'compact' | 'prepare' }
  | { kind: 'restore'; back: number }

const ids = fc.array(fc.integer({ min: 40, max: 69 }), { minLength: 1, maxLength: 6 })
const act: fc.Arbitrary<Act> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant('write' as const), ids, note: fc.option(fc.string()), late: fc.nat(6) }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('delete' as const), ids }) },
  { weight: 5, arbitrary: fc.constant({ kind: 'refresh' as const }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'full' as const }) },
  { weight: 2, arbitrary: fc.constant({ kind: 'compact' as const }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'prepare' as const }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('restore' as const), back: fc.nat(3) }) },
)
const settings = fc.record({
  mode: fc.constantFrom('merge' as const, 'append' as const, 'keyed append' as const),
  twoKeys: fc.boolean(),
  lookBack: fc.constantFrom(undefined, 0, 5),
  /** In which order the API answers: as rows were written, or the newest or oldest first. */
  order: fc.constantFrom(0, -1, 1),
  acts: fc.array(act, { minLength: 6, maxLength: 18 }),
})
type Settings = typeof settings extends fc.Arbitrary<infer Value> ? Value : never

/** What the table is to hold after each load: rows in the order in which they joined, and the largest `at` of all. */
type Version = { rows: Row[]; last: number | null }

const keyOf = (row: Row): string => `${String(row['shop'])} ${String(row['id'])}`

/** The rule of the guide, in the plainest way. */
function joined(before: Version | null, came: Row[], mode: Settings['mode']): Version {
  let rows = before?.rows ?? []
  const last = Math.max(before?.last ?? -1, ...came.map(({ at }) => Number(at)))
  if (mode === 'append') return { rows: [...rows, ...came], last }
  const newest = new Map<string, Row>()
  for (const row of came) {
    const other = newest.get(keyOf(row))
    const wins = mode === 'merge' ? Number(row['at']) >= Number(other?.['at'] ?? -1) : other === undefined
    if (wins) newest.set(keyOf(row), row)
  }
  if (mode === 'keyed append') {
    const there = new Set(rows.map(keyOf))
    return { rows: [...rows, ...[...newest.values()].filter((row) => !there.has(keyOf(row)))], last }
  }
  rows = rows.filter((row) => !newest.has(keyOf(row)))
  return { rows: [...rows, ...[...newest.values()].filter(({ gone }) => gone !== true)], last }
}

test('random loads leave every version as a simple model says', { timeout: 240_000 }, async () => {
  await fc.assert(fc.asyncProperty(settings, playOne), { numRuns: rounds(3, 10), interruptAfterTimeLimit: 100_000 })
})

const jobFor = (table: LoadedTable, input?: Record<string, unknown>) => jobOf(projectId, table.id, input)

async function playOne({ mode, twoKeys, lookBack, order, acts }: Settings): Promise<void> {
  const upstream: Row[] = []
  let clock = 0
  const write = (id: number, more: Row, at = ++clock) =>
    void upstream.push({ shop: id % 2 === 0 ? 'a' : 'b', id, at, gone: false, ...more })
  for (let id = 0; id < 60; id += 1) write(id, { note: `first ${id}` })
  let asked: string | null = null
  const answer = (since: string | null): Row[] =>
    upstream
      .filter(({ at }) => since === null || Number(at) >= Number(since))
      .toSorted((left, right) => (Number(left['at']) - Number(right['at'])) * order)
  source.handle((request, response) => {
    asked = new URL(request.url ?? '', 'http://x').searchParams.get('since')
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer(asked)))
  })
  const table = await makeTable(t, projectId, {
    config: { url: source.url, method: 'GET' },
    keep_versions: 100,
    load: {
      mode: mode === 'merge' ? 'merge' : 'append',
      ...(mode !== 'append' && { primary_key: twoKeys ? ['shop', 'id'] : ['id'] }),
      cursor: { field: 'at', parameter: 'since', ...(lookBack !== undefined && { look_back: lookBack }) },
      ...(mode === 'merge' && { delete_marker: { field: 'gone', value: true } }),
    },
  })
  const versions: Version[] = []
  let live: Version | null = null
  const load = async (full: boolean): Promise<void> => {
    const base: Version | null = full ? null : live
    const since = base?.last === null || base === null ? null : String(base.last - (lookBack ?? 0))
    await runRefresh(t.app, jobFor(table, full ? { full } : {}))
    expect(asked).toBe(since)
    const next = joined(base, answer(since), mode)
    const found = (await table.versions())[0]
    if (found !== undefined && found.version > versions.length) versions.push(next)
    live = versions[(await liveNumber(table)) - 1] ?? next
    // Without a new version the rows are those of the one before; the cursor may be farther.
    live.last = next.last
    expect(sorted(await table.rows())).toEqual(sorted(next.rows))
  }
  await load(false)
  for (const each of acts) {
    if (each.kind === 'write')
      for (const id of each.ids) write(id, { note: each.note }, lateAt(each.late, clock, ++clock))
    else if (each.kind === 'delete') for (const id of each.ids) write(id, { note: null, gone: true })
    else if (each.kind === 'compact') await runCompaction(t.app, jobFor(table))
    else if (each.kind === 'prepare') {
      const object = await liveDataVersion(t.app.store, table.id)
      await buildDataline(t.app, jobFor(table, { data_object_id: object?.dataObjectId }))
    } else if (each.kind === 'restore') {
      const number = Math.max(1, versions.length - each.back)
      await expectStatus(200, t.operator.post(`${table.path}/versions/${number}/restore`))
      live = versions[number - 1] ?? live
    } else await load(each.kind === 'full')
  }
  for (const { version, data_object_id: id, row_count: count } of await table.versions()) {
    const { rows = [] } = versions[version - 1] ?? {}
    expect(sorted((await rowsOf(t.operator, projectId, id)) as Row[]), `version ${version}`).toEqual(sorted(rows))
    expect(count).toBe(rows.length)
  }
}

/** Sometimes a row comes with a time that has passed already, which only a look-back finds. */
function lateAt(late: number, clock: number, next: number): number {
  return late === 0 ? Math.max(1, clock - 3) : next
}

async function liveNumber(table: LoadedTable): Promise<number> {
  return (await table.versions()).find(({ status }) => status === 'live')?.version ?? 0
}

const sorted = (rows: Row[]): string[] =>
  rows.map((row) => JSON.stringify(row, ['shop', 'id', 'at', 'gone', 'note'])).toSorted()
