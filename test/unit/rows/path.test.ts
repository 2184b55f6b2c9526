import { describe, expect, test } from 'vitest'
import { useRows } from './run.ts'

const { run, refusal } = useRows()

describe('the path', () => {
  const body =
    '{"a.b":[{"exact":1}],"a":{"b":[{"path":1}],"c":"[{\\"t\\":\\"\\\\u00e9\\\\n\\"}]","d":"no json","n":5},"list":[[1],[2]]}'
  test.each([
    ['a.b', ['{"exact":1}']],
    ['$.a.b', ['{"path":1}']],
    ['a["b"][0]', ['{"path":1}']],
    ['a.c', ['{"t":"\\u00e9\\n"}']],
    ['a.c[0].t', ['{"value":"\\u00e9\\n"}']],
    ['a.d', ['{"value":"no json"}']],
    ['a.n', ['{"value":5}']],
    ['list[1]', ['{"value":2}']],
    ['$', [body]],
  ])('%s', async (path, lines) => {
    expect((await run(body, { path })).lines).toEqual(lines)
  })

  test.each([
    ['rows', 'The response has the keys a.b, a, list'],
    ['a.x', '"a" has the keys b, c, d, n'],
    ['list[2]', '"list" is a list of 2'],
    ['list.x', 'an element of it is written list[0]'],
    ['a.n.x', '"a.n" is a single value'],
    ['a.d.x', '"a.d" is text'],
  ])('%s is answered with what is there', async (path, words) => {
    const { code, reason, message } = await refusal(body, { path })
    expect({ code, reason }).toEqual({ code: 'invalid_request', reason: 'extractor_no_match' })
    expect(message).toContain(words)
  })

  test('$ reads a response that is a string of JSON; without a path it is one value', async () => {
    const body = JSON.stringify(JSON.stringify([{ a: 1 }, { a: 2 }]))
    expect((await run(body, { path: '$' })).lines).toEqual(['{"a":1}', '{"a":2}'])
    expect((await run(body, { path: '[1].a' })).lines).toEqual(['{"value":2}'])
    expect(await run(body)).toMatchObject({ rowCount: 1, shape: 'scalar' })
    expect(await run('"plain"', { path: '$' })).toMatchObject({ lines: ['{"value":"plain"}'] })
  })

  test('null where a list was asked for is an empty list', async () => {
    expect(await run('{"items":null}', { path: 'items' })).toMatchObject({ rowCount: 0, lines: [] })
    expect(await run('null')).toMatchObject({ rowCount: 1, lines: ['{"value":null}'] })
  })

  test('CSV has no keys', async () => {
    expect(await refusal('a,b\n1,2\n', { path: 'rows', contentType: 'text/csv' })).toMatchObject({
      reason: 'extractor_no_match',
      message: expect.stringContaining('The response is CSV') as string,
    })
  })

  test('a repeated key on the way: the last one counts', async () => {
    expect((await run('{"d":[1,2,3],"e":1,"d":[{"x":1}]}', { path: 'd' })).lines).toEqual(['{"x":1}'])
  })

  test('a large stringified document is read in pieces', async () => {
    const rows = Array.from({ length: 500 }, (_, index) => ({ index, text: `"é😀\\ ${index}\n` }))
    const { lines } = await run(JSON.stringify({ body: JSON.stringify({ rows }) }), {
      path: 'body.rows',
      chunkBytes: 256,
    })
    expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual(rows)
  })
})
