import { writeFileSync } from 'node:fs'
import { relative } from 'node:path'
import type { Reporter, TestModule } from 'vitest/node'

/** What `scripts/test.mjs` reads when a run is over. */
export type RunReport = {
  passed: number
  failed: number
  files: Array<{ path: string; project: string; ms: number }>
  /** Passed, but not at once. */
  flaky: string[]
}

/** Writes the outcome of a run to a file: tests, and whatever fails beside them. */
export function reportTo(path: string): Reporter {
  return {
    // At once: a run that is stopped half-way has said what failed until then.
    onTestCaseResult(test) {
      const { state, errors = [] } = test.result()
      if (state !== 'failed') return
      const where = `${relative(test.project.config.root, test.module.moduleId)} > ${test.fullName}`
      process.stdout.write(`\nFAILED ${where}\n${errors.map(({ message }) => `  ${message}\n`).join('')}`)
    },
    onTestRunEnd(modules, unhandledErrors, reason) {
      const states = modules.flatMap((module) => [...module.children.allTests()].map((test) => test.result().state))
      const failedTests = states.filter((state) => state === 'failed').length
      // A file that does not load, a hook that fails and an error that nobody awaited leave no failed test behind.
      const failedFiles = modules.filter((module) => !module.ok() && !hasFailedTest(module)).length
      const failed = failedTests + failedFiles + unhandledErrors.length
      const report: RunReport = {
        passed: states.filter((state) => state === 'passed').length,
        failed: failed === 0 && reason !== 'passed' ? 1 : failed,
        files: modules.map((module) => ({
          path: relative(module.project.config.root, module.moduleId),
          project: module.project.name,
          ms: durationMs(module),
        })),
        flaky: modules
          .flatMap((module) => [...module.children.allTests()])
          .filter((test) => test.diagnostic()?.flaky === true)
          .map((test) => test.fullName),
      }
      writeFileSync(path, JSON.stringify(report))
    },
  }
}

function hasFailedTest(module: TestModule): boolean {
  return [...module.children.allTests('failed')].length > 0
}

/** With what it imports and prepares. */
function durationMs(module: TestModule): number {
  const { prepareDuration, setupDuration, collectDuration, duration } = module.diagnostic()
  return Math.round(prepareDuration + setupDuration + collectDuration + duration)
}
