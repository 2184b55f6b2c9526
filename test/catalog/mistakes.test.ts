import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { CatalogEntry } from '../../api/catalog.ts'
import type { TestApp } from '../harness/app.ts'
import { openCatalogApp, openEntry } from './stage.ts'

describe('a mistake in an entry is found', () => {
  let t: TestApp
  beforeAll(async () => void (t = await openCatalogApp()))
  afterAll(() => t.close())
  const only = (entry: CatalogEntry): CatalogEntry['tables'][string] => {
    const [[name, table] = []] = Object.entries(entry.tables)
    if (name === undefined || table === undefined) throw new Error('The entry has no table.')
    entry.tables = { [name]: table }
    return table
  }

  test.each<[string, string, (entry: CatalogEntry) => void]>([
    [
      'a parameter of pages that the document does not have',
      'asana',
      (entry) => void (only(entry).pagination = { type: 'cursor', path: 'next_page.offset', parameter: 'cursor' }),
    ],
    [
      'the cursor in another field',
      'asana',
      (entry) => void (only(entry).pagination = { type: 'cursor', path: 'next_page.path', parameter: 'offset' }),
    ],
    ['no pagination', 'asana', (entry) => void delete only(entry).pagination],
    [
      'larger pages than there are',
      'asana',
      (entry) => void Object.assign(only(entry).parameters ?? {}, { limit: 1000 }),
    ],
    ['rows in another place', 'asana', (entry) => void (only(entry).rows = 'items')],
    ['a value of another type', 'asana', (entry) => void Object.assign(only(entry).parameters ?? {}, { limit: 'all' })],
    [
      'the token in another header',
      'asana',
      (entry) => {
        only(entry)
        entry.api.authType = 'API Key'
        entry.api.auth = { key: 'X-Token', value: '{token}' }
      },
    ],
    [
      'a parameter of pages by another name',
      'linode',
      (entry) => void (only(entry).pagination = { type: 'page', first: 0, parameter: 'p' }),
    ],
    ['another path', 'linode', (entry) => void (only(entry).operation = 'GET /instances')],
  ])('%s', async (_, name, change) => {
    const stage = await openEntry(t, name, change)
    const jobs = await stage.add().catch((error: unknown) => [{ status: String(error) }])
    const [table = ''] = Object.keys(stage.entry.tables)
    const isLoaded = jobs.every(({ status }) => status === 'succeeded')
    const isWhole = isLoaded && (await stage.counts())[table] === stage.mock.rowsOf(table)
    const findings = stage.mock.problems.length
    await stage.mock.close()
    expect(isWhole && findings === 0).toBe(false)
  })
})
