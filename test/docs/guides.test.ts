import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import {
  documentImportRequest,
  pagination,
  testConnectionAnswer,
  testConnectionRequest,
  httpConfiguration,
} from '../../api/connections.ts'
import {
  changeDatasource,
  changeLoad,
  changeTableSchema,
  newDatasource,
  refreshRequest,
} from '../../api/datasources.ts'
import { newVariable } from '../../api/variables.ts'
import { parseExtractor, pick } from '../../server/rows/index.ts'
import { buildRequest } from '../../server/connections/build-request.ts'
import { startOf } from '../../server/connections/last-value.ts'
import { checkPagination } from '../../server/connections/pages.ts'
import { fillVariables, type NamedValues } from '../../server/connections/variables.ts'
import { fromWire } from '../../server/http/wire-codec.ts'

const docs = join(import.meta.dirname, '../../docs')
const read = (name: string) => readFileSync(join(docs, name), 'utf8')

/** The JSON that a guide shows, by itself or as the body of a request. */
function snippets(name: string): unknown[] {
  const blocks = [...read(name).matchAll(/```(json|http)\n([\s\S]*?)```/g)]
  return blocks.flatMap(([, kind, text = '']) => {
    const body = kind === 'http' ? text.slice(text.indexOf('\n\n') + 2) : text
    return kind === 'http' && !/^(POST|PATCH)/.test(text) ? [] : [JSON.parse(body) as unknown]
  })
}

const named: NamedValues = new Map([
  ['region', { value: 'north', origins: null }],
  ['shop_key', { value: 'sk', origins: ['https://api.example'] }],
])
const has = (value: unknown, key: string): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && key in value

test('what "Connect an API" shows is taken as it is written', () => {
  const shown = snippets('connect-an-api.md')
  expect(shown).toHaveLength(15)
  for (const snippet of shown) {
    if (has(snippet, 'detected')) testConnectionAnswer.shape.detected.parse(snippet['detected'])
    else if (has(snippet, 'detect')) testConnectionRequest.parse(snippet)
    else if (has(snippet, 'operation')) documentImportRequest.parse(snippet)
    else if (has(snippet, 'value')) newVariable.parse(snippet)
    else if (has(snippet, 'for_each')) newDatasource.parse(snippet)
    else if (has(snippet, 'kind') && snippet['kind'] === 'file') newDatasource.parse(snippet)
    else if (has(snippet, 'auth')) buildRequest(httpConfiguration.parse(snippet))
    else if (has(snippet, 'kind')) checkPagination(pagination.parse(newDatasource.parse(snippet).pagination))
    else if (has(snippet, 'parameters')) {
      const parsed = httpConfiguration.parse({ url: 'https://api.example', method: 'GET', ...snippet })
      expect(JSON.stringify(fillVariables(parsed, { at: new Date(), values: named }))).not.toContain('{{')
    } else checkPagination(pagination.parse(snippet))
  }
})

test('the rows that "Connect an API" shows for an extractor are those it takes', () => {
  const rows = [...read('connect-an-api.md').matchAll(/^\| `(\{.*?\})` +\| `(.*?)` +\| `(\{.*?\})` +\|$/gm)]
  expect(rows).toHaveLength(4)
  for (const [, answer = '', extractor = '', row = ''] of rows) {
    expect(pick(JSON.parse(answer), parseExtractor(extractor))).toEqual([JSON.parse(row)])
  }
})

test('what "Keep data fresh" shows is taken as it is written', () => {
  const shown = snippets('keep-data-fresh.md')
  expect(shown).toHaveLength(4)
  for (const snippet of shown) {
    if (has(snippet, 'full')) refreshRequest.parse(snippet)
    else if (has(snippet, 'load')) {
      const { config, load } = changeDatasource.parse(snippet)
      if (config === undefined || load === undefined) throw new Error('a load without its request')
      const rule = fromWire(changeLoad, load)
      const first = JSON.stringify(fillVariables(config, { at: new Date(), lastValue: startOf(rule, null) }))
      expect(first).toContain(String(load.cursor?.initial_value))
      const next = startOf(rule, { type: 'TIMESTAMP', value: '2026-03-01 00:05:00' })
      expect(JSON.stringify(fillVariables(config, { at: new Date(), lastValue: next }))).toContain(
        '"2026-02-28T23:55:00Z"',
      )
    } else changeTableSchema.parse(snippet)
  }
})

test('the clients that "Queries as tools" sets up are told one address and how to send the key', () => {
  const shown = snippets('mcp.md') as Array<Record<string, Record<string, Record<string, unknown>>>>
  expect(shown).toHaveLength(4)
  for (const settings of shown) {
    const { sluice } = settings['mcpServers'] ?? settings['servers'] ?? {}
    expect(sluice?.['url'] ?? sluice?.['httpUrl']).toBe('http://127.0.0.1:4400/mcp')
    expect(sluice?.['headers']).toEqual({ Authorization: expect.stringMatching(/^Bearer \$/) })
  }
  const page = read('mcp.md')
  expect(page.match(/^### /gm)).toHaveLength(5)
  expect(page).toContain('url = "http://127.0.0.1:4400/mcp"')
})
