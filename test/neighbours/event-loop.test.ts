import { afterAll, beforeAll, expect, test } from 'vitest'
import { loads } from './loads/all.ts'
import { measure, mostDelayMs, openMeasured, type MeasuredStage } from './measured-stage.ts'

/** The delay of the event loop under every load there is; the worst of them run in the timing tests, too. */

let stage: MeasuredStage
beforeAll(async () => void (stage = await openMeasured()), 300_000)
// Undefined where it did not start.
afterAll(() => (stage as MeasuredStage | undefined)?.close())

test.each(loads)(
  '$kind: $name',
  async (load) => {
    expect((await measure(stage, load)).delayMs).toBeLessThanOrEqual(mostDelayMs)
  },
  600_000,
)
