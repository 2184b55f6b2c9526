import { afterEach, describe, expect, test } from 'vitest'
import type { EngineOptions } from '../../server/engine/index.ts'
import type { Observation } from '../../server/observe.ts'
import { eventually, limits, lookup, openFixture, slow, type Fixture } from './engine-fixture.ts'

let fixture: Fixture

afterEach(() => fixture.close())

const spares = () => fixture.engine.health().spares.filter(({ ready }) => ready)

describe('rest', () => {
  test('where nothing runs for a while one process stays, and more to do starts the others again', async () => {
    const seen: string[] = []
    const observe: EngineOptions['observe'] = ({ kind }) => void seen.push(kind)
    fixture = await openFixture({ executors: 2, spareExecutors: 1, restAfterMs: 300, observe })
    await fixture.rows(lookup)
    await eventually(() => fixture.pids().length === 1 && spares().length === 0)
    const [kept] = fixture.pids()
    // One call after another needs no second process.
    for (let turn = 0; turn < 3; turn += 1) expect(await fixture.rows(lookup)).toEqual([{ region: 'south' }])
    expect(fixture.pids()).toEqual([kept])
    const leaving = new AbortController()
    const long = [7, 11].map((factor) =>
      fixture.rows(slow.replace('% 7', `% ${factor}`), { signal: leaving.signal }).catch(() => 'left'),
    )
    await eventually(() => fixture.pids().length === 2 && spares().length === 1)
    expect(await fixture.rows(lookup)).toEqual([{ region: 'south' }])
    leaving.abort(new Error('left'))
    expect(await Promise.all(long)).toEqual(['left', 'left'])
    await eventually(() => fixture.pids().length === 1)
    // Nobody takes a process that was ended for one that died.
    expect(seen).not.toContain('executor-lost')
  })

  test('the process that stays may die, and its calls are answered', async () => {
    fixture = await openFixture({ executors: 2, spareExecutors: 1, restAfterMs: 300 })
    await eventually(() => fixture.pids().length === 1 && spares().length === 0)
    const answers = Array.from({ length: 4 }, () => fixture.rows(lookup))
    process.kill(fixture.pids()[0] ?? 0, 'SIGKILL')
    expect(await Promise.all(answers)).toEqual(Array.from({ length: 4 }, () => [{ region: 'south' }]))
  })

  test('a process that opened many databases gives its memory back by ending, when nobody calls it', async () => {
    const seen: Observation[] = []
    fixture = await openFixture({ executors: 1, spareExecutors: 1, observe: (event) => void seen.push(event) })
    const { engine, catalog } = fixture
    await eventually(() => spares().length === 1)
    const [[first], [spare]] = [fixture.pids(), spares().map(({ pid }) => pid)]
    const callAs = (scope: string) => engine.read(scope, catalog, { ...limits, sql: lookup })
    for (let at = 0; at < 64; at += 1) await callAs(`project ${at}`)
    const replacements = () => seen.filter(({ kind }) => kind === 'executor-replaced')
    // As many as may be open at once are no reason.
    await new Promise((resolve) => {
      setTimeout(resolve, 7_000)
    })
    expect(fixture.pids()).toEqual([first])
    await callAs('project 64')
    await eventually(() => replacements().length === 1)
    // The spare answers at once, and what comes next is the spare.
    await eventually(() => fixture.pids()[0] === spare && spares().length === 1)
    expect(await callAs('project 0')).toMatchObject({ rowCount: 1 })
    expect(replacements()).toEqual([{ kind: 'executor-replaced', reason: 'worn' }])
    expect(seen.map(({ kind }) => kind)).not.toContain('executor-lost')
  })
})
