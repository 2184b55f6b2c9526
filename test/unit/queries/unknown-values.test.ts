import { expect, test } from 'vitest'
import type { Catalogs } from '../../../server/data/index.ts'
import { findUnknownValues } from '../../../server/queries/calls/unknown-values.ts'
import type { LiveVersion } from '../../../server/queries/deployed/deployment-index.ts'
import { spentMs } from '../../harness/processor-time.ts'

function unknownOf(known: string[], given: unknown) {
  const catalogs = { valuesOf: () => Promise.resolve({ 'orders.region': known }) } as unknown as Catalogs
  const region = { type: 'array', items: { type: 'string', 'x-values-from': 'orders.region' } }
  const version = { slots: { type: 'object', properties: { region }, required: [] } } as unknown as LiveVersion
  return findUnknownValues({ catalogs }, { projectId: 'p', version, parameters: { region: given } })
}

test('values that hold the same letters come first, then those a few letters away', async () => {
  const known = ['north', 'northern', 'nirth', 'south', 'north-east']
  const found = await unknownOf(known, ['North', 'northx', 'sputh', 'Mars'])
  expect(found?.warnings.map(({ nearest }) => nearest)).toEqual([
    ['north', 'northern', 'nirth'],
    ['north', 'nirth', 'northern'],
    ['south'],
    [],
  ])
  expect(found).not.toHaveProperty('more_warnings')
  expect(await unknownOf(known, ['north'])).toBeNull()
})

test('20 values are told and compared, the others counted; one of more than 100 characters is compared with none', async () => {
  const known = Array.from({ length: 999 }, (_, at) => `${'ab'.repeat(42)}${'q'.repeat(12)}${at}`)
  const values = Array.from({ length: 300 }, (_, at) => `${'ab'.repeat(42)}${'z'.repeat(12)}${at}`)
  const started = spentMs()
  const found = await unknownOf(known, ['y'.repeat(200_000), ...values])
  const spent = spentMs() - started
  expect(found?.warnings).toHaveLength(20)
  expect(found?.warnings[0]).toEqual({
    code: 'unknown_value',
    slot: 'region',
    value: `${'y'.repeat(99)}…`,
    nearest: [],
  })
  expect(found?.more_warnings).toBe(281)
  // Alone it takes 0.2 s.
  expect(spent).toBeLessThan(4_000)
})
