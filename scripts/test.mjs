// The gate: what must hold before a commit, in one run with one closing line. `--no-browser` leaves the browser out,
// `--quick` every test that starts a server. `--all`, which is what CI runs, adds what takes minutes: every page in all its
// looks, the snippets of the guides, kills and other faults, and whatever is measured by the clock; it tries often what
// must hold under load. `--list` names the suites, and a suite's name runs it by itself: arguments behind it are its own.
// Nothing is tried twice.
import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { ensureChromium } from './chromium.mjs'
import { isChecked, keepChecked } from './checked.mjs'
import { buildWebIfStale, bundleServerIfStale, findNode, installMissing, root } from './prepare.mjs'
import { seedOfCommit } from './seed.mjs'
import { listOfSuites, suites } from './suites.mjs'

const slowestShown = 10
const options = new Set(['--all', '--quick', '--no-browser', '--list'])

const words = process.argv.slice(2)
const [name] = words
const suite = suites.find((each) => each.name === name)
if (words.includes('--list')) {
  console.log(listOfSuites())
  process.exit(0)
}
const unknown = suite === undefined && words.find((word) => !options.has(word))
if (unknown) {
  console.error(`There is no suite and no option ${unknown}. npm test -- --list names them.`)
  process.exit(2)
}
const given = (option) => words.includes(option)
const isQuick = given('--quick')
const withBrowser = suite === undefined ? !isQuick && !given('--no-browser') : suite.isBrowser
const quickFolders = ['unit', 'architecture', 'docs']
const gateFolders = suites
  .filter((each) => each.part === 'gate' && (withBrowser || !each.isBrowser))
  .map((each) => each.name)
const slowProjects = suites
  .filter((each) => each.part === 'all' && (withBrowser || !each.isBrowser))
  .map((each) => each.name)
const startedAt = Date.now()
const totals = { passed: 0, failed: 0 }
const steps = []

installMissing()
const node = findNode()
const chromium = withBrowser ? ensureChromium(node) : undefined
const seed = seedOfCommit()
const env = {
  ...process.env,
  PATH: [dirname(node), join(root, 'node_modules/.bin'), process.env.PATH].join(delimiter),
  TEST_SEED: String(seed),
  ...(chromium !== undefined && { CHROMIUM_PATH: chromium }),
}
if (suite !== undefined) process.exit(await runSuite(suite, words.slice(1)))
Object.assign(env, given('--all') ? { TEST_LOOKS: 'all', TEST_ROUNDS: 'all' } : { TEST_LOOKS: 'none' })

/**
 * The type checker and the linter are written in Go. On one thread, with its collector seldom at work, either takes half
 * of the processor time: several checkers look at the same types each for itself.
 */
const frugal = { GOMAXPROCS: '1', GOGC: '400' }

const files = []
const skipped = []
const folder = mkdtempSync(join(tmpdir(), 'sluice-gate-'))
try {
  // Everything at once: tests that read what is built wait for it, and checks go on while tests wait for servers.
  const built = join(folder, 'built')
  const together = { TEST_TOGETHER: (isQuick ? quickFolders : gateFolders).join(','), TEST_BUILT: built }
  await Promise.all([checkSources(), build(built), test('tests', ['gate'], together)])
  if (given('--all')) await test('slow tests', slowProjects)
} finally {
  rmSync(folder, { recursive: true, force: true })
}
summarise()
process.exit(totals.failed === 0 ? 0 : 1)

/** One suite by its name; ends as it ends. */
async function runSuite({ projects, prepare, script, isBrowser }, args) {
  const more = prepare?.(args, env) ?? {}
  if (isBrowser) await buildWebIfStale(node)
  const command =
    script === undefined
      ? ['node_modules/vitest/vitest.mjs', 'run', ...projects.flatMap((project) => ['--project', project])]
      : ['--no-warnings', join('scripts', script)]
  const { status } = spawnSync(node, [...command, ...args], { cwd: root, env: { ...env, ...more }, stdio: 'inherit' })
  return status ?? 1
}

/** Says in a file that both are there, or why not. */
async function build(marker) {
  const isBuilt = await step('web build', () => buildWebIfStale(node))
  const isBundled = await step('server bundle', () => bundleServerIfStale(node))
  writeFileSync(marker, isBuilt && isBundled ? 'ok' : 'failed')
}

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
  const passed = ran.files.reduce((sum, file) => sum + file.passed, 0)
  const failed = ran.files.reduce((sum, file) => sum + file.failed.length, ran.others)
  skipped.push(...ran.skipped)
  totals.passed += passed
  totals.failed += failed
  files.push(...ran.files)
  const isGood = failed === 0
  steps.push({ name: `${name}: ${passed} passed, ${failed} failed`, seconds: (Date.now() - begin) / 1000, isGood })
}

/** What passed is not looked at again before a file of the tree changes. */
async function check(name, script, ...args) {
  if (isChecked(name)) {
    totals.passed += 1
    steps.push({ name: `${name}: as before`, seconds: 0, isGood: true })
    return
  }
  await step(name, async () => {
    await runQuietly(node, [join('node_modules', script), ...args], frugal)
    keepChecked(name)
  })
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
  return isGood
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
  const chosen = projects.flatMap((project) => ['--project', project])
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
  if (totals.failed > 0)
    console.log(`\nProperties ran with the seed ${seed}, of this commit; TEST_SEED=${seed} repeats them.`)
  console.log(`\nin ${Math.round((Date.now() - startedAt) / 1000)} s`)
  const left = skipped.reduce((sum, { count }) => sum + count, 0)
  const why = skipped.map(({ count, reason }) => `${count} because ${reason}`).join('; ')
  console.log(`${totals.passed} passed, ${totals.failed} failed${left === 0 ? '' : `, ${left} skipped: ${why}`}`)
}
