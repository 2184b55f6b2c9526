import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTestApp, type TestApp } from '../harness/app.ts'

let t: TestApp
beforeAll(async () => {
  t = await openTestApp({}, { isShared: true })
})
afterAll(() => t.close())

const inDatabase = (name: string): string => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

/** `users.email?` for every column of `server/store/tables`; `?` where null is allowed. */
function declared(): string[] {
  const dir = join(import.meta.dirname, '../../server/store/tables')
  const text = readdirSync(dir)
    .map((file) => readFileSync(join(dir, file), 'utf8'))
    .join('\n')
  const columnsOf = (type: string): RegExpExecArray[] => {
    const form = new RegExp(`^(?:export )?type ${type} = (?:(\\w+) & )?\\{\n([^}]*(?:\\{[^}]*\\}[^}]*)*)^\\}`, 'm')
    const [, shared, body = ''] = form.exec(text) ?? []
    return [...(shared === undefined ? [] : columnsOf(shared)), ...body.matchAll(/^ {2}(\w+): (.+)$/gm)]
  }
  return [...text.matchAll(/^ {2}(\w+): (\w+Table)$/gm)].flatMap(([, table = '', type = '']) =>
    columnsOf(type).map(
      ([, column, columnType = '']) =>
        `${inDatabase(`${table}.${column}`)}${/\| null|^OptionalJson/.test(columnType) ? '?' : ''}`,
    ),
  )
}

test('the tables that the code believes in are those of the migrated database', async () => {
  const { rows } = await sql<{ name: string }>`
    select table_name || '.' || column_name || case is_nullable when 'YES' then '?' else '' end as name
    from information_schema.columns join information_schema.tables using (table_schema, table_name)
    where table_schema = 'public' and table_type = 'BASE TABLE' and table_name <> 'sluice_migrations'`.execute(
    t.app.store.db,
  )
  expect(declared().toSorted()).toEqual(rows.map((row) => row.name).toSorted())
  expect(rows.length).toBeGreaterThan(60)
})
