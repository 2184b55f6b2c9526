import fc from 'fast-check'
import { beforeAll, expect } from 'vitest'
import { builds, readsBuilds } from './builds.ts'

// A property that fails says its seed; the same commit fails again.
fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: Number(process.env['TEST_SEED']) })

beforeAll(async () => {
  if (readsBuilds(expect.getState().testPath ?? '')) await builds()
})
