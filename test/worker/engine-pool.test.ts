import { spawn } from 'node:child_process'
import { mkdir, readdir, readlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { openEngine } from '../../server/engine/index.ts'
import { engineOptions } from '../harness/engine-options.ts'
import { killAll } from '../harness/process.ts'
import { eventually, limits, lookup, openFixture, runSql, slow, type Fixture } from './engine-fixture.ts'

let fixture: Fixture

afterEach(() => fixture.close())

const busy = (): number => fixture.engine.health().executors.reduce((sum, { calls }) => sum + calls, 0)

const spares = () => fixture.engine.health().spares.filter(({ ready }) => ready)
const sparesBusy = (): number => fixture.engine.health().spares.reduce((sum, { calls }) => sum + calls, 0)

/** As if what runs in it had made it fall. */
function crashBusy(): void {
  const running = fixture.engine.health().executors.find(({ calls }) => calls > 0)
  process.kill(running?.pid ?? 0, 'SIGSEGV')
}

describe('deadlines', () => {
  test('one that cannot be interrupted costs its executor, and its neighbours nothing', async () => {
    fixture = await openFixture()
    const [pid = 0] = fixture.pids()
    // A stopped process hears no interrupt: the same as native code that never checks for one.
    const stuck = fixture.rows(slow, { timeoutMs: 4_000 }).catch((error: unknown) => error)
    await eventually(() => busy() === 1)
    const leaving = new AbortController()
    const neighbour = fixture
      .rows(slow.replace('7', '11'), { timeoutMs: 300_000, signal: leaving.signal })
      .catch((error: unknown) => error)
    await eventually(() => busy() === 2)
    process.kill(pid, 'SIGSTOP')
    expect(await stuck).toMatchObject({ code: 'query_timeout' })
    await eventually(() => fixture.pids().length === 1 && fixture.pids()[0] !== pid)
    expect(await fixture.rows(lookup)).toEqual([{ region: 'south' }])
    // The neighbour's query goes on in the new one, as long as it may, however long that one took to start.
    await eventually(() => busy() === 1)
    leaving.abort(new Error('left'))
    expect(await neighbour).toMatchObject({ message: 'left' })
  })

  test('a caller who leaves stops the query', async () => {
    fixture = await openFixture()
    const leaving = new AbortController()
    const gone = fixture.rows(slow, { signal: leaving.signal })
    await eventually(() => busy() === 1)
    leaving.abort(new Error('left'))
    await expect(gone).rejects.toThrow('left')
    await eventually(() => busy() === 0)
  })

  test('a caller who has left already starts nothing', async () => {
    fixture = await openFixture()
    await expect(fixture.rows(lookup, { signal: AbortSignal.abort(new Error('left')) })).rejects.toThrow('left')
    expect(busy()).toBe(0)
  })
})

describe('crashes', () => {
  test('calls in a process that dies are answered by another', async () => {
    fixture = await openFixture({ executors: 2 })
    await fixture.rows(lookup)
    const calls = Array.from({ length: 8 }, () =>
      fixture.rows('SELECT sum(a.i * b.i) AS s FROM range(4000) a(i), range(3000) b(i)'),
    )
    await eventually(() => fixture.engine.health().executors.every(({ calls: running }) => running > 0))
    process.kill(fixture.pids()[0] ?? 0, 'SIGKILL')
    const answers = await Promise.all(calls)
    expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1)
    await eventually(() => fixture.pids().length === 2)
    expect(fixture.observed).toContainEqual(expect.objectContaining({ kind: 'executor-lost', signal: 'SIGKILL' }))
  })

  test('a call that takes its process down twice is refused from then on, and nobody else notices', async () => {
    fixture = await openFixture({ executors: 2 })
    const culprit = fixture.rows(slow).catch((error: unknown) => error)
    for (let attempt = 0; attempt < 2; attempt += 1) {
      await eventually(() => busy() === 1)
      const running = fixture.engine.health().executors.find(({ calls }) => calls > 0)
      process.kill(running?.pid ?? 0, 'SIGKILL')
      await eventually(() => !fixture.engine.health().executors.some(({ pid }) => pid === running?.pid))
      expect(await fixture.engine.read('other', fixture.catalog, { ...limits, sql: lookup })).toBeDefined()
    }
    expect(await culprit).toMatchObject({ code: 'invalid_query', reason: 'ended_executor' })
  })

  test('a statement that crashes its process is not tried again, and refused for its project alone', async () => {
    fixture = await openFixture({ executors: 2, spareExecutors: 1 })
    const { engine, catalog, observed } = fixture
    await eventually(() => spares().length === 1)
    const culprit = fixture.rows(slow).catch((error: unknown) => error)
    await eventually(() => busy() === 1)
    crashBusy()
    expect(await culprit).toMatchObject({ code: 'invalid_query', reason: 'ended_executor' })
    // The spare has its place: nobody waits for a process to start.
    expect(fixture.pids()).toHaveLength(2)
    await expect(fixture.rows(slow)).rejects.toMatchObject({ code: 'invalid_query', reason: 'ended_executor' })
    const inspected = engine.inspect('project', catalog, { sql: slow, slots: [] })
    await expect(inspected).resolves.toMatchObject({ tables: [] })
    expect(observed.filter(({ kind }) => kind === 'executor-lost')).toHaveLength(1)
    const leaving = new AbortController()
    const elsewhere = engine
      .read('other', catalog, { ...limits, sql: slow, signal: leaving.signal })
      .catch((error: unknown) => error)
    await eventually(() => busy() === 1)
    leaving.abort(new Error('left'))
    expect(await elsewhere).toMatchObject({ message: 'left' })
    await eventually(() => spares().length === 1)
  })

  test('calls that were together in a crash are tried again one by one in the spare', async () => {
    fixture = await openFixture({ executors: 1, spareExecutors: 1 })
    await eventually(() => spares().length === 1)
    const long = 'SELECT sum(a.i * b.i) AS s FROM range(4000) a(i), range(3000) b(i)'
    const culprit = fixture.rows(slow).catch((error: unknown) => error)
    await eventually(() => busy() === 1)
    const neighbour = fixture.engine.read('other', fixture.catalog, { ...limits, sql: long })
    await eventually(() => busy() === 2)
    crashBusy()
    await eventually(() => sparesBusy() === 1)
    expect(busy()).toBe(0)
    const [spare] = fixture.engine.health().spares
    process.kill(spare?.pid ?? 0, 'SIGSEGV')
    expect(await culprit).toMatchObject({ reason: 'ended_executor' })
    expect((await neighbour).bytes.toString()).toContain('"s"')
    expect(fixture.pids()).toHaveLength(1)
  })

  test('where there is one executor alone, what was in a crash is not tried again', async () => {
    fixture = await openFixture({ executors: 1 })
    const calls = [slow, slow.replace('7', '11')].map((sql) => fixture.rows(sql).catch((error: unknown) => error))
    await eventually(() => busy() === 2)
    crashBusy()
    for (const outcome of await Promise.all(calls)) expect(outcome).toMatchObject({ code: 'internal_error' })
    await eventually(() => fixture.pids().length === 1)
  })

  test('after a crash, what its project has not asked before runs in the spare', async () => {
    fixture = await openFixture({ executors: 1, spareExecutors: 1 })
    const { engine, catalog } = fixture
    await eventually(() => spares().length === 1)
    const culprit = fixture.rows(slow).catch((error: unknown) => error)
    await eventually(() => busy() === 1)
    crashBusy()
    await culprit
    await eventually(() => spares().length === 1)
    const leaving = new AbortController()
    const next = fixture.rows(slow.replace('7', '11'), { signal: leaving.signal }).catch((error: unknown) => error)
    await eventually(() => sparesBusy() === 1)
    expect(busy()).toBe(0)
    expect(await engine.read('other', catalog, { ...limits, sql: lookup })).toMatchObject({ rowCount: 1 })
    leaving.abort(new Error('left'))
    await next
    // Once answered, it has its place among the others again.
    expect(await fixture.rows(lookup)).toEqual([{ region: 'south' }])
    expect(await fixture.rows(lookup)).toEqual([{ region: 'south' }])
  })

  test('a query that allocates without bound fails alone', async () => {
    fixture = await openFixture({ memoryBytes: 256 * 1024 * 1024 })
    const greedy = "SELECT len(list(x)) AS n FROM (SELECT repeat('x', 1000) || i FROM range(50000000) r(i)) t(x)"
    await expect(fixture.rows(greedy, { timeoutMs: 20_000 })).rejects.toMatchObject({
      code: 'result_too_large',
      reason: 'memory_limit',
    })
    expect(await fixture.rows(lookup)).toEqual([{ region: 'south' }])
  })

  test('an executor that the operating system refused memory is replaced when it is empty', async () => {
    fixture = await openFixture()
    const { engine, dir, observed } = fixture
    const parquetPath = join(dir, 'wide.parquet')
    const columns = Array.from({ length: 4_500 }, (_, index) => `'v' || (i + ${index}) AS c${index}`)
    await runSql(`COPY (SELECT ${columns.join(', ')} FROM range(2) t(i)) TO '${parquetPath}' (FORMAT parquet)`)
    const wide = { version: 'wide', tables: [{ name: 'wide', parquetPath, columns: [] }] }
    const everything = { ...limits, timeoutMs: 60_000, maxBytes: 10_000_000, sql: 'SELECT * FROM wide' }
    // Each project stays within its limit; together they are more than the process may have.
    const projects = ['a', 'b', 'c', 'd'].map((scope) => engine.read(scope, wide, everything))
    const [pid = 0] = fixture.pids()
    const outcomes = await Promise.allSettled(projects)
    // Stopped, it does not hear that it is to end; unless it has heard it already.
    killAll([pid], 'SIGSTOP')
    expect(outcomes.some(({ status }) => status === 'rejected')).toBe(true)
    expect(await fixture.rows(lookup)).toEqual([{ region: 'south' }])
    expect(observed.map(({ kind }) => kind)).toContain('executor-replaced')
  }, 120_000)

  test('executors end with their parent', async () => {
    fixture = await openFixture()
    const script = `import { openEngine } from ${JSON.stringify(join(import.meta.dirname, '../../server/engine/index.ts'))}
      import { engineOptions } from ${JSON.stringify(join(import.meta.dirname, '../harness/engine-options.ts'))}
      const engine = await openEngine({ ...engineOptions, runDir: ${JSON.stringify(join(fixture.dir, 'other'))} })
      await engine.started
      console.log(engine.health().executors[0].pid)`
    const parent = spawn(process.execPath, ['--no-warnings', '--input-type=module-typescript', '-e', script])
    let output = ''
    parent.stdout.on('data', (bytes: Buffer) => {
      output += bytes.toString()
    })
    await eventually(() => output.includes('\n'))
    const pid = Number(output)
    expect(isAlive(pid)).toBe(true)
    parent.kill('SIGKILL')
    await eventually(() => !isAlive(pid))
  })
})

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

