import { describe, expect, test } from 'vitest'
import { useRows } from './run.ts'

const { run, refusal } = useRows()

describe('what is no table is refused in words', () => {
  test.each([
    ['', 'not_tabular', 'empty body'],
    ['  \n', 'not_tabular', 'empty body'],
    ['<!doctype html><p>Sign in', 'not_tabular', 'HTML page'],
    ['<?xml version="1.0"?><rows/>', 'not_tabular', 'XML inside of something else; rows come from JSON'],
    ['[{"a":1},{"a":', 'transfer_error', 'breaks off'],
    ['[{"a":"x', 'transfer_error', 'breaks off'],
    ['[1,2', 'transfer_error', 'breaks off'],
    ['[1][2]', 'not_tabular', 'there is more'],
    ['[1]\n[2]', 'not_tabular', 'there is more'],
    ['[1] garbage', 'not_tabular', 'there is more'],
    ['[1,]', 'not_tabular', 'byte 3'],
    ['{"a":1,}', 'not_tabular', 'byte 7'],
    ['[01]', 'not_tabular', 'byte 2'],
    ['[1.]', 'not_tabular', 'byte 1'],
    ['["a\nb"]', 'not_tabular', 'control character'],
    ['["\\x"]', 'not_tabular', 'escape'],
    ['['.repeat(100_000), 'not_tabular', 'deeper than 64'],
    ['{"a":'.repeat(100_000), 'not_tabular', 'deeper than 64'],
  ])('%#: %j', async (body, reason, words) => {
    const answer = await refusal(body)
    expect(answer.reason).toBe(reason)
    expect(answer.message).toContain(words)
  })

  test('invalid UTF-8, binary and plain text', async () => {
    expect(await refusal(Buffer.from('5b2261ff62225d', 'hex'))).toMatchObject({
      reason: 'not_tabular',
      message: expect.stringContaining('Accept-Charset') as string,
    })
    expect(await refusal(Buffer.from('00010203', 'hex'), { contentType: 'image/png' })).toMatchObject({
      message: expect.stringContaining('binary') as string,
    })
    expect(await refusal('Hello there', { contentType: 'text/plain' })).toMatchObject({ reason: 'not_tabular' })
  })

  test('what would fill the memory: huge keys, and a record without an end', async () => {
    expect(await refusal(`[{"${'k'.repeat(5000)}":1}]`)).toMatchObject({
      message: expect.stringContaining('4096 bytes') as string,
    })
    const open = `a,b\n1,"${'x'.repeat(17_000_000)}`
    expect(await refusal(open, { contentType: 'text/csv' })).toMatchObject({ reason: 'transfer_error' })
  })

  test('more different keys than a table has', async () => {
    const inner = (row: number) => Array.from({ length: 1000 }, (_, key) => `"${row}_${key}":1`).join(',')
    const body = `[${Array.from({ length: 210 }, (_, row) => `{"k${row}":{${inner(row)}}}`).join(',')}]`
    expect(await refusal(body)).toMatchObject({
      reason: 'not_tabular',
      message: expect.stringContaining('too many different keys') as string,
    })
  })

  test('64 levels are fine, 65 are not', async () => {
    await expect(run('['.repeat(64) + ']'.repeat(64))).resolves.toMatchObject({ rowCount: 1 })
    await expect(refusal('['.repeat(65) + ']'.repeat(65))).resolves.toMatchObject({
      reason: 'not_tabular',
      message: expect.stringMatching(/^The JSON is nested deeper than 64 levels \(byte 64\)\. No table/) as string,
    })
  })
})

test('a run that nobody wants any more stops', async () => {
  const stop = () => {
    throw new Error('cancelled')
  }
  await expect(run('[{"a":1}]', { goOn: stop })).rejects.toThrow('cancelled')
})
