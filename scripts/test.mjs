// The gate: everything that must hold, in one run with one closing line. `--no-browser` leaves the browser out, `--quick`
// every test that starts a server.
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { ensureChromium } from './chromium.mjs'
import { buildWebIfStale, findNode, installMissing, root } from './prepare.mjs'

const slowestShown = 10

const isQuick = process.argv.includes('--quick')
const withBrowser = !isQuick && !process.argv.includes('--no-browser')
const startedAt = Date.now()
const totals = { passed: 0, failed: 0 }
const steps = []

installMissing()
const node = findNode()
const chromium = withBrowser ? ensureChromium(node) : undefined
const env = {
  ...process.env,
  PATH: [dirname(node), join(root, 'node_modules/.bin'), process.env.PATH].join(delimiter),
  ...(chromium !== undefined && { CHROMIUM_PATH: chromium }),
}

// Before the tests: beside them they take the core on which a real server is waited for.
await checkSources()
const outcome = await buildAndTest()
summarise(outcome)
process.exit(totals.failed === 0 ? 0 : 1)

async function checkSources() {
  await check('types', 'typescript/bin/tsc', '--noEmit', '-p', '.')
  await check('types of the web app', 'typescript/bin/tsc', '--noEmit', '-p', 'web')
  await check('lint', 'oxlint/bin/oxlint', '--deny-warnings')
  await check('format', 'oxfmt/bin/oxfmt', '--check', '.')
  await check('dead code', 'knip/bin/knip.js', '--no-progress')
}

/** Tests read what was built, so they follow the build. */
async function buildAndTest() {
  await step('web build', () => buildWebIfStale(node))
  const begin = Date.now()
  const { passed, failed, files, flaky } = await runTests()
  totals.passed += passed
  totals.failed += failed
  steps.push({ name: 'tests', seconds: (Date.now() - begin) / 1000, isGood: failed === 0 })
  return { files, flaky }
}

async function check(name, script, ...args) {
  await step(name, () => runQuietly(node, [join('node_modules', script), ...args]))
}

async function step(name, work) {
  const begin = Date.now()
  let complaint
  try {
    await work()
  } catch (error) {
    complaint = error instanceof Error ? error.message : String(error)
  }
  const isGood = complaint === undefined
  const seconds = (Date.now() - begin) / 1000
  totals[isGood ? 'passed' : 'failed'] += 1
  steps.push({ name, seconds, isGood })
  // In one piece: others print at the same time.
  console.log(`\n${isGood ? 'ok    ' : 'FAILED'} ${name} (${seconds.toFixed(1)} s)${isGood ? '' : `\n${complaint}`}`)
}

/** Rejects with all that the command printed. */
function runQuietly(command, args) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd: root, env, stdio: ['ignore', 'pipe', 'pipe'] })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (bytes) => (output += bytes))
    child.once('error', reject)
    child.once('close', (code) => (code === 0 ? resolve() : reject(new Error(output.trim() || `ended with ${code}`))))
  })
}

async function runTests() {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-report-'))
  const report = join(folder, 'report.json')
  const projects = isQuick ? ['unit', 'architecture', 'docs'] : withBrowser ? [] : ['!web', '!timing-web']
  const args = ['node_modules/vitest/vitest.mjs', 'run', ...projects.flatMap((project) => ['--project', project])]
  try {
    const child = spawn(node, args, { cwd: root, env: { ...env, TEST_REPORT: report }, stdio: 'inherit' })
    const code = await new Promise((resolve, reject) => child.once('error', reject).once('exit', resolve))
    const { passed, failed, files, flaky } = JSON.parse(readFileSync(report, 'utf8'))
    // A run can fail when all its tests have passed, and one without tests proves nothing.
    const isBad = failed === 0 && (code !== 0 || passed === 0)
    return { passed, failed: failed + (isBad ? 1 : 0), files, flaky }
  } catch (error) {
    console.error(`There is no report of the tests: ${error instanceof Error ? error.message : String(error)}`)
    return { passed: 0, failed: 1, files: [], flaky: [] }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function summarise({ files, flaky }) {
  const projects = new Map()
  for (const { project, ms } of files) projects.set(project, (projects.get(project) ?? 0) + ms)
  const slowest = files.toSorted((left, right) => right.ms - left.ms).slice(0, slowestShown)
  const line = (seconds, text) => `${seconds.toFixed(1).padStart(8)} s  ${text}`
  const print = (title, lines) => lines.length > 0 && console.log(`\n${title}\n${lines.join('\n')}`)
  print(
    'Steps',
    steps.map(({ name, seconds, isGood }) => line(seconds, isGood ? name : `${name}: FAILED`)),
  )
  print(
    'Tests by project, files added up',
    [...projects].map(([name, ms]) => line(ms / 1000, name)),
  )
  print(
    'Slowest files',
    slowest.map(({ ms, path }) => line(ms / 1000, path)),
  )
  print(
    'Passed at the second try only: find out why',
    flaky.map((name) => `  ${name}`),
  )
  console.log(`\nin ${Math.round((Date.now() - startedAt) / 1000)} s`)
  console.log(`${totals.passed} passed, ${totals.failed} failed`)
}
