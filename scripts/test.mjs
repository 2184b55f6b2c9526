// The gate: what must hold before a commit, in one run with one closing line. `--no-browser` leaves the browser out,
// `--quick` every test that starts a server. What takes minutes comes after it: kills and other faults, the snippets of the
// guides, and whatever is measured by the clock. `--faults` runs the first of these alone, with as many kills as
// `FAULT_ROUNDS` says; `--all` runs everything, tries often what must hold under load, and shows every page in all its
// looks. That is what CI runs, on a machine that others use: there a file with a failed test is run once more, and what
// failed in it is named at the end.
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { ensureChromium } from './chromium.mjs'
import { buildWebIfStale, bundleServerIfStale, findNode, installMissing, root } from './prepare.mjs'

const slowestShown = 10
/** More than a few files do not fail by accident. */
const triedAgainMost = 5

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
  ...(given('--all') && { TEST_LOOKS: 'all', TEST_ROUNDS: 'all' }),
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
  const ran = await runTests(projects, more)
  if (given('--all')) await tryAgain(ran, projects, more)
  const passed = ran.files.reduce((sum, file) => sum + file.passed, 0)
  const failed = ran.files.reduce((sum, file) => sum + file.failed.length, ran.others)
  skipped.push(...ran.skipped)
  totals.passed += passed
  totals.failed += failed
  files.push(...ran.files)
  const isGood = failed === 0
  steps.push({ name: `${name}: ${passed} passed, ${failed} failed`, seconds: (Date.now() - begin) / 1000, isGood })
}

/** From the start, with nothing left of the first try: most tests of a page change what it shows. */
async function tryAgain(ran, projects, more) {
  const bad = ran.files.filter(({ failed }) => failed.length > 0)
  if (bad.length === 0 || bad.length > triedAgainMost || ran.others > 0) return
  const paths = bad.map(({ path }) => path)
  console.log(`\nOnce more, by themselves: ${paths.join(', ')}`)
  const again = await runTests(projects, more, paths)
  ran.others += again.others
  for (const file of again.files) {
    const before = bad.find(({ path }) => path === file.path)
    if (before === undefined) continue
    if (file.failed.length === 0) flaky.push(...before.failed.map((name) => `${file.path} > ${name}`))
    Object.assign(before, file, { ms: before.ms + file.ms })
  }
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

async function runTests(projects, more, paths = []) {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-report-'))
  const report = join(folder, 'report.json')
  const chosen = [...projects.flatMap((project) => ['--project', project]), ...paths]
  const args = ['node_modules/vitest/vitest.mjs', 'run', ...chosen]
  try {
    const child = spawn(node, args, { cwd: root, env: { ...env, ...more, TEST_REPORT: report }, stdio: 'inherit' })
    const code = await new Promise((resolve, reject) => child.once('error', reject).once('exit', resolve))
    const ran = JSON.parse(readFileSync(report, 'utf8'))
    // A run can fail when all its tests have passed, and one without tests proves nothing.
    const hasFailed = ran.others > 0 || ran.files.some(({ failed }) => failed.length > 0)
    const hasPassed = ran.files.some(({ passed }) => passed > 0)
    return { ...ran, others: ran.others + (hasFailed || (code === 0 && hasPassed) ? 0 : 1) }
  } catch (error) {
    console.error(`There is no report of the tests: ${error instanceof Error ? error.message : String(error)}`)
    return { files: [], others: 1, skipped: [] }
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
