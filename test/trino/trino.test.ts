import { afterAll, beforeAll } from 'vitest'
import { describeCluster } from './cluster.ts'
import { describeHostile } from './hostile.ts'
import { describeModels } from './models.ts'
import { describeQueryPath } from './query-path.ts'
import { openStage, type Stage } from './stage.ts'

let stage: Stage
beforeAll(async () => {
  stage = await openStage()
})
// Undefined where it did not start.
afterAll(() => (stage as Stage | undefined)?.close())

// First: one of them needs a process that takes no jobs yet.
describeModels(() => stage)
describeQueryPath(() => stage)
describeHostile(() => stage)
describeCluster(() => stage)
