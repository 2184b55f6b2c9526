import { describe, expect, test } from 'vitest'
import { Failure } from '../../server/failure.ts'
import { describeError, openLog } from '../../server/log.ts'

describe('the log', () => {
  test('is one JSON object a line', () => {
    const lines: string[] = []
    const log = openLog('info', { write: (line: string) => void lines.push(line) })
    log({ kind: 'migrated', from: 0, to: 1 })
    log({ kind: 'request-answered', requestId: 'r', method: 'GET', route: '/', status: 200, elapsedMs: 1 })
    expect(lines.map((line) => JSON.parse(line).kind)).toEqual(['migrated'])
  })

  test('of a database error keeps codes and names, never the values it quotes', () => {
    const error = Object.assign(new Error('invalid input syntax for type integer: "hunter2"'), {
      severity: 'ERROR',
      code: '22P02',
      detail: 'Failing row contains (hunter2).',
      table: 'users',
    })
    const written = JSON.stringify(describeError(new Failure('internal_error', { cause: error })))
    expect(written).toContain('22P02')
    expect(written).not.toContain('hunter2')
  })
})