describe('load', () => {
  test('beyond the queue is refused at once, with a time to wait', async () => {
    fixture = await openFixture({ queueLength: 3, concurrencyPerExecutor: 2 })
    const leaving = new AbortController()
    const calls = Array.from({ length: 8 }, () => fixture.rows(slow, { signal: leaving.signal }))
    const outcomes = Promise.allSettled(calls)
    await expect(fixture.rows(lookup)).rejects.toMatchObject({ code: 'overloaded', retryAfterSeconds: 1 })
    leaving.abort()
    await outcomes
    expect(await fixture.rows(lookup)).toEqual([{ region: 'south' }])
  })

  test('waiting scopes take turns', async () => {
    fixture = await openFixture({ concurrencyPerExecutor: 1 })
    const { engine, catalog } = fixture
    const finished: string[] = []
    const call = async (scope: string): Promise<void> => {
      await engine.read(scope, catalog, { ...limits, sql: lookup })
      finished.push(scope)
    }
    await Promise.all([...Array.from({ length: 20 }, () => call('many')), call('one')])
    expect(finished.indexOf('one')).toBeLessThan(4)
  })

  test('background work does not take the slots of reads', async () => {
    fixture = await openFixture({ concurrencyPerExecutor: 1 })
    const { engine, dir } = fixture
    const parquetPath = join(dir, 'large.parquet')
    await runSql(
      `COPY (SELECT i AS id, 'name ' || i AS name FROM range(300000) t(i)) TO '${parquetPath}' (FORMAT parquet)`,
    )
    const work = Promise.all(Array.from({ length: 3 }, () => engine.profile({ parquetPath })))
    for (let round = 0; round < 5; round += 1) expect(await fixture.rows(lookup)).toEqual([{ region: 'south' }])
    expect((await work)[0]?.rowCount).toBe(300_000)
  })
})

