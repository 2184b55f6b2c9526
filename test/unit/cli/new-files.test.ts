import { describe, expect, test } from 'vitest'
import { readCatalog } from '../../../cli/context/catalog.ts'
import {
  connectionFiles,
  entryFiles,
  formatFile,
  newProjectFile,
  type ProjectFiles,
} from '../../../cli/project/index.ts'

const untouched = (files: ProjectFiles): string[] =>
  [...files].filter(([path, text]) => formatFile(path, text) !== text).map(([path]) => path)

describe('what `sluice fmt` leaves as it is', () => {
  test('the file that a project begins with', () => {
    for (const settings of [{}, { url: 'https://data.example', project: 'prj_1' }])
      expect(untouched(new Map([['sluice.yaml', newProjectFile(settings)]]))).toEqual([])
  })

  test('every file of every entry of the catalog, one after the other', async () => {
    const catalog = await readCatalog()
    expect(catalog.length).toBeGreaterThan(40)
    let written: ProjectFiles = new Map()
    for (const { name, entry } of catalog) {
      const values = Object.fromEntries(
        Object.entries(entry.inputs ?? {}).map(([input, { example }]) => [input, example ?? 'example']),
      )
      const { files } = entryFiles({ name, entry, prefix: name.replaceAll('-', '_'), values }, written)
      expect(untouched(files), name).toEqual([])
      const project = files.get('sluice.yaml')
      if (project !== undefined) written = new Map([['sluice.yaml', project]])
    }
  })

  test('a connection of a curl command, with long and odd texts and a secret', () => {
    const config = {
      url: 'https://shop.example/orders',
      method: 'POST',
      headers: { 'X-Api-Key': { value: 'k' }, 'X-Odd': { value: '- : # "quoted" \'too\' ' } },
      parameters: {
        since: { value: '2026-01-01' },
        page: { value: '1' },
        empty: { value: '' },
        yes: { value: 'yes' },
        long: { value: 'word '.repeat(60) },
      },
      body: { type: 'json', content: '{\n  "a": [1, 2],\n\n  "b": "c"\n}\n' },
      responsePathExtractor: 'data.items',
    }
    const pagination = { type: 'page', parameter: 'page' }
    const { files, environment } = connectionFiles({ table: 'orders', config, pagination }, new Map())
    expect(environment).toEqual(['ORDERS_X_API_KEY'])
    expect([...files.keys()].toSorted()).toEqual(['connections/orders.yaml', 'sluice.yaml'])
    expect(untouched(files)).toEqual([])
  })
})
