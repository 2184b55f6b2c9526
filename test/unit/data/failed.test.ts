import { describe, expect, test } from 'vitest'
import { failedHead } from '../../../server/engine/executor/instance/failed.ts'

const input = { sql: 'SELECT 1', hasSlots: true, tables: [] }

/** Every kind of error that the engine knows, as its messages begin, and whose it is in user SQL. */
const kinds: [string, string][] = [
  'Conversion',
  'Invalid Input',
  'Out of Range',
  'Mismatch Type',
  'Not implemented',
  'Invalid type',
  'Decimal',
  'Divide by Zero',
  'Expression',
  'Constraint',
  'Sequence',
  'Object Size',
  'Unknown Type',
  'Data Load',
  'Optimizer',
  'Parameter Not Resolved',
  'Parameter Not Allowed',
  'Executor',
  'Stat',
  'Invalid',
].map((kind): [string, string] => [kind, 'invalid_query'])

const statements = ['Binder', 'Parser', 'Catalog', 'Syntax'].map((kind): [string, string] => [kind, 'invalid_request'])
const ours = [
  'INTERNAL',
  'FATAL',
  'IO',
  'Hardware',
  'Null Pointer',
  'Permission',
  'Connection',
  'Transaction',
  'Settings',
  'TransactionContext',
  'Invalid Configuration',
  'Missing Extension',
  'Autoload',
  'Dependency',
  'Serialization',
  'Network',
  'HTTP',
].map((kind): [string, string] => [kind, 'internal_error'])

describe('errors of user SQL', () => {
  test.each([...kinds, ...statements, ...ours])('%s Error is %s', (kind, code) => {
    const head = failedHead(new Error(`${kind} Error: it went wrong\n\nLINE 1: SELECT`), input)
    expect(head).toMatchObject({ code, cause: expect.stringContaining('it went wrong') as string })
    if (code === 'internal_error') expect(head.message).toBeUndefined()
    else expect(head.message).toMatch(/^[Ii]t went wrong\.?$/)
  })

  test('one that comes while rows flow says the same', () => {
    const json =
      '{"exception_type":"Not implemented","exception_message":"Unknown TimeZone \'x\'!\\nmore","position":"3"}'
    expect(failedHead(new Error(json), input)).toMatchObject({
      code: 'invalid_query',
      reason: 'invalid_slots',
      message: "Unknown TimeZone 'x'!",
    })
  })

  test('an error that is not of the engine is ours', () => {
    expect(failedHead(new TypeError('x is not a function'), input)).toMatchObject({ code: 'internal_error' })
  })
})
