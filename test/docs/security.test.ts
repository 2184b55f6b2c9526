import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const root = join(import.meta.dirname, '../..')
const page = readFileSync(join(root, 'docs/security.md'), 'utf8')

/** The rows of every table whose last column is called proof. */
function provenRows(text: string): string[][] {
  const tables = text.split('\n\n').filter((block) => /^\|.*\| proof +\|/.test(block))
  return tables.flatMap((table) =>
    table
      .trim()
      .split('\n')
      .slice(2)
      .map((line) => line.split('|').slice(1, -1)),
  )
}

test('every threat names a control and tests that exist', () => {
  const rows = provenRows(page)
  expect(rows.length).toBeGreaterThan(35)
  for (const [threat = '', control = '', proof = ''] of rows) {
    expect(control.trim(), threat).not.toBe('')
    const tests = [...proof.matchAll(/`([^`]+)`/g)].map(([, path]) => path ?? '')
    expect(tests.length, threat).toBeGreaterThan(0)
    for (const path of tests) expect(path.endsWith('.test.ts') && existsSync(join(root, path)), path).toBe(true)
  }
})

test('every one of the ten risks has its row', () => {
  const named = provenRows(page).map(([threat = '']) => /API\d+/.exec(threat)?.[0])
  expect(named.filter((name) => name !== undefined)).toEqual(Array.from({ length: 10 }, (_, at) => `API${at + 1}`))
})
