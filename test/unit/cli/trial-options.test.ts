import { expect, test } from 'vitest'
import { trialOf } from '../../../cli/commands/release/trial-options.ts'

test('a canary is written as a share, a step and rules', () => {
  expect(trialOf({ canary: '10%', step: '20/10m', rollBackOn: 'errors=0.05, p95=2,differences=0' })).toEqual({
    canary: {
      percent: 10,
      step: { percent: 20, seconds: 600 },
      roll_back_on: { error_rate: 0.05, p95_factor: 2, differences: 0 },
    },
  })
  expect(trialOf({ shadow: true })).toEqual({ shadow: true })
  expect(trialOf({})).toEqual({})
})

test.for([
  [{ canary: '0' }, '--canary takes a share'],
  [{ canary: '' }, '--canary takes a share'],
  [{ canary: 'many' }, '--canary takes a share'],
  [{ canary: '10', step: '20' }, '--step is a share and how long after'],
  [{ canary: '10', rollBackOn: 'errors' }, '--roll-back-on takes'],
  [{ canary: '10', rollBackOn: 'crashes=1' }, '--roll-back-on takes'],
  [{ step: '20/10m' }, 'say --canary'],
  [{ canary: '10', shadow: true }, 'not both'],
] as const)('%j is refused with what to write', ([options, message]) => {
  expect(() => trialOf(options)).toThrow(message)
})