describe('the executor for files', () => {
  test('makes rows that someone waits for beside any amount of preparation', async () => {
    fixture = await openFixture()
    const { engine, dir } = fixture
    const parquetPath = join(dir, 'long.parquet')
    const columns = Array.from({ length: 40 }, (_, index) => `'name ' || (i * ${index + 1}) AS c${index}`)
    await runSql(`COPY (SELECT ${columns.join(', ')} FROM range(100000) t(i)) TO '${parquetPath}' (FORMAT parquet)`)
    const enough = new AbortController()
    const profile = () => engine.profile({ parquetPath }, { signal: enough.signal })
    const work = Promise.allSettled(Array.from({ length: 4 }, profile))
    const path = join(dir, 'rows.ndjson')
    await writeFile(path, '{"a":1}\n')
    await engine.convert('project', convertCall(path, join(dir, 'rows.parquet')))
    enough.abort()
    expect((await work).map(({ status }) => status)).toEqual(Array.from({ length: 4 }, () => 'rejected'))
  })

  test('is replaced after it ran out of memory, and says which answer is too wide', async () => {
    fixture = await openFixture({ memoryBytes: 134_217_728 })
    const { engine, dir, observed } = fixture
    const wide = join(dir, 'wide.ndjson')
    const keys = Array.from({ length: 4_000 }, (_, index) => [`key ${index}`, index])
    await writeFile(wide, `${JSON.stringify(Object.fromEntries(keys))}\n`)
    await expect(engine.convert('project', convertCall(wide, join(dir, 'wide.parquet')))).rejects.toMatchObject({
      code: 'upstream_error',
      reason: 'not_tabular',
      message: expect.stringMatching(/^The rows have 4000 different keys.*responsePathExtractor/) as string,
    })
    const native = { parquetPath: join(dir, 'many.parquet'), nativePath: join(dir, 'many.duckdb') }
    const columns = Array.from({ length: 3_000 }, (_, index) => `'v' || (i + ${index}) AS c${index}`)
    await runSql(
      `COPY (SELECT ${columns.join(', ')} FROM range(3000) t(i)) TO '${native.parquetPath}' (FORMAT parquet)`,
    )
    await expect(engine.buildNative(native)).rejects.toMatchObject({ reason: 'memory_limit' })
    const path = join(dir, 'rows.ndjson')
    await writeFile(path, '{"a":1}\n')
    const { rowCount } = await engine.convert('project', convertCall(path, join(dir, 'rows.parquet')))
    expect(rowCount).toBe(1)
    expect(observed.map(({ kind }) => kind)).toContain('executor-replaced')
    expect(observed.map(({ kind }) => kind)).not.toContain('executor-lost')
  }, 60_000)
})

