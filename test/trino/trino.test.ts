import { afterAll, beforeAll } from 'vitest'
import { describeCluster } from './cluster.ts'
import { describeHostile } from './hostile.ts'
import { describeQueryPath } from './query-path.ts'
import { openStage, type Stage } from './stage.ts'

let stage: Stage
beforeAll(async () => {
  stage = await openStage()
})
// Undefined where it did not start.
afterAll(() => (stage as Stage | undefined)?.close())

describeQueryPath(() => stage)
describeHostile(() => stage)
describeCluster(() => stage)
