import { afterAll, beforeAll } from 'vitest'
import { describeCluster } from './cluster.ts'
import { describeQueryPath } from './query-path.ts'
import { openStage, type Stage } from './stage.ts'

let stage: Stage
beforeAll(async () => {
  stage = await openStage()
})
afterAll(() => stage.close())

describeQueryPath(() => stage)
describeCluster(() => stage)