function convertCall(path: string, parquetPath: string) {
  return { source: { kind: 'ndjson' as const, path }, parquetPath, contract: null }
}

async function openFiles(pid: number): Promise<string[]> {
  const folder = `/proc/${pid}/fd`
  const targets = (await readdir(folder)).map((name) => readlink(join(folder, name)).catch(() => ''))
  return Promise.all(targets)
}

describe('catalogs', () => {
  test('a new version of a table is read at once, and calls in flight finish on the old one', async () => {
    fixture = await openFixture()
    const { engine, dir, catalog } = fixture
    const parquetPath = join(dir, 'new.parquet')
    await runSql(`COPY (SELECT 1::BIGINT AS id, 'new' AS region) TO '${parquetPath}' (FORMAT parquet)`)
    const newer = { version: 'v2', tables: [{ name: 'orders', parquetPath, columns: [] }] }
    const sql = 'SELECT max(region) AS r, count(*) AS n FROM orders'
    const reads = Array.from({ length: 40 }, async (_, index) => {
      const answer = await engine.read('project', index % 2 === 0 ? catalog : newer, { ...limits, sql })
      return answer.bytes.toString()
    })
    for (const [index, text] of (await Promise.all(reads)).entries()) {
      expect(text).toBe(index % 2 === 0 ? '[{"r":"south","n":10000}]' : '[{"r":"new","n":1}]')
    }
  })

  test('scopes do not see each other', async () => {
    fixture = await openFixture()
    const { engine } = fixture
    const empty = { version: 'v1', tables: [] }
    await expect(engine.read('stranger', empty, { ...limits, sql: lookup })).rejects.toMatchObject({
      reason: 'invalid_sql',
    })
  })

  test('an idle instance is closed and opened again without a caller noticing', async () => {
    fixture = await openFixture({ idleCloseMs: 50 })
    const [table] = fixture.catalog.tables
    const parquetPath = table?.parquetPath ?? ''
    const native = join(fixture.dir, 'orders.duckdb')
    await fixture.engine.buildNative({ parquetPath, nativePath: native })
    const catalog = { version: 'native', tables: [{ name: 'orders', parquetPath, nativePath: native, columns: [] }] }
    const read = async (): Promise<unknown> => {
      const answer = await fixture.engine.read('project', catalog, {
        ...limits,
        sql: 'SELECT count(*) AS n FROM orders',
      })
      return JSON.parse(answer.bytes.toString())
    }
    expect(await read()).toEqual([{ n: 10_000 }])
    // The file is held open by the instance alone: it is closed when no descriptor of the executor points at it.
    const [pid = 0] = fixture.pids()
    expect(await openFiles(pid)).toContain(native)
    await eventually(async () => !(await openFiles(pid)).includes(native))
    expect(await read()).toEqual([{ n: 10_000 }])
  })

  test('a native copy that is gone or broken leaves the file to answer', async () => {
    fixture = await openFixture()
    const [table] = fixture.catalog.tables
    const broken = join(fixture.dir, 'broken.duckdb')
    await writeFile(broken, 'no database')
    for (const nativePath of [broken, join(fixture.dir, 'gone.duckdb')]) {
      const catalog = {
        version: nativePath,
        tables: [{ name: 'orders', parquetPath: table?.parquetPath ?? '', nativePath, columns: [] }],
      }
      const answer = await fixture.engine.read('project', catalog, { ...limits, sql: lookup })
      expect(answer.bytes.toString()).toBe('[{"region":"south"}]')
    }
  })

  test('a missing file is our failure and names no path', async () => {
    fixture = await openFixture()
    const gone = {
      version: 'gone',
      tables: [{ name: 'orders', parquetPath: join(fixture.dir, 'gone.parquet'), columns: [] }],
    }
    const failure = await fixture.engine
      .read('project', gone, { ...limits, sql: lookup })
      .catch((error: Error) => error)
    expect(failure).toMatchObject({ code: 'internal_error' })
    expect((failure as Error).message).not.toContain(fixture.dir)
  })
})

describe('opening and closing', () => {
  test('removes what an earlier run left, and leaves nothing', async () => {
    fixture = await openFixture()
    const runDir = join(fixture.dir, 'second')
    await mkdir(join(runDir, 'read-0'), { recursive: true })
    await writeFile(join(runDir, 'read-0', 'spill.tmp'), 'old')
    const engine = await openEngine({ ...engineOptions, runDir })
    await engine.started
    expect(await readdir(join(runDir, 'read-0'))).toEqual([])
    await engine.close(1_000)
    expect(await readdir(runDir)).toEqual([])
  })
})
