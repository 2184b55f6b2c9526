import fc from 'fast-check'
import { parse, stringify } from 'yaml'
import { describe, expect, test } from 'vitest'
import { editYaml } from '../../../cli/project/edit-yaml.ts'

const written = `# Ours.
config:
  url: https://a   # the address
  headers: { A: "x", B: y }
  list: [id,   b]

  parameters:
    since: {value: '1'}
    until:
      value: 2
schedule: '0 * * * *'
# The end.
load:
  mode: merge
`

// oxlint-disable-next-line typescript/no-explicit-any -- a document
type Change = (data: Record<string, any>) => unknown

function changed(change: Change): string {
  const old = parse(written) as object
  const fresh = structuredClone(old)
  change(fresh)
  return editYaml(written, { old, fresh, shown: fresh })
}

describe('a file in which one value changes', () => {
  test.each([
    ['a text', (data) => (data['config'].url = 'https://b'), 'url: https://a   #', 'url: https://b   #'],
    ['a text in braces', (data) => (data['config'].headers.B = 'z'), 'B: y }', 'B: z }'],
    ['a list', (data) => (data['config'].list = ['id']), '[id,   b]', '[ id ]'],
    ['a number deep inside', (data) => (data['config'].parameters.until.value = 3), 'value: 2', 'value: 3'],
    ['the last value', (data) => (data['load'].mode = 'replace'), 'mode: merge', 'mode: replace'],
    ['one that is new', (data) => (data['load'].key = ['id']), 'mode: merge\n', 'mode: merge\n  key:\n    - id\n'],
    ['one that goes', (data) => delete data['schedule'], "schedule: '0 * * * *'\n", ''],
    ['one that goes inside', (data) => delete data['config'].parameters.until, '    until:\n      value: 2\n', ''],
    [
      'a map in place of a text',
      (data) => (data['schedule'] = { at: 1 }),
      "schedule: '0 * * * *'",
      'schedule:\n  at: 1',
    ],
  ] as Array<[string, Change, string, string]>)('%s is all that differs', (_what, change, before, after) => {
    expect(changed(change)).toBe(written.replace(before, () => after))
  })

  test('stays as it is where it means the same', () => {
    const old = { a: { value: 'x', required: false } }
    expect(editYaml('a: {value: x}\n', { old, fresh: old, shown: { a: { value: 'x' } } })).toBe('a: {value: x}\n')
  })
})

const value = fc.letrec((tie) => ({
  any: fc.oneof({ maxDepth: 3 }, fc.string(), fc.integer(), fc.boolean(), tie('list'), tie('map')),
  list: fc.array(tie('any'), { maxLength: 3 }),
  map: fc.dictionary(fc.stringMatching(/^[a-z]{1,3}$/), tie('any'), { maxKeys: 4 }),
}))

test('whatever changes in whatever layout, the file says it afterwards', () => {
  const layout = fc.constantFrom('block' as const, 'flow' as const, 'any' as const)
  fc.assert(
    fc.property(value.map, value.map, layout, (old, fresh, collectionStyle) => {
      const text = stringify(old, { collectionStyle })
      expect(parse(editYaml(text, { old, fresh, shown: fresh }))).toEqual(fresh)
    }),
  )
})
