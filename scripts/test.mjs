// The gate: what must hold before a commit, in one run with one closing line. `--no-browser` leaves the browser out,
// `--quick` every test that starts a server. What takes minutes comes after it: kills and other faults, the snippets of the
// guides, and whatever is measured by the clock. `--faults` runs the first of these alone, with as many kills as
// `FAULT_ROUNDS` says; `--all` runs everything, tries often what must hold under load, and shows every page in all its looks. That is what CI runs, on a machine
// that others use: there a test that fails is tried once more, and named at the end.
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { ensureChromium } from './chromium.mjs'
import { buildWebIfStale, bundleServerIfStale, findNode, installMissing, root } from './prepare.mjs'

const slowestShown = 10

const given = (option) => process.argv.includes(option)
const isQuick = given('--quick')
const withGate = !given('--faults')
const withBrowser = withGate && !isQuick && !given('--no-browser')
const quickFolders = ['unit', 'architecture', 'docs']
const gateFolders = [...quickFolders, 'api', 'store', 'cli', 'worker', ...(withBrowser ? ['web'] : [])]
const faultProjects = ['faults', 'secrets']
const slowProjects = ['guides', ...faultProjects, 'timing', ...(withBrowser ? ['timing-web'] : [])]
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
  ...(given('--all') && { TEST_LOOKS: 'all', TEST_ROUNDS: 'all', TEST_TRIES: '2' }),
}

/**
 * The type checker and the linter are written in Go. On one thread, with its collector seldom at work, either takes half
 * of the processor time: several checkers look at the same types each for itself.
 */
const frugal = { GOMAXPROCS: '1', GOGC: '400' }

const files = []
const flaky = []
const skipped = []
if (withGate) {
  // Browser tests read what was built. The checks go on beside the tests, which wait for servers and pages now and then.
  const checks = checkSources()
  await step('web build', () => buildWebIfStale(node))
  await step('server bundle', () => bundleServerIfStale(node))
  const folders = isQuick ? quickFolders : gateFolders
  await Promise.all([checks, test('tests', ['gate'], { TEST_TOGETHER: folders.join(',') })])
}
if (given('--all')) await test('slow tests', slowProjects)
if (given('--faults')) await test('fault tests', faultProjects)
summarise()
process.exit(totals.failed === 0 ? 0 : 1)

async function checkSources() {
  await check('types', 'typescript/bin/tsc', '--noEmit', '--singleThreaded', '-p', '.')
  await check('types of the web app', 'typescript/bin/tsc', '--noEmit', '--singleThreaded', '-p', 'web')
  await check('lint', 'oxlint/bin/oxlint', '--deny-warnings', '--threads', '1')
  await check('format', 'oxfmt/bin/oxfmt', '--check', '.')
  await check('dead code', 'knip/bin/knip.js', '--no-progress')
}

async function test(name, projects, more = {}) {
  const begin = Date.now()
  const { passed, failed, files: ran, flaky: again, skipped: left } = await runTests(projects, more)
  flaky.push(...again)
  skipped.push(...left)
  totals.passed += passed
  totals.failed += failed
  files.push(...ran)
  const isGood = failed === 0
  steps.push({ name: `${name}: ${passed} passed, ${failed} failed`, seconds: (Date.now() - begin) / 1000, isGood })
}

async function check(name, script, ...args) {
  await step(name, () => runQuietly(node, [join('node_modules', script), ...args], frugal))
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
function runQuietly(command, args, more) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd: root, env: { ...env, ...more }, stdio: ['ignore', 'pipe', 'pipe'] })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (bytes) => (output += bytes))
    child.once('error', reject)
    child.once('close', (code) => (code === 0 ? resolve() : reject(new Error(output.trim() || `ended with ${code}`))))
  })
}

async function runTests(projects, more) {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-report-'))
  const report = join(folder, 'report.json')
  const args = ['node_modules/vitest/vitest.mjs', 'run', ...projects.flatMap((project) => ['--project', project])]
  try {
    const child = spawn(node, args, { cwd: root, env: { ...env, ...more, TEST_REPORT: report }, stdio: 'inherit' })
    const code = await new Promise((resolve, reject) => child.once('error', reject).once('exit', resolve))
    const { passed, failed, files: ran, flaky: again, skipped: left } = JSON.parse(readFileSync(report, 'utf8'))
    // A run can fail when all its tests have passed, and one without tests proves nothing.
    const isBad = failed === 0 && (code !== 0 || passed === 0)
    return { passed, failed: failed + (isBad ? 1 : 0), files: ran, flaky: again, skipped: left }
  } catch (error) {
    console.error(`There is no report of the tests: ${error instanceof Error ? error.message : String(error)}`)
    return { passed: 0, failed: 1, files: [], flaky: [], skipped: [] }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function summarise() {
  const folders = new Map()
  for (const { path, ms } of files) {
    const folder = path.split('/').at(1)
    folders.set(folder, (folders.get(folder) ?? 0) + ms)
  }
  const slowest = files.toSorted((left, right) => right.ms - left.ms).slice(0, slowestShown)
  const line = (seconds, text) => `${seconds.toFixed(1).padStart(8)} s  ${text}`
  const print = (title, lines) => lines.length > 0 && console.log(`\n${title}\n${lines.join('\n')}`)
  print(
    'Steps',
    steps.map(({ name, seconds, isGood }) => line(seconds, isGood ? name : `${name}: FAILED`)),
  )
  print(
    'Tests by folder, files added up',
    [...folders].map(([name, ms]) => line(ms / 1000, name)),
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
  const left = skipped.reduce((sum, { count }) => sum + count, 0)
  const why = skipped.map(({ count, reason }) => `${count} because ${reason}`).join('; ')
  console.log(`${totals.passed} passed, ${totals.failed} failed${left === 0 ? '' : `, ${left} skipped: ${why}`}`)
}
