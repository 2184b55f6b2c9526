import { writeFileSync } from 'node:fs'
import { relative } from 'node:path'
import type { Reporter, TestModule } from 'vitest/node'

/** What `scripts/test.mjs` reads when a run is over. */
export type RunReport = {
  files: Array<{ path: string; ms: number; passed: number; failed: string[] }>
  /** What failed outside of every file, such as an error that nobody awaited. */
  others: number
  /** What this machine could not run, by why. */
  skipped: Array<{ count: number; reason: string }>
}

/** What the tests of a file need that not every machine has. */
const needs: Record<string, string> = {
  'test/faults/disk.test.ts': 'a small, read-only or slow disk takes the right to mount one',
  'test/faults/store.test.ts': 'files of another user take root',
  'test/unit/output.test.ts': 'a pipe of 64 KiB takes Linux',
  'test/unit/cli/terminal.test.ts': 'completion in a shell takes that shell',
  'test/cli/journey.test.ts': 'a terminal takes Linux',
  'test/cli/commands.test.ts': 'a terminal takes Linux',
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
      const files = modules.map((module) => ({
        path: relative(module.project.config.root, module.moduleId),
        ms: durationMs(module),
        passed: [...module.children.allTests('passed')].length,
        failed: failedIn(module),
      }))
      const isQuiet = files.every(({ failed }) => failed.length === 0) && unhandledErrors.length === 0
      const report: RunReport = {
        files,
        others: isQuiet && reason !== 'passed' ? 1 : unhandledErrors.length,
        skipped: skippedIn(modules),
      }
      writeFileSync(path, JSON.stringify(report))
    },
  }
}

/** A test that is skipped without anybody having said why looks like one that was forgotten. */
function skippedIn(modules: readonly TestModule[]): RunReport['skipped'] {
  const counts = new Map<string, number>()
  for (const module of modules) {
    const path = relative(module.project.config.root, module.moduleId)
    for (const test of module.children.allTests('skipped')) {
      const result = test.result()
      const said = result.state === 'skipped' ? result.note : undefined
      const reason = said ?? needs[path] ?? `nobody says why (${path})`
      counts.set(reason, (counts.get(reason) ?? 0) + 1)
    }
  }
  return [...counts].map(([reason, count]) => ({ count, reason }))
}

/** A file that does not load and a hook that fails leave no failed test behind. */
function failedIn(module: TestModule): string[] {
  const names = [...module.children.allTests('failed')].map((test) => test.fullName)
  return names.length === 0 && !module.ok() ? ['the file as a whole'] : names
}

/** With what it imports and prepares. */
function durationMs(module: TestModule): number {
  const { prepareDuration, setupDuration, collectDuration, duration } = module.diagnostic()
  return Math.round(prepareDuration + setupDuration + collectDuration + duration)
}
