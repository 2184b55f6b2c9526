import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { openLookups, type Lookups, type LookupStatement } from '../../server/lookups/index.ts'
import { type Catalog, type Engine } from '../../server/engine/index.ts'
import type { Observation } from '../../server/observe.ts'
import { keepLookups } from '../../server/queries/calls/lookups.ts'
import { openTestApp, type TestApp } from '../harness/app.ts'
import { openQueryProject, type QueryProject } from '../harness/queries.ts'
import { openSharedEngine } from '../harness/shared-parts.ts'
import { putTable } from '../harness/tables.ts'
import { eventually } from './engine-fixture.ts'

let t: TestApp
let q: QueryProject
let catalog: Catalog
let engine: Engine

beforeAll(async () => {
  t = await openTestApp({}, { openEngine: async (options) => (engine = await openSharedEngine(options)) })
  q = await openQueryProject(t)
  const rows = Array.from({ length: 500 }, (_, id) => ({ id, name: `thing ${id % 7}` }))
  await putTable(t.app, q.projectId, { name: 'things', rows })
  await putTable(t.app, q.projectId, { name: 'few', rows: rows.slice(0, 3) })
  catalog = await t.app.catalogs.get(q.projectId)
  // Long before the test that needs it: what is heard of a release would be a reason to write.
  const slots = { type: 'object', properties: { id: { type: 'integer' } }, required: ['id'] }
  for (const [at, { sql }] of [first, second].entries()) await q.deploy({ name: `thing_${at}`, sql, slots })
})
afterAll(() => t.close())

/** All of one size. */
const [first, second, third] = [statement(1), statement(2), statement(3)]
/** A file that fits beside two of the others. */
const small = statement(4, 'few')

function statement(at: number, table = 'things'): LookupStatement {
  const sql = `SELECT name, ${at} AS n FROM ${table} WHERE id = $id`
  return { sql, table, slots: [{ name: 'id', type: 'integer' }], required: new Set(['id']) }
}

type Shelf = { dir: string; lookups: Lookups; told: Observation[]; advance: (ms: number) => void }

async function open(maxBytes: number, dir?: string): Promise<Shelf> {
  const place = dir ?? (await mkdtemp(join(tmpdir(), 'sluice-lookups-')))
  const told: Observation[] = []
  let movedMs = 0
  const { files } = t.app
  const observe = (event: Observation): void => void told.push(event)
  const lookups = openLookups({ dir: place, maxBytes, engine, files, observe, now: () => Date.now() + movedMs })
  onTestFinished(async () => {
    await lookups.close()
    await rm(place, { recursive: true, force: true })
  })
  return { dir: place, lookups, told, advance: (ms) => void (movedMs += ms) }
}

const seventh = [{ name: 'id', type: 'integer' as const, value: 7 }]
const isFound = ({ lookups }: Shelf, lookup: LookupStatement): boolean =>
  lookups.find({ projectId: q.projectId, catalog, statement: lookup }, seventh) !== undefined
const writtenFor = ({ told }: Shelf, projectId: string): number =>
  told.filter((event) => event.kind === 'lookup-written' && event.projectId === projectId).length
const writings = (shelf: Shelf): number => writtenFor(shelf, q.projectId)
const filesIn = async ({ dir }: Shelf): Promise<string[]> =>
  (await readdir(dir)).filter((name) => name.endsWith('.lookup') && name.startsWith(q.projectId))

/** Files are written one after the other: once this last one is there, all that was asked for before it is settled. */
async function settled(shelf: Shelf): Promise<void> {
  shelf.lookups.renew('last', catalog, [small], 'write')
  await eventually(() => writtenFor(shelf, 'last') === 1)
}

/** A shelf for two files, and both on it. */
async function openFull(): Promise<Shelf> {
  const measured = await open(10_000_000)
  measured.lookups.renew(q.projectId, catalog, [first], 'write')
  await eventually(() => writings(measured) === 1)
  const sizeBytes = Math.max(...measured.told.map((event) => (event.kind === 'lookup-written' ? event.sizeBytes : 0)))
  const full = await open(Math.ceil(sizeBytes * 2.5))
  full.lookups.renew(q.projectId, catalog, [first, second, third], 'write')
  await eventually(() => writings(full) === 2)
  return full
}

test('where the shelf is full, a call makes room for itself at the cost of what nobody called', async () => {
  const full = await openFull()
  expect(isFound(full, first)).toBe(true)
  expect(isFound(full, third)).toBe(false)
  await eventually(() => isFound(full, third))
  expect([isFound(full, first), await filesIn(full)]).toEqual([true, expect.objectContaining({ length: 2 })])
})

test('what was called lately stays, and makes room when it was not called for long', async () => {
  const full = await openFull()
  expect([isFound(full, first), isFound(full, second), isFound(full, third)]).toEqual([true, true, false])
  await settled(full)
  expect(isFound(full, third)).toBe(false)
  full.advance(11 * 60_000)
  expect([isFound(full, second), isFound(full, third)]).toEqual([true, false])
  await eventually(() => isFound(full, third))
  expect([isFound(full, first), isFound(full, second)]).toEqual([false, true])
})

test('a start opens the files that are there and writes no others before somebody calls', async () => {
  const { store, catalogs, deployments } = t.app
  let looks = 0
  const keep = async (shelf: Shelf): Promise<void> => {
    const { lookups } = shelf
    const renew: Lookups['renew'] = (...given) => {
      lookups.renew(...given)
      looks += 1
    }
    const kept = await keepLookups({
      store,
      lookups: { projects: () => lookups.projects(), renew },
      catalogs,
      deployments,
      observe: (event) => shelf.told.push(event),
    })
    onTestFinished(() => kept.close())
  }
  const before = await open(10_000_000)
  before.lookups.renew(q.projectId, catalog, [first], 'write')
  await eventually(() => writings(before) === 1)
  await before.lookups.close()

  const after = await open(10_000_000, before.dir)
  await keep(after)
  await eventually(() => looks > 0 && isFound(after, first))
  await settled(after)
  expect([writings(after), await filesIn(after)]).toEqual([0, expect.objectContaining({ length: 1 })])
  expect(isFound(after, second)).toBe(false)
  await eventually(() => isFound(after, second))
  expect(writings(after)).toBe(1)
})

test('of those that wait to be written, the one that was called most comes first', async () => {
  const shelf = await open(10_000_000)
  for (const [lookup, calls] of [
    [first, 1],
    [second, 1],
    [third, 5],
  ] as const) {
    for (let at = 0; at < calls; at += 1) expect(isFound(shelf, lookup)).toBe(false)
  }
  const order: LookupStatement[] = []
  await eventually(() => {
    for (const each of [third, second, first]) if (!order.includes(each) && isFound(shelf, each)) order.push(each)
    return order.length === 3
  })
  expect(order.indexOf(third)).toBeLessThan(order.indexOf(second))
})
