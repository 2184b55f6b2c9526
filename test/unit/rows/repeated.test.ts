import { expect, test } from 'vitest'
import { useRows } from './run.ts'

/** What an answer says once and its rows say each: a short answer must not become a full disk. */

const { run, refusal } = useRows()
const name = 'n'.repeat(100_000)
const key = 'k'.repeat(4_000)
const list = (length: number, item: string) => `[${Array.from({ length }, () => item).join(',')}]`
const tooLarge = { code: 'upstream_error', reason: 'too_large', message: expect.stringContaining('stand in each') }

test('a key of 4,000 letters above 100,000 rows', async () => {
  expect(await refusal(`{"${key}":${list(100_000, '{}')}}`, { path: '{key}' })).toEqual(tooLarge)
  const { lines } = await run(`{"DE":${list(20_000, '{"a":1}')}}`, { path: '{key}' })
  expect(lines).toHaveLength(20_000)
})

test('a name of 4,000 letters with 100,000 values, and lists that name their columns once', async () => {
  expect(await refusal(`{"${key}":${list(100_000, '1')}}`)).toEqual(tooLarge)
  const named = `{"columns":["${name}","b"],"rows":${list(20_000, '[1,2]')}}`
  expect(await refusal(named)).toEqual(tooLarge)
  const { lines } = await run(`{"a_name_of_some_letters":${list(20_000, '1')},"b":${list(20_000, '2')}}`)
  expect(lines[0]).toBe('{"a_name_of_some_letters":1,"b":2}')
})

test('a resource of 100,000 letters that is included in every row, or a thousand times in one', async () => {
  const resource = `{"type":"t","id":"1","attributes":{"text":"${name}"}}`
  const pointer = '{"type":"t","id":"1"}'
  const row = (id: number, data: string) => `{"type":"r","id":"${id}","relationships":{"of":{"data":${data}}}}`
  const answer = (rows: string[]) => `{"data":[${rows.join(',')}],"included":[${resource}]}`
  const options = { path: 'data', included: true }
  const many = Array.from({ length: 5_000 }, (_, id) => row(id, pointer))
  expect(await refusal(answer(many), options)).toEqual(tooLarge)
  expect(await refusal(answer([row(1, list(5_000, pointer))]), options)).toEqual(tooLarge)
  const { lines } = await run(answer(many.slice(0, 100)), options)
  expect(lines).toHaveLength(100)
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({ id: '0', of: { id: '1', text: name } })
})

test('types, ids and relationships that are called as what every object has lead to themselves alone', async () => {
  const names = ['__proto__', 'constructor', 'toString', 'hasOwnProperty']
  const pointer = (name: string) => `{"type":"${name}","id":"${name}"}`
  const relationships = names.map(
    (name) => `"${name}":{"data":${pointer(name)}},"${name}s":{"data":[${pointer(name)},{"type":"x","id":null},7]}`,
  )
  const included = names.map(
    (name) => `{"type":"${name}","id":"${name}","attributes":{"__proto__":{"polluted":1},"text":"${name}"}}`,
  )
  const answer = `{"data":[{"id":"1","relationships":{${relationships.join(',')},"none":null,"empty":{}}}],"included":[${included.join(',')}]}`
  const { lines } = await run(answer, { path: 'data', included: true })
  const row = JSON.parse(lines[0] ?? '') as Record<string, { text: string }>
  for (const name of names) expect(Object.getOwnPropertyDescriptor(row, name)?.value).toMatchObject({ text: name })
  expect(({} as Record<string, unknown>)['polluted']).toBeUndefined()
})
