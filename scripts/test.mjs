// The gate: everything that must hold, in one run with one closing line. `--no-browser` leaves the browser out, `--quick`
// every test that starts a server.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { ensureChromium } from './chromium.mjs'
import { buildWebIfStale, findNode, installMissing, root } from './prepare.mjs'

const isQuick = process.argv.includes('--quick')
const withBrowser = !isQuick && !process.argv.includes('--no-browser')
const startedAt = Date.now()
const totals = { passed: 0, failed: 0 }

installMissing()
const node = findNode()
const chromium = withBrowser ? ensureChromium(node) : undefined
const env = {
  ...process.env,
  PATH: [dirname(node), join(root, 'node_modules/.bin'), process.env.PATH].join(delimiter),
  ...(chromium !== undefined && { CHROMIUM_PATH: chromium }),
}

step('web build', () => {
  buildWebIfStale(node)
  return true
})
step('types', () => succeeds('typescript/bin/tsc', '--noEmit', '-p', '.'))
step('types of the web app', () => succeeds('typescript/bin/tsc', '--noEmit', '-p', 'web'))
step('lint', () => succeeds('oxlint/bin/oxlint', '--deny-warnings'))
step('format', () => succeeds('oxfmt/bin/oxfmt', '--check', '.'))
step('dead code', () => succeeds('knip/bin/knip.js', '--no-progress'))
runTests()

console.log(`\nin ${Math.round((Date.now() - startedAt) / 1000)} s`)
console.log(`${totals.passed} passed, ${totals.failed} failed`)
process.exit(totals.failed === 0 ? 0 : 1)

function step(name, check) {
  const begin = Date.now()
  let good = false
  try {
    good = check()
  } catch (error) {
    console.error(error)
  }
  totals[good ? 'passed' : 'failed'] += 1
  console.log(`${good ? 'ok    ' : 'FAILED'} ${name} (${((Date.now() - begin) / 1000).toFixed(1)} s)`)
}

function succeeds(script, ...args) {
  return spawnSync(node, [join('node_modules', script), ...args], { cwd: root, env, stdio: 'inherit' }).status === 0
}

function runTests() {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-report-'))
  const report = join(folder, 'report.json')
  const projects = isQuick ? ['unit', 'architecture', 'docs'] : withBrowser ? [] : ['!web']
  const ran = succeeds(
    'vitest/vitest.mjs',
    'run',
    ...projects.flatMap((project) => ['--project', project]),
    '--reporter=dot',
    '--reporter=json',
    `--outputFile.json=${report}`,
  )
  try {
    const { numPassedTests, numFailedTests, numFailedTestSuites, success } = JSON.parse(readFileSync(report, 'utf8'))
    totals.passed += numPassedTests
    // A file that fails to load has no failed test of its own, and a run can fail with none.
    totals.failed += numFailedTests + (numFailedTests === 0 && numFailedTestSuites > 0 ? numFailedTestSuites : 0)
    if ((!ran || !success) && totals.failed === 0) totals.failed += 1
    if (numPassedTests === 0) totals.failed += 1
  } catch {
    totals.failed += 1
  }
  rmSync(folder, { recursive: true, force: true })
}
