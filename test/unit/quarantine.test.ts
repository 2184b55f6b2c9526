import { expect, test } from 'vitest'
import { createQuarantine } from '../../server/engine/quarantine.ts'

type Task = Parameters<ReturnType<typeof createQuarantine>['note']>[0]

const inspecting = (sql: string, scope = 'prj_a'): Task =>
  ({ scope, call: { verb: 'inspect', sql, slots: [] } }) as Partial<Task> as Task
const open = () => {
  let nowMs = 1_000
  const quarantine = createQuarantine({ forMs: 60_000, now: () => nowMs })
  return { quarantine, pass: (ms: number) => void (nowMs += ms) }
}

test('a comment, a space or a capital make no other statement', () => {
  const { quarantine, pass } = open()
  quarantine.note(inspecting("select lag(x, 9) over () from t where a = 'B'"))
  const alike = [
    "SELECT lag(x,9)\n over ( ) /* 1 */ FROM t -- and more\n where a = 'B'",
    "select LAG(X, 9) over () from T where A = 'B'",
    "select (((lag((x), ((9))) over ()))) from t where (((a) = ('B')));",
    `select "lag"("x", 9) over () from "t" where a = 'B'`,
  ]
  for (const sql of alike) expect(quarantine.refuses(inspecting(sql))).toBe(true)
  const others = [
    "select lag(x, 9) over () from t where a = 'b'",
    'select lag(x, 8) over () from t',
    'select 1',
    "select lag(x) over (9) from t where a = 'B'",
  ]
  for (const sql of others) expect(quarantine.refuses(inspecting(sql))).toBe(false)
  expect(quarantine.refuses(inspecting("select lag(x, 9) over () from t where a = 'B'", 'prj_b'))).toBe(false)
  pass(60_001)
  for (const sql of alike) expect(quarantine.refuses(inspecting(sql))).toBe(false)
})

test('three statements that differ in names and values are one way to end a process', () => {
  const { quarantine } = open()
  const bomb = (at: number) => inspecting(`select lag(c${at}, ${at}) over () as n${at} from t`)
  quarantine.note(bomb(1))
  quarantine.note(bomb(1))
  quarantine.note(bomb(2))
  expect(quarantine.refuses(bomb(3))).toBe(false)
  quarantine.note(bomb(3))
  expect(quarantine.refuses(bomb(4))).toBe(true)
  expect(quarantine.refuses(inspecting('select lead(c1, 1) over () as n1 from t'))).toBe(false)
})
