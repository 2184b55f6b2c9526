import { expect, test } from 'vitest'
import { toolName } from '../../../server/mcp/tools/tool-names.ts'

const strict = /^[a-zA-Z0-9_-]{1,64}$/
const longest = `q${'x'.repeat(62)}`

test('a query of the only project is called as it is, unless a tool of ours is called so', () => {
  expect(toolName('orders_by_day', 'prj_1', true)).toBe('orders_by_day')
  expect(toolName('ask', 'prj_1', true)).toBe('query-ask')
  expect(toolName(longest, 'prj_1', true)).toBe(longest)
})

test('of several projects each query has a name of its own that every client takes', () => {
  const others = [longest, `${longest.slice(0, -1)}y`, 'ask', 'a', 'a_b']
  const names = ['prj_1', 'prj_2'].flatMap((projectId) => others.map((query) => toolName(query, projectId, false)))
  expect(new Set(names).size).toBe(names.length)
  for (const name of names) expect(name).toMatch(strict)
  expect(toolName('a', 'prj_1', false)).toBe(toolName('a', 'prj_1', false))
})
