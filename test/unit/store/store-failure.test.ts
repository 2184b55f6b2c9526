import { expect, test } from 'vitest'
import { asStoreFailure } from '../../../server/store/index.ts'

function errorWith(message: string, fields: Record<string, string> = {}): Error {
  return Object.assign(new Error(message), fields)
}

test.for([
  ['a refused connection', errorWith('connect ECONNREFUSED', { code: 'ECONNREFUSED', syscall: 'connect' })],
  ['a socket that is gone', errorWith('connect ENOENT', { code: 'ENOENT', syscall: 'connect' })],
  ['a server that shuts down', errorWith('terminating connection', { code: '57P01' })],
  ['a server that starts up', errorWith('the database system is starting up', { code: '57P03' })],
  ['too many connections', errorWith('sorry, too many clients already', { code: '53300' })],
  ['a connection that breaks', errorWith('Connection terminated unexpectedly')],
  ['a full pool', errorWith('timeout exceeded when trying to connect')],
  ['a statement past its limit', errorWith('canceling statement due to statement timeout', { code: '57014' })],
] as const)('%s is "overloaded", to be tried again in a second', ([, error]) => {
  expect(asStoreFailure(error)).toMatchObject({ code: 'overloaded', retryAfterSeconds: 1, cause: error })
})

test.for([
  ['a duplicate key', errorWith('duplicate key value', { code: '23505' })],
  ['a syntax error', errorWith('syntax error', { code: '42601' })],
  ['a file that is missing', errorWith('ENOENT: no such file', { code: 'ENOENT', syscall: 'open' })],
  ['something that is no error', 'ECONNREFUSED'],
] as const)('%s is not the store being away', ([, error]) => {
  expect(asStoreFailure(error)).toBeUndefined()
})
