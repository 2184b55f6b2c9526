import { createHmac } from 'node:crypto'
import { expect, test } from 'vitest'
import { createReshaper } from '../../../server/engine/executor/convert/reshape.ts'

const hashKey = '00ff'.repeat(16)
const hashOf = (text: string) => createHmac('sha256', Buffer.from(hashKey, 'hex')).update(text).digest('hex')
const reshape = (rules: { lifted?: string[]; dropped?: string[]; hashed?: string[] }, line: string): string =>
  createReshaper({ lifted: [], dropped: [], hashed: [], hashKey, ...rules })(line)

test('a value inside an object becomes a column, as it was written', () => {
  const line = '{ "id" : 1, "supplier": {"id": 12345678901234567890, "rate": 1.50, "at": {"day":"2026-01-02"}} }'
  expect(reshape({ lifted: ['supplier.id', 'supplier.rate', 'supplier.at.day'] }, line)).toBe(
    '{"id":1,"supplier":{"id":12345678901234567890,"rate":1.50,"at":{"day":"2026-01-02"}},"supplier.id":12345678901234567890,"supplier.rate":1.50,"supplier.at.day":"2026-01-02"}',
  )
})

test('a member of a list is a value, too', () => {
  expect(reshape({ lifted: ['emails[1].value'] }, '{"emails":[{"value":"a"},{"value":"b"}]}')).toBe(
    '{"emails":[{"value":"a"},{"value":"b"}],"emails[1].value":"b"}',
  )
})

test('a path that leads nowhere adds nothing, and one that leads through text leaves it', () => {
  expect(reshape({ lifted: ['a.b'] }, '{"c":1}')).toBe('{"c":1}')
  expect(reshape({ lifted: ['a.b'], dropped: ['c.d'] }, '{"a":"x","c":null}')).toBe('{"a":"x","c":null}')
})

test('a key that is written like the path goes before what the path leads to', () => {
  expect(reshape({ lifted: ['a.b'] }, '{"a":{"b":1},"a.b":2}')).toBe('{"a":{"b":1},"a.b":2}')
  expect(reshape({ dropped: ['a.b'] }, '{"a.b":2,"c":3}')).toBe('{"c":3}')
})

test('what is dropped is gone at every depth, also from each member of a list', () => {
  const line = '{"email":"a@b.c","who":{"email":"x","name":"n"},"lines":[{"email":"y","sku":1},{"sku":2}]}'
  expect(reshape({ dropped: ['email', 'who.email', 'lines.*.email'] }, line)).toBe(
    '{"who":{"name":"n"},"lines":[{"sku":1},{"sku":2}]}',
  )
})

test('a hash takes the place of a value where it stands and where it is lifted to; null stays', () => {
  const line = String.raw`{"email":"\"q\" ä@b.c","n":{"id":12.50,"none":null}}`
  expect(JSON.parse(reshape({ hashed: ['email', 'n.id', 'n.none'], lifted: ['n.id'] }, line))).toEqual({
    email: hashOf('"q" ä@b.c'),
    n: { id: hashOf('12.50'), none: null },
    'n.id': hashOf('12.50'),
  })
})

test('braces, brackets, commas and quotes inside texts end nothing', () => {
  const line = String.raw`{"a":"}],{\"","b":{"c":"[\\\\","d":["]",{"e":"{"}]},"f":true}`
  const wanted = JSON.parse(line) as Record<string, unknown>
  expect(JSON.parse(reshape({ lifted: ['b.c'], dropped: ['x'] }, line))).toEqual({ ...wanted, 'b.c': '[\\\\' })
})

test('names of the language itself are keys like others', () => {
  expect(reshape({ lifted: ['__proto__.x'], dropped: ['constructor'] }, '{"__proto__":{"x":1},"constructor":2}')).toBe(
    '{"__proto__":{"x":1},"__proto__.x":1}',
  )
})
