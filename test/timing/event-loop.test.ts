import { afterAll, beforeAll, expect, test } from 'vitest'
import { loads } from '../neighbours/loads/all.ts'
import { measure, mostDelayMs, openMeasured, type MeasuredStage } from '../neighbours/measured-stage.ts'

/** Of the loads of `npm test -- neighbours`, those that held the event loop the longest, before and since. */
const worst = [
  'a token request as a form of 150,000 names',
  'a session of 16 kB, the most that is read',
  'a call of 480 unknown slots',
  'a list of 10,000 wrong numbers',
  'test-connection, 3 MB of numbers, *.*',
  'test-connection, 9 MB of ordinary rows, detect',
  'the diff of two versions that share none of 5,500 lines',
  'a definition of a query of 500,000 examples',
  'a definition of 30 MB of lists in lists',
  'a list of 150,000 values',
  'definition of 1,900 queries, put with a change in each',
  'release of 1,900 queries, checked',
  'the definition',
  'the OpenAPI document of 1,900 queries',
  'tools where there are 1,900 queries',
]

let stage: MeasuredStage
beforeAll(async () => void (stage = await openMeasured()), 300_000)
// Undefined where it did not start.
afterAll(() => (stage as MeasuredStage | undefined)?.close())

test.each(worst)(
  '%s',
  async (name) => {
    const load = loads.find((each) => each.name === name)
    if (load === undefined) throw new Error(`There is no load “${name}”.`)
    expect((await measure(stage, load)).delayMs).toBeLessThanOrEqual(mostDelayMs)
  },
  600_000,
)
